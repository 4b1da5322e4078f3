package dev.quipu.server.http.route;

import dev.quipu.QuipuException;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.time.Clock;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Serves health, metrics and documentation for operators and tools. */
public record OperationRoutes(
    Services services, Metrics metrics, Supplier<Optional<String>> impediment, Clock clock) {
  private static final Map<String, String> PROBLEMS =
      Map.ofEntries(
          Map.entry(
              "bad-request", "The request is invalid; the detail states the field and the limit."),
          Map.entry("tls-required", "The port accepts HTTPS only; nothing was applied."),
          Map.entry("not-found", "The route does not exist, or the counter was never written."),
          Map.entry("method", "The route does not support this method."),
          Map.entry("media-type", "The body must be JSON, or NDJSON for bulk requests."),
          Map.entry("too-large", "The body, the request line or the header is too long."),
          Map.entry("forbidden", "The Host or Origin header does not name this server."),
          Map.entry("unauthorized", "The bearer token is missing or wrong."),
          Map.entry(
              "entity-mismatch",
              "The entity to insert exists, or the one to update or delete does not; nothing"
                  + " changed."),
          Map.entry("bound-reached", "The add would leave the bounds; nothing changed."),
          Map.entry(
              "held-elsewhere",
              "Regions that do not respond hold the amount; nothing changed. Retry later."),
          Map.entry(
              "scale-fixed",
              "The counter has another scale, and a value or request ids; nothing changed."),
          Map.entry(
              "value-mismatch", "The value of the counter differs from ifValue; nothing changed."),
          Map.entry("overflow", "The value would not fit into 64 bits; nothing changed."),
          Map.entry("request-canceled", "The request was canceled: it is never applied."),
          Map.entry("request-id-reused", "The id was used for a different request."),
          Map.entry("hold-not-found", "The hold was never placed, or is no longer remembered."),
          Map.entry(
              "hold-closed",
              "The hold was settled, was released or has expired; nothing changed. See state."),
          Map.entry(
              "hold-exceeded",
              "The settlement exceeds what the hold reserved, which its policy rejects; nothing"
                  + " changed."),
          Map.entry(
              "holds-open",
              "The counter has open holds, and is not deleted until they have ended."),
          Map.entry(
              "outcome-unknown",
              "The outcome is unknown. Retry with the same id: the add counts exactly once."),
          Map.entry(
              "store-full",
              "The disk or the memory for counters is full. Not applied; reads still work."),
          Map.entry(
              "store-unavailable",
              "The store does not respond, or rejects the call; see the detail. Not applied."),
          Map.entry(
              "store-damaged",
              "Stored data is corrupt, or was written by other software. For the engine, run: quipu"
                  + " check"),
          Map.entry("throttled", "The store limits the request rate. Not applied; retry later."),
          Map.entry("content-coding", "Content-Encoding is not supported. Not applied."),
          Map.entry("transfer-coding", "Transfer-Encoding is not supported. Not applied."),
          Map.entry("expectation", "Expect is other than 100-continue. Not applied."),
          Map.entry("unsupported", "The technique or the store does not support this."),
          Map.entry(
              "memory-full",
              "All clients together hold too much memory. Not applied; retry later."),
          Map.entry("overloaded", "Too many requests are in progress. Not applied; retry later."),
          Map.entry("internal", "The handler failed; the server log has the error id."));

  /** Memory for the text of all metrics: about 60 KiB, twice. */
  private static final int METRICS_BYTES = 256 << 10;

  /** GET /livez: reports that the process responds. */
  HttpReply live(Exchange exchange) {
    return state(200, "text/plain; charset=utf-8", "ok\n");
  }

  /** GET /readyz: reports whether the store and all event loops respond. */
  HttpReply ready(Exchange exchange) {
    exchange.allowParameters(Set.of("verbose"));
    long start = clock.nanoTime();
    Optional<String> obstacle = obstacle();
    double millis = (clock.nanoTime() - start) / 1e6;
    String text =
        exchange.parameter("verbose").isPresent()
            ? String.format(
                Locale.ROOT,
                "store %s: %s (%.1f ms)%ndurability: %s%n",
                services.storeName(),
                obstacle.orElse("ok"),
                millis,
                services.durability().get())
            : obstacle.map(why -> "not ready: " + why + "\n").orElse("ok\n");
    return state(obstacle.isEmpty() ? 200 : 503, "text/plain; charset=utf-8", text);
  }

  /** Returns why the server is not ready. */
  private Optional<String> obstacle() {
    Optional<String> known = impediment.get();
    if (known.isPresent()) { // such as a disk that does not answer: a read might wait for it too
      return known;
    }
    try {
      services.quipu().counters().read("readyz");
      return Optional.empty();
    } catch (QuipuException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  /** GET /metrics */
  HttpReply metrics(Exchange exchange) {
    exchange.reserve(METRICS_BYTES);
    String text = metrics.text(obstacle().isEmpty());
    return state(200, "text/plain; version=0.0.4; charset=utf-8", text);
  }

  /** Returns a reply that is never taken from a cache, nor compared with one. */
  private static HttpReply state(int status, String type, String text) {
    return HttpReply.text(status, type, text).with("Cache-Control", "no-store");
  }

  /** GET /openapi.json */
  HttpReply openApi(Exchange exchange) {
    return HttpReply.bytes(200, HttpReply.JSON, Document.OPEN_API);
  }

  /** Returns all problem types. */
  public static Set<String> problems() {
    return PROBLEMS.keySet();
  }

  /** GET /problems/{type} */
  HttpReply problem(Exchange exchange) {
    String text = PROBLEMS.get(exchange.variable());
    if (text == null) {
      throw Problem.notFound("no such problem type");
    }
    return HttpReply.text(200, "text/plain; charset=utf-8", text + "\n");
  }

  /** Read when it is first requested: reading it opens the jar, which would delay each start. */
  private static final class Document {
    static final List<byte[]> OPEN_API = List.of(OpenApi.bytes());
  }
}
