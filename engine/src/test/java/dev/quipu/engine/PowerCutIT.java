package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.testkit.pace.Soak;
import dev.quipu.testservers.LoopDisk;
import dev.quipu.time.Randomness;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Disks that lose all unsynced writes, under load. */
final class PowerCutIT {
  private static final int CUTS = 6;

  @TempDir Path directory;

  /**
   * Without a sync before the acknowledgement, a power failure loses acknowledged requests; but the
   * rest is consistent: the directory opens, every request was applied at most once, and values are
   * the sums of these requests.
   */
  @ParameterizedTest
  @ValueSource(strings = {"interval", "none"})
  void theRemainingStateIsConsistent(String durability) throws Exception {
    long seed = Long.getLong("seed", 20_261_122L);
    try (LoopDisk disk = LoopDisk.make(directory, 256).orElseGet(PowerCutIT::noDisk)) {
      Path data = disk.path().resolve("data");
      CrashLoop loop = new CrashLoop(data, Randomness.seeded(seed), durability);
      Soak.Rounds cuts = Soak.rounds(CUTS / 2);
      while (cuts.next()) {
        loop.run(worker -> {
          disk.cutPower();
          worker.toHandle().destroyForcibly();
        });
        disk.powerUp();
        loop.check();
      }
      assertTrue(loop.lost() > 0, "nothing was lost: the power cut or this check is ineffective");
    }
  }

  @Test
  void acknowledgedRequestsCountOnceAfterEveryPowerCut() throws Exception {
    long seed = Long.getLong("seed", 20_261_121L);
    long requests = 0;
    Soak.Rounds cuts = Soak.rounds(CUTS);
    try (LoopDisk disk = LoopDisk.make(directory, 256).orElseGet(PowerCutIT::noDisk)) {
      CrashLoop loop = new CrashLoop(disk.path().resolve("data"), Randomness.seeded(seed));
      while (cuts.next()) {
        loop.run(worker -> {
          disk.cutPower();
          worker.toHandle().destroyForcibly();
        });
        disk.powerUp();
        requests = loop.check();
      }
    }
    assertTrue(requests > 10L * cuts.begun(), "too few requests to prove anything: " + requests);
    System.out.printf("PowerCutIT: %d cuts, %d requests, seed %d%n", cuts.begun(), requests, seed);
  }

  private static LoopDisk noDisk() {
    return Assumptions.abort("needs root, loop devices and xfs_io");
  }
}
