package dev.quipu.simulation.advisor;

import dev.quipu.simulation.drill.DrillReport;
import dev.quipu.technique.TechniqueSpec;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Advice for a workload.
 *
 * @param best the recommended technique; empty if none is suitable
 * @param options all techniques, the suitable ones first, cheapest first
 */
public record Advice(Optional<Option> best, List<Option> options) {
  /**
   * One technique under the workload.
   *
   * @param shards number of items that each counter must be divided into, in each region
   * @param against reasons why it is unsuitable; empty if it is suitable
   * @param predicted the result of simulating it; empty if the store cannot run it
   * @param dollarsPerMonth empty for a store without a price per call
   * @param workPerAdd load of an add and its share of the reads on the store, in write units: the
   *     measure where no price is known
   * @param java Java code that opens it
   * @param serve how it is served in several regions; empty for one region
   */
  public record Option(
      TechniqueSpec spec,
      int shards,
      List<String> against,
      Optional<DrillReport> predicted,
      OptionalDouble dollarsPerMonth,
      double workPerAdd,
      String java,
      String serve) {
    /** Returns whether the technique is suitable. */
    public boolean isFit() {
      return against.isEmpty();
    }
  }
}
