package dev.quipu.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.drill.Drill;
import dev.quipu.simulation.drill.DrillOptions;
import dev.quipu.simulation.drill.DrillReport;
import dev.quipu.simulation.drill.LinePlot;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.Optimistic;
import dev.quipu.technique.TechniqueSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * Contention of many writers on one counter: the statements of the page hold for the run, and the
 * page is compared; {@code -Dquipu.docs.write=true} writes it.
 */
final class ContentionPageTest {
  private static final Path DOCS = Path.of("../docs/reference");
  private static final List<Integer> WRITERS = List.of(2, 8, 32, 128);
  private static final List<TechniqueSpec> TECHNIQUES =
      List.of(AtomicAdd.SPEC, Optimistic.SPEC, Optimistic.WITH_HISTORY);
  private static final Duration LATENCY = Duration.ofMillis(2);
  private static final int ADDS = 2_000;
  private static final int ROUND_TRIPS_OF_AN_ATTEMPT = 2; // a read and a write
  private static final String HEAD =
      """
      # Many writers on one counter

      Attempts per successful add, and adds per second of all writers together: 2,000 adds in
      virtual time, on a store with a latency of 2 ms per call. An optimistic attempt is a read
      and a write, and fails if another writer wrote in between. Failed attempts are retried after
      a randomized, growing pause, so that one always succeeds: more writers waste more work, but
      the adds per second do not collapse. Atomic add never fails.

      A busy store also pays for the wasted work. Measured on DynamoDB Local on two cores
      (ContentionTest): `optimistic` by 2, 8, 32 and 128 writers made 1.6, 3.1, 6.6 and 18.1
      attempts per add, and 637, 535, 260 and 135 adds per second.

      ![Attempts per add, by writers](contention.svg)

      Made by a test (ContentionPageTest), which compares it. On a store of your own:
      `./quipu verify --technique optimistic --clients 128 --rate 0 --store URI`.

      """;

  /** The results for one number of writers. */
  private record Outcome(int writers, double attempts, double addsPerSecond, double p99Millis) {}

  @Test
  void thePageStatesTheMeasuredContention() throws IOException {
    StringBuilder page = new StringBuilder(HEAD);
    page.append("| technique | writers | attempts per add | adds per second | p99, ms |\n");
    page.append("|---|---|---|---|---|\n");
    List<List<Double>> lines = new ArrayList<>();
    for (TechniqueSpec spec : TECHNIQUES) {
      List<Outcome> outcomes = run(spec, Simulation.Factory.of(spec));
      if (spec.equals(AtomicAdd.SPEC)) {
        neverFails(outcomes);
      } else {
        doesNotBreakDown(outcomes);
      }
      for (Outcome outcome : outcomes) {
        page.append(
            String.format(
                Locale.ROOT,
                "| `%s` | %d | %.1f | %.0f | %.0f |%n",
                spec.name(),
                outcome.writers,
                outcome.attempts,
                outcome.addsPerSecond,
                outcome.p99Millis));
      }
      lines.add(outcomes.stream().map(Outcome::attempts).toList());
    }
    same("contention.md", page.toString());
    List<String> names = TECHNIQUES.stream().map(TechniqueSpec::name).toList();
    List<String> places = WRITERS.stream().map(each -> each + " writers").toList();
    same("contention.svg", LinePlot.svg(names, places, lines));
  }

  /** The statement about atomic add: no attempt fails, and all writers add concurrently. */
  private static void neverFails(List<Outcome> outcomes) {
    for (Outcome each : outcomes) {
      // One call per add, and one per writer to list the counter.
      double calls = 1 + each.writers / (double) ADDS;
      assertEquals(calls, each.attempts, 0.01, outcomes::toString);
    }
    for (int i = 1; i < outcomes.size(); i++) {
      double gain = outcomes.get(i).addsPerSecond / outcomes.get(i - 1).addsPerSecond;
      assertTrue(gain > 3, outcomes::toString); // four times the writers
    }
  }

  /**
   * The statement about the others: more attempts with more writers, and no fewer adds per second.
   */
  private static void doesNotBreakDown(List<Outcome> outcomes) {
    for (int i = 1; i < outcomes.size(); i++) {
      double attempts = outcomes.get(i).attempts / outcomes.get(i - 1).attempts;
      assertTrue(attempts > 1 && attempts < 2.4, outcomes::toString); // 2.5 without waiting
      double gain = outcomes.get(i).addsPerSecond / outcomes.get(i - 1).addsPerSecond;
      assertTrue(gain > 1, outcomes::toString);
    }
  }

  @Test
  void writersThatDoNotWaitAreDetected() {
    List<Outcome> outcomes =
        run(Optimistic.SPEC, (store, random) -> new Optimistic(store, new Hasty(random)));
    assertThrows(AssertionError.class, () -> doesNotBreakDown(outcomes));
  }

  @Test
  void anAtomicAddThatReadsFirstIsDetected() {
    List<Outcome> outcomes = run(AtomicAdd.SPEC, Simulation.Factory.of(Optimistic.SPEC));
    assertThrows(AssertionError.class, () -> neverFails(outcomes));
  }

  /** Draws tags like the wrapped source, but no pauses. */
  private record Hasty(RandomGenerator random) implements RandomGenerator {
    @Override
    public long nextLong() {
      return random.nextLong();
    }

    @Override
    public long nextLong(long bound) {
      return 0;
    }
  }

  private static List<Outcome> run(TechniqueSpec spec, Simulation.Factory technique) {
    List<Outcome> outcomes = new ArrayList<>();
    for (int writers : WRITERS) {
      DrillOptions options =
          DrillOptions.defaults()
              .byClients(writers)
              .until(Duration.ofHours(1), ADDS)
              .failing(0, List.of())
              .at(LATENCY, LATENCY);
      DrillReport report = Drill.predict(new MemoryDriver(), technique, options);
      assertEquals(ADDS, report.found(), spec.name() + " by " + writers);
      double calls = report.roundTrips() / (double) report.adds();
      outcomes.add(
          new Outcome(
              writers,
              spec.equals(AtomicAdd.SPEC) ? calls : calls / ROUND_TRIPS_OF_AN_ATTEMPT,
              report.addsPerSecond(),
              report.millis(99.0)));
    }
    return outcomes;
  }

  private static void same(String name, String text) throws IOException {
    Path file = DOCS.resolve(name);
    if (Boolean.getBoolean("quipu.docs.write")) {
      Files.writeString(file, text);
    }
    assertEquals(Files.readString(file), text);
  }
}
