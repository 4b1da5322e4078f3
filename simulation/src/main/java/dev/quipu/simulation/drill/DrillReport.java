package dev.quipu.simulation.drill;

import dev.quipu.simulation.driver.Fault;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The result of a drill.
 *
 * @param store the store
 * @param technique the technique
 * @param options the load and faults
 * @param time duration by the clock of the drill
 * @param expected the sum of all adds that were not rejected
 * @param found the sum of the counters at the end
 * @param over the sum of the excess of single counters
 * @param under the sum of the shortfall of single counters
 * @param adds adds that clients began
 * @param attempts calls of clients for these adds
 * @param fullAdds adds that found the counter full
 * @param fired faults that occurred
 * @param unknown calls to the store with an unknown outcome
 * @param unknownLeft adds that ended with an unknown outcome: the caller gave up
 * @param roundTrips calls to the store, repeats included
 * @param readUnits what reads would cost on DynamoDB, in units
 * @param writeUnits what writes would cost on DynamoDB, in units
 * @param meanRead mean latency of a read
 * @param meanWrite mean latency of a write
 * @param percentiles latency of adds in milliseconds, by percentile
 * @param addsEachSecond adds that ended in each second, from the start
 */
public record DrillReport(
    String store,
    String technique,
    DrillOptions options,
    Duration time,
    long expected,
    long found,
    long over,
    long under,
    long adds,
    long attempts,
    long fullAdds,
    Map<Fault, Integer> fired,
    long unknown,
    long unknownLeft,
    long roundTrips,
    long readUnits,
    long writeUnits,
    Duration meanRead,
    Duration meanWrite,
    Map<Double, Double> percentiles,
    List<Long> addsEachSecond) {
  /** The reported percentiles. */
  public static final List<Double> PERCENTILES = List.of(50.0, 90.0, 99.0, 99.9, 100.0);

  /** Copies the collections. */
  public DrillReport {
    fired = Map.copyOf(fired);
    percentiles = Map.copyOf(percentiles);
    addsEachSecond = List.copyOf(addsEachSecond);
  }

  /** Returns whether every counter has the expected value. */
  public boolean isExact() {
    return over == 0 && under == 0;
  }

  /**
   * Returns whether a fault occurred that a technique must handle; otherwise exactness proves
   * nothing.
   */
  public boolean hasUnknowns() {
    return fired.keySet().stream().anyMatch(fault -> fault != Fault.THROTTLED);
  }

  /** Returns the unknown outcomes that the technique or a retry resolved. */
  public long unknownResolved() {
    return unknown - unknownLeft;
  }

  /** Returns the adds per second. */
  public double addsPerSecond() {
    return adds / Math.max(1e-9, time.toNanos() / 1e9);
  }

  /** Returns a count per add. */
  public double eachAdd(long count) {
    return count / (double) Math.max(1, adds);
  }

  /** Returns the drift per add: positive for an excess. */
  public double driftPerAdd() {
    return eachAdd(over - under);
  }

  /** Returns a percentile of the latency of adds, in milliseconds. */
  public double millis(double percentile) {
    return percentiles.getOrDefault(percentile, 0.0);
  }
}
