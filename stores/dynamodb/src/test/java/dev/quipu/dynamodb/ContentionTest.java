package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.simulation.Simulation;
import dev.quipu.simulation.drill.Drill;
import dev.quipu.simulation.drill.DrillOptions;
import dev.quipu.simulation.drill.DrillReport;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.technique.Optimistic;
import dev.quipu.technique.TechniqueSpec;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Under contention on one counter, all optimistic writers make progress. */
final class ContentionTest {
  private static final int ADDS = 128;

  @Test
  void optimisticWritersMakeProgress() {
    try (StoreDriver driver =
        StoreProvider.open(Tables.newUri(Tables.server().endpoint(), Duration.ofSeconds(10)))) {
      for (TechniqueSpec spec : List.of(Optimistic.SPEC, Optimistic.WITH_HISTORY)) {
        for (int writers : List.of(2, 8, 32, 128)) {
          DrillOptions options =
              DrillOptions.defaults()
                  .byClients(writers)
                  .until(Duration.ofHours(1), ADDS)
                  .failing(0, List.of());
          DrillReport report = Drill.measure(driver, Simulation.Factory.of(spec), options);
          System.out.printf(
              "ContentionTest: %s, %d writers: %.1f attempts an add, %.0f adds/s%n",
              spec.name(),
              writers,
              report.roundTrips() / 2.0 / report.adds(),
              report.addsPerSecond());
          assertEquals(ADDS, report.found(), spec.name() + " by " + writers);
        }
      }
    }
  }
}
