package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;

/**
 * Runs a few seeds of the simulation; what {@code ./dev mutate} has changed, it runs as changed.
 */
final class MutantSimulationTest {
  private static final long SEEDS = 50;

  @Test
  void nothingIsLostDoubledOrResurrected() throws ReflectiveOperationException {
    SimLoader loader = new SimLoader(false, null);
    SimRunner.In runner = SimRunner.in(loader);
    String mutated = SimMutants.target();
    assumeTrue(mutated == null || !loader.hasReplacementsIn(mutated), "not as it is");
    for (long seed = 1; seed <= SEEDS; seed++) {
      assertNull(runner.run(seed), "seed " + seed);
    }
  }
}
