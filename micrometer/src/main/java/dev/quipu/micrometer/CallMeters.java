package dev.quipu.micrometer;

import dev.quipu.ItemResult;
import dev.quipu.Quipu;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineStatistics.Adds;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/** The meters of the calls of counters, all of which are registered at once. */
final class CallMeters implements Quipu.Observer {
  private static final String ADDS = "quipu.adds";
  private static final String DESCRIPTION = "Adds by outcome";
  private static final String UNIT = "adds";
  private static final Map<AddOutcome, ToDoubleFunction<Adds>> OF_ENGINE =
      Map.of(
          AddOutcome.APPLIED, Adds::applied,
          AddOutcome.REPLAYED, Adds::replayed,
          AddOutcome.CONFLICT, Adds::conflicts,
          AddOutcome.REJECTED_FLOOR, Adds::belowFloor,
          AddOutcome.REJECTED_CEILING, Adds::aboveCeiling,
          AddOutcome.REJECTED_OVERFLOW, Adds::overflows,
          AddOutcome.REJECTED_CANCELED, Adds::canceled);

  private final Map<AddOutcome, Counter> adds = new EnumMap<>(AddOutcome.class);
  private final Map<Call, Timer> calls = new EnumMap<>(Call.class);

  /**
   * Registers the meters. An engine counts the results of adds itself, of whatever port.
   *
   * @param engine the engine, if it keeps the counters
   */
  CallMeters(MeterRegistry registry, Tags tags, Optional<Engine> engine) {
    Map<AddOutcome, ToDoubleFunction<Adds>> ofEngine = engine.isPresent() ? OF_ENGINE : Map.of();
    ofEngine.forEach((outcome, count) -> {
      ToDoubleFunction<Engine> value = each -> count.applyAsDouble(each.latestStatistics().adds());
      FunctionCounter.builder(ADDS, engine.orElseThrow(), value)
          .description(DESCRIPTION)
          .baseUnit(UNIT)
          .tags(tags.and("outcome", outcome.tag()))
          .register(registry);
    });
    for (AddOutcome outcome : AddOutcome.values()) {
      if (!ofEngine.containsKey(outcome)) {
        adds.put(
            outcome,
            Counter.builder(ADDS)
                .description(DESCRIPTION)
                .baseUnit(UNIT)
                .tags(tags.and("outcome", outcome.tag()))
                .register(registry));
      }
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
    Counter counter = adds.get(AddOutcome.of(result));
    if (counter != null) {
      counter.increment();
    }
  }

  @Override
  public void called(Call call, long nanos) {
    Objects.requireNonNull(calls.get(call)).record(nanos, TimeUnit.NANOSECONDS);
  }
}
