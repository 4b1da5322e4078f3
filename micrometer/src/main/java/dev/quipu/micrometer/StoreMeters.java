package dev.quipu.micrometer;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
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
