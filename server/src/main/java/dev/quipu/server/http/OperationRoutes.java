package dev.quipu.server.http;

import dev.quipu.Quipu;
import dev.quipu.store.StoreException;
import dev.quipu.time.Clock;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;

/** What operators and tools ask. */
final class OperationRoutes {
  private static final Map<String, String> PROBLEMS =
      Map.ofEntries(
          Map.entry("bad-request", "The request breaks a rule; the detail names field and limit."),
          Map.entry("not-found", "There is no such route, or the counter was never written."),
          Map.entry("method", "The route does not know this method."),
          Map.entry("media-type", "The body must be JSON, or NDJSON in bulk."),
          Map.entry("too-large", "The body, the request line or the head is too long."),
          Map.entry("forbidden", "The Host or the Origin is not this server."),
          Map.entry("unauthorized", "The bearer token is missing or wrong."),
          Map.entry("bound-reached", "The add would leave the bounds; nothing was consumed."),
          Map.entry("overflow", "The add would leave 64 bits; nothing changed."),
          Map.entry("request-sealed", "The request was sealed: it never applies."),
          Map.entry("request-id-reused", "The id was used for a request with another body."),
          Map.entry("outcome-unknown", "Repeat with the same id: it counts once."),
          Map.entry("store-full", "The disk has no room. Nothing was counted; reads go on."),
          Map.entry("store-unavailable", "The store does not answer. Nothing was counted."),
          Map.entry("store-damaged", "What is stored is damaged. Run: quipu check"),
          Map.entry("throttled", "The store asks for fewer requests. Nothing was counted."),
          Map.entry("unsupported", "The store or technique cannot do this."),
          Map.entry("internal", "A mistake in the server; its log tells more."));

  private final Quipu quipu;
  private final String storeName;
  private final Metrics metrics;
  private final Clock clock;

  OperationRoutes(Quipu quipu, String storeName, Metrics metrics, Clock clock) {
    this.quipu = quipu;
    this.storeName = storeName;
    this.metrics = metrics;
    this.clock = clock;
  }

  /** GET /livez: the process answers. */
  Answer live(Exchange exchange) {
    return Answer.text(200, "text/plain; charset=utf-8", "ok\n");
  }

  /** GET /readyz: the store answers. */
  Answer ready(Exchange exchange) {
    exchange.allowParameters(Set.of("verbose"));
    long start = clock.nanoTime();
    String verdict;
    try {
      quipu.counters().read("readyz");
      verdict = "ok";
    } catch (StoreException e) {
      verdict = e.reason() + ": " + e.getMessage();
    }
    long micros = (clock.nanoTime() - start) / 1_000;
    boolean ready = verdict.equals("ok");
    String text =
        exchange.parameter("verbose").isPresent()
            ? "store %s: %s (%d us)%n".formatted(storeName, verdict, micros)
            : ready ? "ok\n" : "not ready\n";
    return Answer.text(ready ? 200 : 503, "text/plain; charset=utf-8", text);
  }

  /** GET /metrics */
  Answer metrics(Exchange exchange) {
    return Answer.text(200, "text/plain; version=0.0.4; charset=utf-8", metrics.text());
  }

  /** GET /openapi.json */
  Answer openApi(Exchange exchange) {
    return Answer.text(200, Answer.JSON, new String(OpenApi.bytes(), StandardCharsets.UTF_8));
  }

  /** GET /problems/{type} */
  Answer problem(Exchange exchange) {
    String text = PROBLEMS.get(exchange.variable());
    if (text == null) {
      throw Problem.notFound("no such problem type");
    }
    return Answer.text(200, "text/plain; charset=utf-8", text + "\n");
  }
}
