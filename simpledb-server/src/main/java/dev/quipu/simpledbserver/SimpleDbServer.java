package dev.quipu.simpledbserver;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * An in-memory server on a port of 127.0.0.1: HTTP, POST and GET. Thread-safe.
 *
 * <p>The seed of its options determines which writes have faults, in order of arrival; {@link
 * #fired} and {@link #applied} count them.
 */
public final class SimpleDbServer implements AutoCloseable {
  static {
    // Otherwise the second packet of a reply waits for an acknowledgment: 40 ms.
    System.setProperty("sun.net.httpserver.nodelay", "true");
  }

  private final Actions actions;
  private final Signature signature;
  private final Clock clock;
  private final RandomGenerator random;
  private final HttpServer http;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final LongAdder applied = new LongAdder();
  private final Map<SimpleDbFault, Integer> fired = new EnumMap<>(SimpleDbFault.class);
  private Map<SimpleDbFault, Double> faults = Map.of();

  private SimpleDbServer(SimpleDbOptions options, Clock clock, int port) throws IOException {
    this.clock = clock;
    this.random = Randomness.seeded(options.seed());
    this.actions = new Actions(options, clock, Randomness.seeded(options.seed() + 1));
    this.signature = new Signature(options.accessKey(), options.secretKey());
    this.http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    http.setExecutor(threads);
    http.createContext("/", this::answer);
  }

  /** Starts a server on a free port. */
  public static SimpleDbServer start(SimpleDbOptions options, Clock clock) {
    return start(options, clock, 0);
  }

  /**
   * Starts a server.
   *
   * @param clock of replicas and of the expiry of requests
   * @param port 0 for a free one
   * @throws UncheckedIOException if the port is in use
   */
  public static SimpleDbServer start(SimpleDbOptions options, Clock clock, int port) {
    try {
      SimpleDbServer server = new SimpleDbServer(options, clock, port);
      server.http.start();
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(
          "cannot listen on port %d: %s".formatted(port, e.getMessage()), e);
    }
  }

  /** Returns its endpoint. */
  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + http.getAddress().getPort());
  }

  /**
   * Sets the faults of writes to items from now on.
   *
   * @param probabilities of each fault, 0 to 1, with a sum of at most 1
   */
  public synchronized void use(Map<SimpleDbFault, Double> probabilities) {
    faults = Map.copyOf(probabilities);
  }

  /** Returns the number of occurrences of each fault. */
  public synchronized Map<SimpleDbFault, Integer> fired() {
    return Map.copyOf(fired);
  }

  /** Returns the number of applied writes to items, regardless of the reply. */
  public long applied() {
    return applied.sum();
  }

  private void answer(HttpExchange exchange) throws IOException {
    String requestId = UUID.randomUUID().toString();
    try (exchange) {
      int status = 200;
      byte @Nullable [] body;
      try {
        body = answered(exchange, requestId);
      } catch (SdbException e) {
        status = e.status();
        body = Answer.error(e, requestId);
      }
      if (body == null) {
        return; // closes the connection
      }
      exchange.getResponseHeaders().set("Content-Type", "text/xml");
      exchange.sendResponseHeaders(status, body.length);
      try (OutputStream out = exchange.getResponseBody()) {
        out.write(body);
      }
    }
  }

  /** Returns the reply to a request; null if it is lost. */
  private byte @Nullable [] answered(HttpExchange exchange, String requestId) throws IOException {
    String method = exchange.getRequestMethod();
    String host = Optional.ofNullable(exchange.getRequestHeaders().getFirst("Host")).orElse("");
    Parameters parameters = Parameters.parse(form(exchange, method));
    signature.check(method, host, parameters, clock.epochMillis());
    String action = parameters.get("Action");
    String version = parameters.get("Version");
    if (!version.equals("2009-04-15")) {
      throw SdbException.bad("NoSuchVersion", "The version " + version + " does not exist");
    }
    boolean isWrite = Actions.isWrite(action);
    boolean ofItems = isWrite && !action.endsWith("Domain");
    Optional<SimpleDbFault> fault = ofItems ? draw() : Optional.empty();
    if (fault.equals(Optional.of(SimpleDbFault.UNAVAILABLE))) {
      throw SdbException.unavailable();
    }
    if (fault.equals(Optional.of(SimpleDbFault.ERROR_BEFORE_APPLY))) {
      throw SdbException.internal();
    }
    Answer answer = actions.run(action, parameters);
    if (ofItems) {
      applied.increment();
    }
    if (fault.equals(Optional.of(SimpleDbFault.UNAVAILABLE_AFTER_APPLY))) {
      throw SdbException.unavailable();
    }
    if (fault.equals(Optional.of(SimpleDbFault.ERROR_AFTER_APPLY))) {
      throw SdbException.internal();
    }
    return fault.isPresent() ? null : answer.wrapped(action, isWrite, requestId);
  }

  private static String form(HttpExchange exchange, String method) throws IOException {
    return switch (method) {
      case "GET" -> Optional.ofNullable(exchange.getRequestURI().getRawQuery()).orElse("");
      case "POST" -> {
        try (InputStream in = exchange.getRequestBody()) {
          byte[] body = in.readNBytes(Limits.REQUEST_BYTES_MAX + 1);
          if (body.length > Limits.REQUEST_BYTES_MAX) {
            throw SdbException.bad("RequestTooLarge", "The limit of a request is 1 MB");
          }
          yield new String(body, StandardCharsets.UTF_8);
        }
      }
      default ->
          throw SdbException.bad(
              "UnsupportedHttpVerb", "The HTTP verb is not supported: " + method);
    };
  }

  private synchronized Optional<SimpleDbFault> draw() {
    if (faults.isEmpty()) {
      return Optional.empty();
    }
    double left = random.nextDouble();
    for (SimpleDbFault each : SimpleDbFault.values()) {
      left -= faults.getOrDefault(each, 0.0);
      if (left < 0) {
        fired.merge(each, 1, Integer::sum);
        return Optional.of(each);
      }
    }
    return Optional.empty();
  }

  @Override
  public void close() {
    http.stop(0);
    threads.shutdownNow();
  }
}
