package dev.quipu.server.http.route;

import dev.quipu.Quipu;
import dev.quipu.micrometer.Budgets;
import dev.quipu.micrometer.QuipuMetrics;
import dev.quipu.micrometer.Times;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.net.Connections;
import dev.quipu.server.net.HostProcess;
import dev.quipu.server.net.MemoryBudget;
import dev.quipu.server.net.PortMeter;
import dev.quipu.server.net.Preparation;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.core.instrument.search.Search;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToDoubleFunction;

/** The metrics of the server. No tag is the name of a counter: there may be millions. */
public final class Metrics implements AutoCloseable {
  /** Methods that have a tag of their own; clients can invent any number of others. */
  private static final Set<String> METHODS =
      Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT");

  /** The first status of an error. */
  private static final int BAD_REQUEST = 400;

  /** What the time of a request is measured by. */
  private record Completed(String method, String path, int status) {}

  private final PrometheusMeterRegistry registry = Preparation.newRegistry();
  private final PortMeter http;
  private final Map<Completed, Timer> requests = new ConcurrentHashMap<>();
  private final AtomicBoolean hasProcessMeters = new AtomicBoolean();
  private final JvmGcMetrics collections = new JvmGcMetrics();
  private final AtomicInteger ready = new AtomicInteger();
  private final Today today = new Today(this::applied);

  /**
   * Registers all meters.
   *
   * @param http the meter of the port that serves them
   */
  public Metrics(Quipu quipu, PortMeter http, HostProcess host) {
    this.http = http;
    new QuipuMetrics(quipu).bindTo(registry);
    Gauge.builder("quipu.ready", ready, AtomicInteger::get)
        .description("1 if /readyz returns 200, 0 if not")
        .register(registry);
    Gauge.builder("quipu.today.adds", today, Today::growth)
        .description("Adds applied since midnight UTC, or since the start if that was later")
        .baseUnit("adds")
        .register(registry);
    port("http", http);
    host.ports().forEach(this::port);
    host.meters().forEach(each -> each.bindTo(registry));
    MemoryBudget budget = host.budget();
    Connections idle = budget.connections();
    Budgets.register(
        registry,
        Tags.empty(),
        "requests",
        budget,
        MemoryBudget::usedBytes,
        MemoryBudget::limitBytes);
    Budgets.register(
        registry,
        Tags.empty(),
        "connections",
        idle,
        Connections::usedBytes,
        Connections::limitBytes);
  }

  private double applied() {
    Search adds = registry.find("quipu.adds").tag("outcome", "applied");
    return adds.counters().stream().mapToDouble(Counter::count).sum()
        + adds.functionCounters().stream().mapToDouble(FunctionCounter::count).sum();
  }

  /** Notes the time; called every few seconds. */
  public void tick(long epochMillis) {
    today.tick(epochMillis);
  }

  private void port(String name, PortMeter meter) {
    Tags tags = Tags.of("port", name);
    requests(tags.and("outcome", "success"), meter, PortMeter::successes);
    requests(tags.and("outcome", "error"), meter, PortMeter::errors);
    requests(tags.and("outcome", "unknown"), meter, PortMeter::unknowns);
    Gauge.builder("quipu.port.connections", meter, PortMeter::connections)
        .description("Open connections")
        .baseUnit("connections")
        .tags(tags)
        .register(registry);
    Timer timer =
        Times.timer("quipu.port.latency", "Time from a decoded request, or batch, to its reply")
            .tags(tags)
            .register(registry);
    meter.measure(nanos -> timer.record(nanos, TimeUnit.NANOSECONDS));
  }

  private void requests(Tags tags, PortMeter meter, ToDoubleFunction<PortMeter> value) {
    FunctionCounter.builder("quipu.port.requests", meter, value)
        .description("Answered requests or commands")
        .baseUnit("requests")
        .tags(tags)
        .register(registry);
  }

  /**
   * Counts a completed request.
   *
   * @param path the path of the route, as in the table of routes, or "none"
   */
  public void completed(String sentMethod, String path, HttpReply reply, long nanos) {
    if (reply.isUnknown()) {
      http.unknown(1);
    } else {
      http.answered(1, reply.status() < BAD_REQUEST ? 0 : 1, nanos);
    }
    String method = METHODS.contains(sentMethod) ? sentMethod : "other";
    int status = reply.status();
    requests
        .computeIfAbsent(
            new Completed(method, path, status),
            key ->
                Timer.builder("quipu.http.requests")
                    .description("Completed requests")
                    .tags("method", method, "route", path, "status", Integer.toString(status))
                    .register(registry))
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  /** Returns all metrics in the Prometheus text format. */
  String text(boolean isReady) {
    ready.set(isReady ? 1 : 0);
    if (hasProcessMeters.compareAndSet(false, true)) { // loading them slows a start
      List<MeterBinder> process =
          List.of(
              new JvmMemoryMetrics(),
              collections,
              new JvmThreadMetrics(),
              new ProcessorMetrics(),
              new UptimeMetrics(),
              new FileDescriptorMetrics());
      process.forEach(each -> each.bindTo(registry));
    }
    return registry.scrape();
  }

  @Override
  public void close() {
    collections.close();
    registry.close();
  }
}
