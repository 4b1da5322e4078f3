package dev.quipu.micrometer;

import dev.quipu.ItemResult;
import dev.quipu.Quipu;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** The meters of the calls of counters, all of which are registered at once. */
final class CallMeters implements Quipu.Observer {
  private final Map<AddOutcome, Counter> adds = new EnumMap<>(AddOutcome.class);
  private final Map<Call, Timer> calls = new EnumMap<>(Call.class);

  CallMeters(MeterRegistry registry, Tags tags) {
    for (AddOutcome outcome : AddOutcome.values()) {
      adds.put(
          outcome,
          Counter.builder("quipu.adds")
              .description("Adds by outcome")
              .baseUnit("adds")
              .tags(tags.and("outcome", outcome.tag()))
              .register(registry));
    }
    for (Call call : Call.values()) {
      calls.put(
          call,
          Times.timer("quipu.calls", "Calls of counters")
              .tags(tags.and("call", call.name().toLowerCase(Locale.ROOT)))
              .register(registry));
    }
  }

  @Override
  public void added(ItemResult result) {
    Objects.requireNonNull(adds.get(AddOutcome.of(result))).increment();
  }

  @Override
  public void called(Call call, long nanos) {
    Objects.requireNonNull(calls.get(call)).record(nanos, TimeUnit.NANOSECONDS);
  }
}
