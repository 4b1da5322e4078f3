package dev.quipu.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.simulation.steps.SimProcess;
import dev.quipu.simulation.steps.StepScheduler;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

final class StepSchedulerTest {
  /** A lock held by a killed thread is never released, and other threads wait for it forever. */
  @Test
  void aStuckSimulationEnds() {
    StepScheduler scheduler = new StepScheduler(1);
    ReentrantLock shared = new ReentrantLock();
    SimProcess killed = scheduler.process(Duration.ZERO);
    killed.start(() -> {
      shared.lock();
      killed.kill();
    });
    scheduler.run(100);
    SimProcess waiting = scheduler.process(Duration.ZERO);
    waiting.start(shared::lock);
    watch(scheduler, waiting);
    IllegalStateException stuck =
        assertThrows(IllegalStateException.class, () -> scheduler.run(100));
    assertEquals("time passes but no simulated thread continues", stuck.getMessage());
  }

  private static void watch(StepScheduler scheduler, SimProcess process) {
    scheduler.after(
        Duration.ofSeconds(1),
        () -> {
          assertTrue(process.isRunning());
          watch(scheduler, process);
        });
  }
}
