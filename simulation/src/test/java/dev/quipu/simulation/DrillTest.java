package dev.quipu.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.drill.Drill;
import dev.quipu.simulation.drill.DrillOptions;
import dev.quipu.simulation.drill.DrillReport;
import dev.quipu.simulation.driver.Fault;
import dev.quipu.simulation.time.VirtualTime;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Load and faults in virtual time: the result of each technique. */
final class DrillTest {
  private static final DrillOptions LOAD =
      DrillOptions.defaults()
          .byClients(4)
          .on(4, 0, 0)
          .until(Duration.ofHours(1), 400)
          .at(Duration.ofMillis(2), Duration.ofMillis(2));

  private static DrillReport predict(TechniqueSpec spec, DrillOptions options) {
    return Drill.predict(new MemoryDriver(), Simulation.Factory.of(spec), options);
  }

  @Test
  void withoutFaultsEveryTechniqueIsExact() {
    for (TechniqueSpec spec : Techniques.ALL) {
      DrillReport report = predict(spec, LOAD.failing(0, List.of()));
      assertTrue(report.isExact(), spec.name());
      assertEquals(400, report.found());
      assertEquals(400, report.adds());
      assertTrue(report.millis(50) >= 1.0, spec.name() + " took " + report.percentiles());
      assertTrue(report.roundTrips() >= 400L * spec.perAdd().roundTrips(), spec.name());
    }
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void aTechniqueWithIdsIsExactUnderAllFaults(Fault fault) {
    for (TechniqueSpec spec : Techniques.ALL) {
      if (!spec.remembersIds()) {
        continue;
      }
      DrillReport report = predict(spec, LOAD.failing(0.1, List.of(fault)));
      assertTrue(report.isExact(), spec.name() + " under " + fault + ": " + report);
      assertTrue(
          report.fired().getOrDefault(fault, 0) > 10, spec.name() + " met " + report.fired());
    }
  }

  @Test
  void anAtomicAddDriftsByTheFaults() {
    DrillOptions givesUp = LOAD.failing(0.1, List.of(Fault.LOST_REQUEST)).repeating(false);
    DrillReport under = predict(AtomicAdd.SPEC, givesUp);
    assertEquals(under.unknownLeft(), under.under());
    assertEquals(0, under.over());
    assertTrue(under.under() > 10);
    DrillReport over = predict(AtomicAdd.SPEC, LOAD.failing(0.1, List.of(Fault.LOST_REPLY)));
    assertTrue(over.over() > 10);
    assertEquals(0, over.under());
    assertTrue(over.over() <= over.fired().getOrDefault(Fault.LOST_REPLY, 0));
    DrillReport twice = predict(AtomicAdd.SPEC, LOAD.failing(0.1, List.of(Fault.DUPLICATE)));
    assertTrue(twice.over() > 10);
  }

  @Test
  void theSameSeedIsTheSamePrediction() {
    for (TechniqueSpec spec : Techniques.ALL) {
      assertEquals(predict(spec, LOAD), predict(spec, LOAD));
    }
    assertTrue(
        !predict(AtomicAdd.SPEC, LOAD)
            .fired()
            .equals(predict(AtomicAdd.SPEC, LOAD.from(2)).fired()));
  }

  @Test
  void aRateIsKeptAndAHotCounterIsHot() {
    DrillOptions paced =
        LOAD.failing(0, List.of()).on(10, 0.5, 100).until(Duration.ofSeconds(20), Long.MAX_VALUE);
    DrillReport report = predict(AtomicAdd.SPEC, paced);
    assertTrue(Math.abs(report.adds() - 2_000) <= 20, "adds: " + report.adds());
    assertTrue(Math.abs(report.addsEachSecond().get(10) - 100) <= 10);
  }

  @Test
  void valuesOutsideTheLimitsAreRejected() {
    assertThrows(IllegalArgumentException.class, () -> LOAD.byClients(0));
    assertThrows(IllegalArgumentException.class, () -> LOAD.failing(1.1, List.of(Fault.DELAYED)));
    assertThrows(IllegalArgumentException.class, () -> LOAD.failing(0.1, List.of()));
    assertThrows(IllegalArgumentException.class, () -> LOAD.until(Duration.ZERO, 1));
  }

  @Test
  void virtualTimePassesInOrderAndAtOnce() throws InterruptedException {
    VirtualTime time = new VirtualTime();
    List<String> seen = new ArrayList<>();
    List<Runnable> clients = new ArrayList<>();
    for (int i = 1; i <= 3; i++) {
      int hours = i;
      clients.add(() -> {
        for (int n = 0; n < 2; n++) {
          time.sleep(Duration.ofHours(hours));
          seen.add(hours + " at " + Duration.ofNanos(time.nanoTime()).toHours());
        }
      });
    }
    time.run(clients);
    assertEquals(List.of("1 at 1", "2 at 2", "1 at 2", "3 at 3", "2 at 4", "3 at 6"), seen);
  }
}
