package dev.quipu.micrometer;

import io.micrometer.core.instrument.Timer;
import java.time.Duration;

/** Timers with the same few buckets; a percentile histogram of Micrometer has about 70. */
public final class Times {
  private static final Duration[] BUCKETS = {
    Duration.ofNanos(50_000),
    Duration.ofNanos(100_000),
    Duration.ofNanos(250_000),
    Duration.ofNanos(500_000),
    Duration.ofMillis(1),
    Duration.ofNanos(2_500_000),
    Duration.ofMillis(5),
    Duration.ofMillis(10),
    Duration.ofMillis(25),
    Duration.ofMillis(50),
    Duration.ofMillis(100),
    Duration.ofMillis(250),
    Duration.ofSeconds(1),
    Duration.ofSeconds(10)
  };

  private Times() {}

  /** Returns a builder of a timer with a histogram of 14 buckets, from 50 µs to 10 s. */
  public static Timer.Builder timer(String name, String description) {
    return Timer.builder(name).description(description).serviceLevelObjectives(BUCKETS);
  }
}
