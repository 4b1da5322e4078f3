package dev.quipu.testkit.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.quipu.testkit.pace.Soak;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Guarantees of techniques over faulty links; and that scenarios find planted faults. */
final class ScenariosTest {
  private static final long FIRST = Long.getLong("seed", 1);
  private static final int SEEDS = Soak.seeds(Integer.getInteger("steps.seeds", 80));
  private static final int PLANTED_SEEDS = 10_000;
  private static final Path PAGE = Path.of("../docs/reference/simulation.md");

  static Set<Map.Entry<String, Scenarios.Scenario>> scenarios() {
    return Scenarios.all().entrySet();
  }

  static List<Planted> planted() {
    return PlantedFaults.all();
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  void everySeedKeepsTheGuarantees(Map.Entry<String, Scenarios.Scenario> scenario) {
    Optional<String> wrong =
        LongStream.range(FIRST, FIRST + SEEDS)
            .mapToObj(seed -> Scenarios.problem(scenario.getKey(), scenario.getValue(), seed))
            .flatMap(Optional::stream)
            .findFirst();
    assertEquals(Optional.empty(), wrong);
  }

  /** Begins at the seed that the page names, to be quick. */
  @ParameterizedTest
  @MethodSource("planted")
  @Tag("planted") // not for mutants: it reloads the code
  void aPlantedFaultIsFound(Planted fault) throws Exception {
    String row = "| %s | %s | ".formatted(fault.name(), fault.scenario());
    String line =
        Files.readAllLines(PAGE).stream()
            .filter(each -> each.startsWith(row))
            .findFirst()
            .orElseThrow(() -> new AssertionError(PAGE + " has no row " + row));
    long near = Long.parseLong(line.substring(row.length()).replace(" |", ""));
    assertNotEquals("", fault.find(near, PLANTED_SEEDS), fault.name());
  }
}
