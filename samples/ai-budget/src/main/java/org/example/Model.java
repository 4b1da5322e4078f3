package org.example;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A fake model server. {@code POST /complete/CALL/TOKENS} streams at most that many tokens, one a
 * line, and bills each that it generates, also if the caller does not wait for it. Of ten calls,
 * one fails, one breaks off and one stalls. {@code GET /usage/CALL} returns what it bills.
 */
final class Model implements AutoCloseable {
  /** Price of a token in millionths of a dollar. */
  static final long TOKEN_PRICE = 20;

  private static final int TOKENS_EACH = 50;
  private static final int STALL_CHECKS = 500;
  private static final int PAUSE_MILLIS = 2;

  private final HttpServer server;
  private final boolean isReliable;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Map<String, Call> calls = new ConcurrentHashMap<>();

  /** What is known of a call. */
  private static final class Call {
    private volatile long tokens;
    private volatile boolean hasEnded;
  }

  /**
   * Starts a server on a free port.
   *
   * @param isReliable whether no call fails
   */
  Model(boolean isReliable) throws IOException {
    this.isReliable = isReliable;
    this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/complete/", this::complete);
    server.createContext("/usage/", this::usage);
    server.start();
  }

  URI uri() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  private void complete(HttpExchange exchange) throws IOException {
    String[] path = exchange.getRequestURI().getPath().split("/", -1);
    Call call = new Call();
    if (calls.putIfAbsent(path[2], call) != null) {
      reply(exchange, 409, "this call was made before");
      return;
    }
    try {
      stream(exchange, call, path[2].hashCode(), Integer.parseInt(path[3]));
    } finally {
      call.hasEnded = true;
      exchange.close();
    }
  }

  private void stream(HttpExchange exchange, Call call, int seed, int tokensMax)
      throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    int fate = isReliable ? 9 : random.nextInt(10);
    int tokens = random.nextInt(tokensMax / 3, tokensMax) + 1;
    if (fate == 0) {
      reply(exchange, 500, "overloaded");
      return;
    }
    exchange.sendResponseHeaders(200, 0);
    OutputStream body = exchange.getResponseBody();
    int until = fate <= 2 ? tokens / 2 : tokens;
    while (call.tokens < until) {
      long count = Math.min(TOKENS_EACH, until - call.tokens);
      call.tokens += count;
      body.write("token\n".repeat((int) count).getBytes(StandardCharsets.US_ASCII));
      body.flush();
      pause();
    }
    if (fate == 1) {
      throw new IOException("it breaks off");
    }
    for (int i = 0; fate == 2 && i < STALL_CHECKS; i++) {
      body.write('\n'); // until the caller has left
      body.flush();
      pause();
    }
    body.write("end\n".getBytes(StandardCharsets.US_ASCII));
    body.close();
  }

  private static void pause() {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void usage(HttpExchange exchange) throws IOException {
    Call call = calls.get(exchange.getRequestURI().getPath().split("/", -1)[2]);
    if (call == null) {
      reply(exchange, 404, "no such call");
    } else {
      reply(exchange, 200, call.hasEnded ? Long.toString(call.tokens * TOKEN_PRICE) : "running");
    }
  }

  private static void reply(HttpExchange exchange, int status, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  /** Returns what it bills for all calls so far, in millionths of a dollar. */
  long invoice() {
    return calls.values().stream().mapToLong(call -> call.tokens * TOKEN_PRICE).sum();
  }

  /** Returns the number of calls. */
  long callCount() {
    return calls.size();
  }

  /** Returns whether calls are running. */
  boolean isBusy() {
    return !calls.values().stream().allMatch(call -> call.hasEnded);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
