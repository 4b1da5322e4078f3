package dev.quipu.server.webhook;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Executors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Receives what webhooks are sent, over HTTP, and fails a part of it: before it takes a message,
 * and after. It verifies signatures, and forgets what it has seen before, by the id.
 */
public final class Receiver implements AutoCloseable {
  public static final String SECRET = "whsec_" + "c2VjcmV0IG9mIHRoZSB0ZXN0cywgMzIgYnl0ZXMuLi4=";
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  /** Messages whose members are kept. */
  private static final int KEPT = 1_000;

  private final HttpServer server;
  private final Random random; // guarded by this
  private final Set<String> ids = new HashSet<>(); // guarded by this
  private final Map<String, List<JsonNode>> byCounter = new HashMap<>(); // guarded by this
  private final Map<String, List<Long>> reached = new HashMap<>(); // guarded by this
  private final List<String> errors = new ArrayList<>(); // guarded by this
  private int requests; // guarded by this
  private int taken; // guarded by this

  /** Of how many requests one fails; 0 for none. */
  private volatile int failOneOf;

  private volatile boolean isDown;

  /**
   * Begins to receive.
   *
   * @param seed decides which requests fail
   */
  public Receiver(long seed) throws IOException {
    this.random = new Random(seed);
    this.server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_000);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::receive);
    server.start();
  }

  /** Returns its host and port. */
  public String host() {
    return "localhost:" + server.getAddress().getPort();
  }

  /** Returns the address of the webhook. */
  public URI address() {
    return URI.create("http://" + host() + "/hook?a=b");
  }

  /** Lets one of this number of requests fail from now on; none if 0. */
  public void failOneOf(int count) {
    failOneOf = count;
  }

  /** Lets all requests fail, or not. */
  public void down(boolean isNow) {
    isDown = isNow;
  }

  private void receive(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    int how;
    synchronized (this) {
      requests++;
      how = failOneOf > 0 && random.nextInt(failOneOf) == 0 ? 1 + random.nextInt(4) : 0;
    }
    if (isDown || how == 1) {
      respond(exchange, 503);
      return;
    }
    if (how == 2) {
      exchange.close(); // before it was taken
      return;
    }
    take(exchange, body);
    if (how == 3) {
      exchange.close(); // after it was taken
      return;
    }
    respond(exchange, how == 4 ? 500 : 204);
  }

  private static void respond(HttpExchange exchange, int status) throws IOException {
    exchange.sendResponseHeaders(status, -1);
    exchange.close();
  }

  private synchronized void take(HttpExchange exchange, byte[] body) {
    String id = exchange.getRequestHeaders().getFirst("webhook-id");
    String signature = exchange.getRequestHeaders().getFirst("webhook-signature");
    String time = exchange.getRequestHeaders().getFirst("webhook-timestamp");
    if (!expected(id, time, body).equals(signature)) {
      errors.add("wrong signature of " + id);
    }
    if (ids.add(id)) {
      taken++;
      JsonNode data = MAPPER.readTree(body).path("data");
      String counter = data.path("counter").asString();
      reached
          .computeIfAbsent(counter, key -> new ArrayList<>())
          .add(Long.parseLong(data.path("after").asString()));
      if (taken < KEPT) {
        byCounter.computeIfAbsent(counter, key -> new ArrayList<>()).add(data);
      }
    }
  }

  private static String expected(String id, String time, byte[] body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      byte[] key = Base64.getDecoder().decode(SECRET.substring("whsec_".length()));
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.update((id + "." + time + ".").getBytes(StandardCharsets.UTF_8));
      return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns the number of different messages. */
  public synchronized int taken() {
    return taken;
  }

  /** Returns the number of requests. */
  public synchronized int requests() {
    return requests;
  }

  /** Returns what was wrong with messages. */
  public synchronized List<String> errors() {
    return List.copyOf(errors);
  }

  /** Returns the values that a counter had reached, in the order of their first arrivals. */
  public synchronized List<Long> reached(String counter) {
    return List.copyOf(reached.getOrDefault(counter, List.of()));
  }

  /** Returns a member of the first messages of a counter. */
  synchronized List<String> values(String counter, String member) {
    return byCounter.getOrDefault(counter, List.of()).stream()
        .map(each -> each.path(member).asString())
        .toList();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
