package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.LoopDisk;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A full disk. */
final class FullDiskIT {
  @TempDir Path directory;

  @Test
  void aFullDiskRejectsAddsServesReadsAndRecoversWhenSpaceIsFreed() throws Exception {
    try (LoopDisk disk = LoopDisk.make(directory, 64).orElseGet(FullDiskIT::noDisk)) {
      Path data = disk.path().resolve("data");
      Path ballast = disk.path().resolve("ballast");
      long acknowledged = 0;
      try (Engine engine = Engine.open(data, CrashWorker.OPTIONS)) {
        engine.add(new Add("a", 1, RequestId.of("first")));
        fill(ballast);
        QuipuException rejection = null;
        for (int i = 0; rejection == null; i++) {
          try {
            assertInstanceOf(
                AddResult.Applied.class, engine.add(new Add("a", 1, RequestId.of("id-" + i))));
            acknowledged++;
          } catch (QuipuException e) {
            rejection = e;
          }
        }
        assertEquals(Reason.FULL, rejection.reason());
        assertEquals(Outcome.NOT_APPLIED, rejection.outcome());
        assertTrue(rejection.getMessage().contains("disk full"), rejection.getMessage());
        assertEquals(acknowledged + 1, engine.read("a").orElseThrow().value());
        assertInstanceOf(
            AddResult.Replayed.class, engine.add(new Add("a", 1, RequestId.of("first"))));
        assertThrows(QuipuException.class, () -> engine.add(new Add("a", 1, null)));

        Files.delete(ballast);
        addWhenThereIsRoom(engine, "after");
        assertEquals(acknowledged + 2, engine.read("a").orElseThrow().value());
      }
      try (Engine engine = Engine.open(data, CrashWorker.OPTIONS)) {
        assertEquals(acknowledged + 2, engine.read("a").orElseThrow().value());
        assertInstanceOf(
            AddResult.Replayed.class, engine.add(new Add("a", 1, RequestId.of("after"))));
      }
    }
  }

  /** The engine detects free space by itself, shortly after it is available. */
  private static void addWhenThereIsRoom(Engine engine, String id) throws Exception {
    Progress.await(
        "room",
        () -> {
          try {
            engine.add(new Add("a", 1, RequestId.of(id)));
            return true;
          } catch (QuipuException e) {
            assertEquals(Reason.FULL, e.reason());
            return false;
          }
        });
  }

  private static void fill(Path ballast) throws IOException {
    byte[] block = new byte[4_096];
    try (OutputStream out = Files.newOutputStream(ballast)) {
      while (true) {
        out.write(block);
      }
    } catch (IOException full) {
      assertTrue(String.valueOf(full.getMessage()).contains("No space"), full.getMessage());
    }
  }

  private static LoopDisk noDisk() {
    return Assumptions.abort("needs root, loop devices and xfs_io");
  }
}
