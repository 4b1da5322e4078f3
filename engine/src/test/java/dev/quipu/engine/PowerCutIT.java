package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.time.Randomness;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Disks that lose all that was not synced, under load. */
final class PowerCutIT {
  private static final int CUTS = 25;

  @TempDir Path directory;

  @Test
  void whatWasAcknowledgedIsThereOnceAfterEveryPowerCut() throws Exception {
    long seed = Long.getLong("seed", 20_261_121L);
    long requests = 0;
    try (LoopDisk disk = LoopDisk.make(directory, 256)) {
      CrashLoop loop = new CrashLoop(disk.path().resolve("data"), Randomness.seeded(seed));
      for (int i = 0; i < CUTS; i++) {
        loop.run(worker -> {
          disk.cutPower();
          worker.toHandle().destroyForcibly();
        });
        disk.powerUp();
        requests = loop.check();
      }
    }
    assertTrue(requests > 10L * CUTS, "too little was counted to prove anything: " + requests);
    System.out.printf("PowerCutIT: %d cuts, %d requests, seed %d%n", CUTS, requests, seed);
  }
}
