package dev.quipu.server.webhook;

import java.time.Duration;

/**
 * How long to wait after failures.
 *
 * @param first after the first failure; twice as long after each further one
 * @param most the longest time
 */
public record Backoff(Duration first, Duration most) {
  /** From a tenth of a second to five minutes. */
  public static final Backoff DEFAULT = new Backoff(Duration.ofMillis(100), Duration.ofMinutes(5));

  private static final int DOUBLINGS_MAX = 30;

  /**
   * Returns the time after a number of failures in a row.
   *
   * @param chance from 0 to 1: up to half of the time is left out, so that servers spread
   */
  Duration after(int failures, double chance) {
    long doubled = first.toMillis() << Math.min(failures - 1, DOUBLINGS_MAX);
    long millis = Math.min(doubled, most.toMillis());
    return Duration.ofMillis(millis - (long) (millis / 2.0 * chance));
  }
}
