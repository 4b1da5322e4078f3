package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.time.Randomness;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes that die by kill -9 under load. */
final class KillIT {
  private static final int KILLS = 60;

  @TempDir Path directory;

  /** What was answered is with the operating system, on the disk or not. */
  @Test
  void aKillLosesNothingThatWasNotSynced() throws Exception {
    long seed = Long.getLong("seed", 20_261_122L);
    CrashLoop loop = new CrashLoop(directory.resolve("data"), Randomness.seeded(seed), "none");
    for (int i = 0; i < KILLS / 4; i++) {
      loop.run(worker -> worker.toHandle().destroyForcibly());
      loop.check();
    }
    assertEquals(0, loop.lost());
  }

  @Test
  void whatWasAcknowledgedIsThereOnceAfterEveryKill() throws Exception {
    long seed = Long.getLong("seed", 20_261_121L);
    CrashLoop loop = new CrashLoop(directory.resolve("data"), Randomness.seeded(seed));
    long requests = 0;
    for (int i = 0; i < KILLS; i++) {
      loop.run(worker -> worker.toHandle().destroyForcibly());
      requests = loop.check();
    }
    assertTrue(requests > 10L * KILLS, "too little was counted to prove anything: " + requests);
    System.out.printf("KillIT: %d kills, %d requests, seed %d%n", KILLS, requests, seed);
  }
}
