package dev.quipu.server.http.route;

import dev.quipu.AddResult;
import dev.quipu.Rejection;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The metrics of the server. No tag is the name of a counter: there may be millions. */
public final class Metrics {
  /** Methods that have a tag of their own; clients can invent any number of others. */
  private static final Set<String> METHODS =
      Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT");

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final AtomicInteger connections = new AtomicInteger();
  private final Map<String, Timer> requests = new ConcurrentHashMap<>();
  private final Map<String, Counter> adds = new ConcurrentHashMap<>();

  public Metrics() {
    Gauge.builder("quipu.http.connections", connections, AtomicInteger::get)
        .description("open connections")
        .register(registry);
  }

  /** Returns the number of open connections. */
  public AtomicInteger connections() {
    return connections;
  }

  /**
   * Counts a completed request.
   *
   * @param path the path of the route, as in the table of routes, or "none"
   */
  public void completed(String sentMethod, String path, int status, long nanos) {
    String method = METHODS.contains(sentMethod) ? sentMethod : "other";
    requests
        .computeIfAbsent(
            method + " " + path + " " + status,
            key ->
                Timer.builder("quipu.http.requests")
                    .description("completed requests")
                    .tags("method", method, "route", path, "status", Integer.toString(status))
                    .register(registry))
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  /** Counts the result of an add. */
  void added(AddResult result) {
    String kind =
        switch (result) {
          case AddResult.Applied applied -> "applied";
          case AddResult.Replayed replayed -> "replayed";
          case AddResult.Conflict conflict -> "conflict";
          case AddResult.Rejected rejected -> rejected(rejected.why());
        };
    adds.computeIfAbsent(
            kind,
            key ->
                Counter.builder("quipu.adds")
                    .description("results of adds")
                    .tag("result", kind)
                    .register(registry))
        .increment();
  }

  private static String rejected(Rejection why) {
    return "rejected_" + why.name().toLowerCase(Locale.ROOT);
  }

  /** Returns all metrics in the Prometheus text format. */
  String text() {
    return registry.scrape();
  }
}
