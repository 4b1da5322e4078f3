package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

/** Runs a few seeds of the simulation with the mutated classes of {@code ./dev mutate}. */
final class MutantSimulationTest {
  private static final long SEEDS = 200;

  @Test
  void nothingIsLostDuplicatedOrResurrected() throws ReflectiveOperationException {
    SimRunner.In runner = SimRunner.in(new SimLoader(false, null));
    for (long seed = 1; seed <= SEEDS; seed++) {
      assertNull(runner.run(seed), "seed " + seed);
    }
  }
}
