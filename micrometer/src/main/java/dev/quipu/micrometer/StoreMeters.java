package dev.quipu.micrometer;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.store.StoreDriver.Measure;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** The meters of the calls to a store, all of which are registered at once. */
final class StoreMeters implements Store.Observer {
  private final Map<Result, Timer> reads;
  private final Map<Result, Timer> writes;

  StoreMeters(Store store, MeterRegistry registry, Tags tags) {
    this.reads = timers(registry, tags.and("operation", "read"));
    this.writes = timers(registry, tags.and("operation", "write"));
    FunctionCounter.builder("quipu.retries", store, each -> each.statistics().retries())
        .description("Further attempts after a failure, an unknown outcome or contention")
        .baseUnit("retries")
        .tags(tags)
        .register(registry);
    for (Measure each : store.measures().keySet()) {
      bind(each, store, registry, tags);
    }
  }

  /** Registers the meter of a measurement, which only some drivers have. */
  private static void bind(Measure measure, Store store, MeterRegistry registry, Tags tags) {
    ToDoubleFunction<Store> value = each -> each.measures().getOrDefault(measure, 0L);
    switch (measure) {
      case CONNECTIONS_IN_USE ->
          connections(store, value, tags.and("state", "in_use")).register(registry);
      case CONNECTIONS_IDLE ->
          connections(store, value, tags.and("state", "idle")).register(registry);
      case CONNECTIONS_MAX ->
          Gauge.builder("quipu.store.connections.max", store, value)
              .description("Maximum number of connections to the store")
              .tags(tags)
              .register(registry);
      case CALLS_WAITING ->
          Gauge.builder("quipu.store.waiting", store, value)
              .description("Calls that wait for a connection to the store")
              .tags(tags)
              .register(registry);
      case FOLDED_ADDS ->
          FunctionCounter.builder("quipu.store.folded.adds", store, value)
              .description("Adds that were written in groups")
              .baseUnit("adds")
              .tags(tags)
              .register(registry);
      case FOLDED_WRITES ->
          FunctionCounter.builder("quipu.store.folded.writes", store, value)
              .description("Writes of groups of adds")
              .baseUnit("writes")
              .tags(tags)
              .register(registry);
    }
  }

  private static Gauge.Builder<Store> connections(
      Store store, ToDoubleFunction<Store> value, Tags tags) {
    return Gauge.builder("quipu.store.connections", store, value)
        .description("Connections to the store by state")
        .baseUnit("connections")
        .tags(tags);
  }

  private static Map<Result, Timer> timers(MeterRegistry registry, Tags tags) {
    Map<Result, Timer> timers = new EnumMap<>(Result.class);
    for (Result result : Result.values()) {
      timers.put(
          result,
          Times.timer("quipu.store.calls", "Calls to the store by outcome")
              .tags(tags.and("outcome", result.name().toLowerCase(Locale.ROOT)))
              .register(registry));
    }
    return timers;
  }

  @Override
  public void called(boolean isWrite, @Nullable QuipuException failure, long nanos) {
    Objects.requireNonNull((isWrite ? writes : reads).get(Result.of(failure)))
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  /** The outcome of a call to the store, as the values of a tag. */
  private enum Result {
    SUCCESS,
    THROTTLED,
    NOT_APPLIED,
    UNKNOWN;

    static Result of(@Nullable QuipuException failure) {
      if (failure == null) {
        return SUCCESS;
      }
      if (failure.outcome() == Outcome.UNKNOWN) {
        return UNKNOWN;
      }
      return failure.reason() == Reason.THROTTLED ? THROTTLED : NOT_APPLIED;
    }
  }
}
