package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.testkit.pace.Soak;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The engine in simulation: see docs/reference/simulation.md. */
final class SimulationTest {
  private static final long SEEDS = Long.getLong("simulation.seeds", Soak.size(600, 2_000));

  private static final Path PAGE = Path.of("../docs/reference/simulation.md");

  /** Enough seeds to find each of the planted bugs. */
  private static final long SEEDS_PLANTED = 40_000;

  @Test
  void nothingIsLostDuplicatedOrResurrected() throws ReflectiveOperationException {
    SimRunner.In runner = SimRunner.in(new SimLoader(true, null));
    for (long seed = 1; seed <= SEEDS; seed++) {
      assertNull(runner.run(seed), "seed " + seed + "; replay: ./dev simulate --seed " + seed);
    }
  }

  @Test
  void theSameSeedIsTheSameRun() throws ReflectiveOperationException {
    SimRunner.In one = SimRunner.in(new SimLoader(true, null));
    SimRunner.In two = SimRunner.in(new SimLoader(true, null));
    for (long seed = 1; seed <= 30; seed++) {
      assertEquals(one.run(seed), two.run(seed));
      assertEquals(one.report(), two.report(), "seed " + seed);
    }
  }

  /** Begins at the seeds that the page names, to be quick. */
  @Test
  void plantedBugsAreFound() throws ReflectiveOperationException, IOException {
    String page = Files.readString(PAGE);
    List<String> missed = new ArrayList<>();
    SimRunner.In sound = SimRunner.in(new SimLoader(true, null));
    for (Map.Entry<String, SimLoader.SimMutation> each : SimMutations.all().entrySet()) {
      SimRunner.In runner = SimRunner.in(new SimLoader(true, each.getValue()));
      boolean isFound = false;
      long first = seedOf(each.getKey(), page);
      for (long seed = first; seed < first + SEEDS_PLANTED && !isFound; seed++) {
        isFound = runner.run(seed) != null && sound.run(seed) == null;
      }
      if (!isFound) {
        missed.add(each.getKey());
      }
    }
    assertEquals(List.of(), missed);
  }

  private static long seedOf(String bug, String page) {
    String start = "\n| %s | ".formatted(bug);
    int at = page.indexOf(start);
    assertTrue(at >= 0, PAGE + " has no row " + bug);
    return Long.parseLong(
        page.substring(at + start.length(), page.indexOf(" |", at + start.length())));
  }

  /** Of the points where an Error may be thrown, a check tries one of this number; a soak all. */
  private static final int SITE_STEP = Soak.size(4, 1);

  /** An Error at points of the engine that allocate or call the JDK. */
  @Test
  void anErrorAtAnySiteLosesNothing() throws ReflectiveOperationException {
    SimLoader loader = new SimLoader(true, null);
    SimRunner.In runner = SimRunner.in(loader);
    int thrown = 0;
    boolean[] isDone = new boolean[loader.sites().size()];
    for (long seed = 1; seed <= 40; seed++) {
      int[] before = passed(runner, isDone.length);
      assertNull(runner.run(seed, -1), "seed " + seed + " without a fault");
      int[] after = passed(runner, isDone.length);
      for (int site = 0; site < isDone.length; site += SITE_STEP) {
        if (!isDone[site] && after[site] > before[site]) {
          isDone[site] = true;
          thrown++;
          String what = "seed " + seed + ", site " + site + ": " + loader.sites().get(site);
          assertNull(runner.run(seed, site), what);
        }
      }
    }
    System.out.printf(
        "an error was thrown at %d sites of each %dth of %d%n", thrown, SITE_STEP, isDone.length);
    assertTrue(thrown > 1_600 / SITE_STEP, "only " + thrown);
  }

  private static int[] passed(SimRunner.In runner, int sites) {
    int[] passed = new int[sites];
    for (int site = 0; site < sites; site++) {
      passed[site] = runner.passed(site);
    }
    return passed;
  }
}
