package dev.quipu.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/**
 * A gateway in front of a server: it answers the first requests itself, and forwards the others.
 */
final class Gateway implements AutoCloseable {
  private static final String ID = "Idempotency-Key";
  private static final String TYPE = "Content-Type";

  /** A response of the gateway. */
  record Reply(int status, Map<String, String> headers, String body) {}

  private final URI server;
  private final HttpServer gateway;
  private final HttpClient client = HttpClient.newHttpClient();
  private final Queue<Reply> first;
  private final List<String> ids = new ArrayList<>();
  private final List<Long> nanos = new ArrayList<>();

  Gateway(URI server, List<Reply> first) throws IOException {
    this.server = server;
    this.first = new ArrayDeque<>(first);
    this.gateway = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    gateway.createContext("/", this::handle);
    gateway.start();
  }

  String url() {
    return "http://127.0.0.1:" + gateway.getAddress().getPort();
  }

  /** Returns the request ids, in order of arrival. */
  synchronized List<String> ids() {
    return List.copyOf(ids);
  }

  /** Returns when each request arrived. */
  synchronized List<Long> nanos() {
    return List.copyOf(nanos);
  }

  private synchronized void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      ids.add(String.valueOf(exchange.getRequestHeaders().getFirst(ID)));
      nanos.add(System.nanoTime());
      byte[] body = exchange.getRequestBody().readAllBytes();
      Reply scripted = first.poll();
      Reply reply = scripted == null ? forward(exchange, body) : scripted;
      reply.headers.forEach(exchange.getResponseHeaders()::set);
      byte[] bytes = reply.body.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(reply.status, bytes.length == 0 ? -1 : bytes.length);
      try (OutputStream out = exchange.getResponseBody()) {
        out.write(bytes);
      }
    }
  }

  private Reply forward(HttpExchange exchange, byte[] body) throws IOException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(server.resolve(exchange.getRequestURI()))
            .header(TYPE, exchange.getRequestHeaders().getFirst(TYPE))
            .method(exchange.getRequestMethod(), HttpRequest.BodyPublishers.ofByteArray(body));
    String id = exchange.getRequestHeaders().getFirst(ID);
    if (id != null) {
      request.header(ID, id);
    }
    try {
      HttpResponse<String> response =
          client.send(request.build(), HttpResponse.BodyHandlers.ofString());
      String type = response.headers().firstValue(TYPE).orElse("");
      return new Reply(response.statusCode(), Map.of(TYPE, type), response.body());
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @Override
  public void close() {
    gateway.stop(0);
    client.shutdownNow();
  }
}
