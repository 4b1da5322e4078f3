package dev.quipu.simulation.advisor;

import dev.quipu.Bounds;
import java.time.Duration;

/**
 * A counting workload.
 *
 * @param addsPerSecond of all counters together, above 0 to {@link #RATE_MAX}
 * @param keys counters, 1 to {@link #KEYS_MAX}
 * @param hotShare share of the adds that goes to the hottest counter, 0 to 1
 * @param bounds bounds of every counter
 * @param retryWindow how late another process may repeat a request; 0 for never
 * @param readsPerSecond of all counters together, 0 to {@link #RATE_MAX}
 * @param staleness maximum age of a read value
 * @param regions that write, 1 to {@link #REGIONS_MAX}
 * @param addsPerCounter maximum number of adds to one counter over its lifetime; 0 if unknown
 * @param faultRate fraction of calls to the store that fail, 0 to 1
 * @param driftAllowed allowed error of a count per add: 0 for exact
 */
public record Workload(
    double addsPerSecond,
    long keys,
    double hotShare,
    Bounds bounds,
    Duration retryWindow,
    double readsPerSecond,
    Duration staleness,
    int regions,
    long addsPerCounter,
    double faultRate,
    double driftAllowed) {
  /** Highest rate, per second. */
  public static final double RATE_MAX = 1e7;

  /** Maximum number of counters. */
  public static final long KEYS_MAX = 1_000_000_000_000L;

  /** Maximum number of regions. */
  public static final int REGIONS_MAX = 30;

  /**
   * Validates the workload.
   *
   * @throws IllegalArgumentException if a value is out of range, with its name
   */
  public Workload {
    within("rate", addsPerSecond, 1e-6, RATE_MAX);
    within("keys", (double) keys, 1, (double) KEYS_MAX);
    within("hot share", hotShare, 0, 1);
    within("reads", readsPerSecond, 0, RATE_MAX);
    within("regions", regions, 1, REGIONS_MAX);
    within("adds per counter", (double) addsPerCounter, 0, (double) Long.MAX_VALUE);
    within("fault rate", faultRate, 0, 0.5);
    within("drift", driftAllowed, 0, 1);
    if (retryWindow.isNegative() || staleness.isNegative()) {
      throw new IllegalArgumentException("a duration is negative; the minimum is 0");
    }
  }

  private static void within(String name, double value, double least, double most) {
    if (!(value >= least && value <= most)) {
      throw new IllegalArgumentException(
          "%s is %s; it must be from %s to %s".formatted(name, value, least, most));
    }
  }

  /** Returns the adds per second to the hottest counter. */
  public double hottest() {
    return addsPerSecond * Math.max(hotShare, 1.0 / keys);
  }
}
