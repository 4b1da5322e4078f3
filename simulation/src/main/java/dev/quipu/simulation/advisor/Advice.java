package dev.quipu.simulation.advisor;

import dev.quipu.simulation.drill.DrillReport;
import dev.quipu.technique.TechniqueSpec;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * What was found out.
 *
 * @param best the technique to take; empty if none will do
 * @param options all techniques, the fit ones first, from the cheapest
 */
public record Advice(Optional<Option> best, List<Option> options) {
  /**
   * One technique under the load.
   *
   * @param shards into how many items each counter must be divided
   * @param against why it will not do; empty if it will
   * @param predicted what came of running it; empty if the store cannot
   * @param dollarsPerMonth empty for a store that is not paid by the call
   * @param workPerAdd what an add, and its part of the reads, does to the store, in write units:
   *     the measure where no price is known
   * @param java how to open it
   */
  public record Option(
      TechniqueSpec spec,
      int shards,
      List<String> against,
      Optional<DrillReport> predicted,
      OptionalDouble dollarsPerMonth,
      double workPerAdd,
      String java) {
    /** Whether it will do. */
    public boolean isFit() {
      return against.isEmpty();
    }
  }
}
