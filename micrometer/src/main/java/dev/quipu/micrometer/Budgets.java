package dev.quipu.micrometer;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.BaseUnits;
import java.util.function.ToDoubleFunction;

/** Gauges of memory budgets: what rejects calls when it is used up. */
public final class Budgets {
  private Budgets() {}

  /**
   * Registers the gauges of one budget, in bytes.
   *
   * @param budget the value of the tag, one of a fixed set
   * @param source what {@code used} and {@code max} read; weakly referenced
   */
  public static <T> void register(
      MeterRegistry registry,
      Tags tags,
      String budget,
      T source,
      ToDoubleFunction<T> used,
      ToDoubleFunction<T> max) {
    Gauge.builder("quipu.memory.used", source, used)
        .description("Memory of a budget in use")
        .baseUnit(BaseUnits.BYTES)
        .tags(tags.and("budget", budget))
        .register(registry);
    Gauge.builder("quipu.memory.max", source, max)
        .description("Limit of a memory budget; calls that need more are rejected")
        .baseUnit(BaseUnits.BYTES)
        .tags(tags.and("budget", budget))
        .register(registry);
  }
}
