package dev.quipu.micrometer;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

/** Reads meters. */
final class Meters {
  final MeterRegistry registry = new SimpleMeterRegistry();

  /** Returns the value of a counter. */
  long count(String name, String... tags) {
    Meter meter = registry.get(name).tags(tags).meter();
    return switch (meter) {
      case Counter counter -> (long) counter.count();
      case FunctionCounter counter -> (long) counter.count();
      case Timer timer -> timer.count();
      case DistributionSummary summary -> summary.count();
      default -> throw new AssertionError(meter.getId());
    };
  }

  /** Returns the value of a gauge. */
  double gauge(String name, String... tags) {
    return registry.get(name).tags(tags).gauge().value();
  }

  /** Requires that no tag contains a text. */
  void requireNoTag(String text) {
    for (Meter meter : registry.getMeters()) {
      assertFalse(meter.getId().toString().contains(text), meter.getId().toString());
    }
  }
}
