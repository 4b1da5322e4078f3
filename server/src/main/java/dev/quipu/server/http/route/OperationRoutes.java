package dev.quipu.server.http.route;

import dev.quipu.Quipu;
import dev.quipu.QuipuException;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** What operators and tools ask. */
public final class OperationRoutes {
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
          Map.entry(
              "held-elsewhere",
              "Regions that do not answer hold the room; nothing was consumed. Repeat it later."),
          Map.entry("overflow", "The add would leave 64 bits; nothing changed."),
          Map.entry("request-canceled", "The request was canceled: it never applies."),
          Map.entry("request-id-reused", "The id was used for a request with another body."),
          Map.entry("outcome-unknown", "Repeat with the same id: it counts once."),
          Map.entry(
              "store-full",
              "The disk or the memory for counters is full. Nothing was counted; reads go on."),
          Map.entry(
              "store-unavailable",
              "The store does not answer, or rejects the call; the detail says which. Nothing was"
                  + " counted."),
          Map.entry(
              "store-damaged",
              "What is stored is damaged, or other software wrote it. For the engine, run: quipu"
                  + " check"),
          Map.entry("throttled", "The store asks for fewer requests. Nothing was counted."),
          Map.entry("unsupported", "The store or technique cannot do this."),
          Map.entry("memory-full", "All clients together hold too much memory. Not applied."),
          Map.entry("overloaded", "Too many requests are in progress. Not applied; repeat it."),
          Map.entry("internal", "The handler failed; the server log has the error id."));

  /** What the text of all metrics takes while it is made: about 60 KiB, twice. */
  private static final int METRICS_BYTES = 256 << 10;

  private static final List<byte[]> OPEN_API = List.of(OpenApi.bytes());

  private final Quipu quipu;
  private final String storeName;
  private final Metrics metrics;
  private final Supplier<Optional<String>> impediment;
  private final Clock clock;

  OperationRoutes(
      Quipu quipu,
      String storeName,
      Metrics metrics,
      Supplier<Optional<String>> impediment,
      Clock clock) {
    this.quipu = quipu;
    this.storeName = storeName;
    this.metrics = metrics;
    this.impediment = impediment;
    this.clock = clock;
  }

  /** GET /livez: the process answers. */
  HttpReply live(Exchange exchange) {
    return HttpReply.text(200, "text/plain; charset=utf-8", "ok\n");
  }

  /** GET /readyz: the store answers, and all event loops do. */
  HttpReply ready(Exchange exchange) {
    exchange.allowParameters(Set.of("verbose"));
    long start = clock.nanoTime();
    String verdict;
    try {
      quipu.counters().read("readyz");
      verdict = impediment.get().orElse("ok");
    } catch (QuipuException e) {
      verdict = e.reason() + ": " + e.getMessage();
    }
    long micros = (clock.nanoTime() - start) / 1_000;
    boolean ready = verdict.equals("ok");
    String text =
        exchange.parameter("verbose").isPresent()
            ? "store %s: %s (%d us)%n".formatted(storeName, verdict, micros)
            : ready ? "ok\n" : "not ready: " + verdict + "\n";
    return HttpReply.text(ready ? 200 : 503, "text/plain; charset=utf-8", text);
  }

  /** GET /metrics */
  HttpReply metrics(Exchange exchange) {
    exchange.reserve(METRICS_BYTES);
    return HttpReply.text(200, "text/plain; version=0.0.4; charset=utf-8", metrics.text());
  }

  /** GET /openapi.json */
  HttpReply openApi(Exchange exchange) {
    return HttpReply.bytes(200, HttpReply.JSON, OPEN_API);
  }

  /** All types of problems. */
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
}
