package dev.quipu.simulation.advisor;

import dev.quipu.Bounds;
import java.time.Duration;

/**
 * What somebody wants to count.
 *
 * @param addsPerSecond of all counters together, above 0 to {@link #RATE_MAX}
 * @param keys counters, 1 to {@link #KEYS_MAX}
 * @param hotShare share of the adds that goes to the hottest counter, 0 to 1
 * @param bounds what counters must stay within
 * @param retryWindow how late a request may be repeated by another process; 0 for not at all
 * @param readsPerSecond of all counters together, 0 to {@link #RATE_MAX}
 * @param staleness how old what is read may be
 * @param regions that write, 1 to {@link #REGIONS_MAX}
 * @param addsPerCounter most adds that one counter will ever see; 0 if nobody knows
 * @param faultRate how many calls to the store go wrong, 0 to 1
 * @param driftAllowed how far off a count may be, for each add: 0 for exact
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
  /** Highest rate, a second. */
  public static final double RATE_MAX = 1e7;

  /** Most counters. */
  public static final long KEYS_MAX = 1_000_000_000_000L;

  /** Most regions. */
  public static final int REGIONS_MAX = 30;

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the one that is broken
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
      throw new IllegalArgumentException("a time is negative; the least is 0");
    }
  }

  private static void within(String name, double value, double least, double most) {
    if (!(value >= least && value <= most)) {
      throw new IllegalArgumentException(
          "%s is %s, the limits are %s and %s".formatted(name, value, least, most));
    }
  }

  /** Adds a second to the hottest counter. */
  public double hottest() {
    return addsPerSecond * Math.max(hotShare, 1.0 / keys);
  }
}
