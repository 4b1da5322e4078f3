package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.testkit.pace.Soak;
import dev.quipu.time.Randomness;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes killed by kill -9 under load. */
final class KillIT {
  private static final int KILLS = 8;

  @TempDir Path directory;

  /** Acknowledged writes are in the operating system, synced or not. */
  @Test
  void aKillLosesNoUnsyncedWrites() throws Exception {
    long seed = Long.getLong("seed", 20_261_122L);
    CrashLoop loop = new CrashLoop(directory.resolve("data"), Randomness.seeded(seed), "none");
    Soak.Rounds kills = Soak.rounds(KILLS / 2);
    while (kills.next()) {
      loop.run(worker -> worker.toHandle().destroyForcibly());
      loop.check();
    }
    assertEquals(0, loop.lost());
  }

  @Test
  void acknowledgedRequestsCountOnceAfterEveryKill() throws Exception {
    long seed = Long.getLong("seed", 20_261_121L);
    CrashLoop loop = new CrashLoop(directory.resolve("data"), Randomness.seeded(seed));
    long requests = 0;
    Soak.Rounds kills = Soak.rounds(KILLS);
    while (kills.next()) {
      loop.run(worker -> worker.toHandle().destroyForcibly());
      requests = loop.check();
    }
    assertTrue(requests > 10L * kills.begun(), "too few requests to prove anything: " + requests);
    System.out.printf("KillIT: %d kills, %d requests, seed %d%n", kills.begun(), requests, seed);
  }
}
