package dev.quipu.simulation.drill;

import dev.quipu.simulation.driver.Fault;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * What came of a drill.
 *
 * @param store where it counted
 * @param technique how
 * @param options under which load and faults
 * @param time how long it took, by the clock of the drill
 * @param expected what was asked for: the sum of all adds that were not rejected
 * @param found what the counters hold at the end
 * @param over how much single counters hold too much, summed up
 * @param under how much single counters hold too little, summed up
 * @param adds adds that clients began
 * @param attempts calls of clients for them
 * @param fullAdds adds that the technique had no room for
 * @param fired faults that happened
 * @param unknown outcomes of calls to the store that nobody knew
 * @param unknownLeft adds that ended unknown: the caller gave up
 * @param roundTrips calls to the store, repeats included
 * @param readUnits what reads would cost on DynamoDB, in units
 * @param writeUnits what writes would cost on DynamoDB, in units
 * @param meanRead how long a read of the store took, on average
 * @param meanWrite how long a write to the store took, on average
 * @param percentiles how long adds took in milliseconds, by percentile
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
  /** The percentiles that are told. */
  public static final List<Double> PERCENTILES = List.of(50.0, 90.0, 99.0, 99.9, 100.0);

  /** Copies what it is made of. */
  public DrillReport {
    fired = Map.copyOf(fired);
    percentiles = Map.copyOf(percentiles);
    addsEachSecond = List.copyOf(addsEachSecond);
  }

  /** Whether every counter holds what was asked for. */
  public boolean isExact() {
    return over == 0 && under == 0;
  }

  /** Whether anything went wrong that a technique must answer; else exactness proves nothing. */
  public boolean hasUnknowns() {
    return fired.keySet().stream().anyMatch(fault -> fault != Fault.THROTTLED);
  }

  /** Outcomes that nobody knew, and that the technique or a repeat found out. */
  public long unknownResolved() {
    return unknown - unknownLeft;
  }

  /** Adds a second. */
  public double addsPerSecond() {
    return adds / Math.max(1e-9, time.toNanos() / 1e9);
  }

  /** A count, for each add. */
  public double eachAdd(long count) {
    return count / (double) Math.max(1, adds);
  }

  /** The drift for each add: positive for too much. */
  public double driftPerAdd() {
    return eachAdd(over - under);
  }

  /** How long adds took, in milliseconds. */
  public double millis(double percentile) {
    return percentiles.getOrDefault(percentile, 0.0);
  }
}
