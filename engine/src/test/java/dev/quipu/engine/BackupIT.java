package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.engine.backup.Backup;
import dev.quipu.engine.backup.BackupFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Backups of an engine under load, restored at random positions and compared with a ledger. {@code
 * -Dbackup.seconds=600 -Dbackup.millis=1000} runs ten minutes with a backup every second.
 */
final class BackupIT {
  private static final int SECONDS = Integer.getInteger("backup.seconds", 3);
  private static final int MILLIS = Integer.getInteger("backup.millis", 50);
  private static final String FIRST_SEGMENT = "log/0000000000000001.log";
  private static final int RESTORED = 10;
  private static final int FLIPPED = 60;
  private static final EngineOptions OPTIONS =
      EngineOptions.defaults().withLog(1 << 16, 1 << 17).withIdsInMemoryMax(1 << 12);

  @TempDir Path temporary;

  @Test
  void everyPositionUnderLoadEqualsTheLedger() throws Exception {
    Path data = temporary.resolve("data");
    Path target = temporary.resolve("backup");
    List<Long> positions = new ArrayList<>();
    BackupLoad load;
    try (Engine engine = Engine.open(data, OPTIONS)) {
      try (BackupLoad running = new BackupLoad(engine, "a");
          Backup backup = Backup.open(data, target)) {
        load = running;
        // The log does not go back to the first frame: a snapshot is needed.
        while (engine.snapshotBytes() == 0 || Files.exists(data.resolve(FIRST_SEGMENT))) {
          Thread.sleep(Duration.ofMillis(10));
        }
        for (int i = 0; i < SECONDS * 1_000 / MILLIS; i++) {
          positions.add(backup.run().position());
          engine.keepLogAfter(positions.getLast());
          Thread.sleep(Duration.ofMillis(MILLIS));
        }
        positions.add(backup.run().position());
      }
    }
    long last = positions.getLast();
    RandomGenerator random = RandomGenerator.getDefault();
    List<Long> restored = new ArrayList<>(List.of(last, positions.get(positions.size() / 2)));
    while (restored.size() < RESTORED) {
      restored.add(random.nextLong(positions.getFirst(), last + 1));
    }
    System.out.printf(
        "%d backups, %d adds, last position %d, restored at %s%n%s%n",
        positions.size(), load.size(), last, restored, BackupFiles.check(target).lines());
    for (long position : restored) {
      Path copy = temporary.resolve("restored-" + position + "-" + random.nextInt(1 << 30));
      assertEquals(position, BackupFiles.restore(target, position, copy).position());
      assertTrue(Inspection.check(copy).sound(), () -> Inspection.check(copy).lines().toString());
      try (Engine engine = Engine.open(copy, OPTIONS)) {
        assertEquals(load.at(position), BackupLoad.valuesOf(engine), "at " + position);
        requestIdsAreAsTheyWere(engine, load, position);
      }
    }
    everyFlippedBitIsDetected(target, random);
  }

  /** Every add up to the position is replayed; none of those after it was counted. */
  private static void requestIdsAreAsTheyWere(Engine engine, BackupLoad load, long position) {
    List<BackupLoad.Entry> entries = load.entries();
    for (int i = 0; i < entries.size(); i += Math.max(1, entries.size() / 300)) {
      BackupLoad.Entry each = entries.get(i);
      AddResult result = engine.add(new Add(each.counter(), 1, each.id()));
      if (each.position() <= position) {
        assertInstanceOf(AddResult.Replayed.class, result, each + " at " + position);
      } else {
        assertInstanceOf(AddResult.Applied.class, result, each + " at " + position);
      }
    }
  }

  private static void everyFlippedBitIsDetected(Path target, RandomGenerator random)
      throws IOException {
    assertTrue(BackupFiles.check(target).sound());
    List<Path> files;
    try (var all = Files.walk(target)) {
      files = all.filter(each -> Files.isRegularFile(each) && !each.endsWith("lock")).toList();
    }
    for (int i = 0; i < FLIPPED; i++) {
      Path file = files.get(i % 2 == 0 ? random.nextInt(files.size()) : i % files.size());
      long bit = random.nextLong(Files.size(file) * 8);
      flip(file, bit);
      assertFalse(BackupFiles.check(target).sound(), file + " bit " + bit);
      flip(file, bit);
    }
    assertTrue(BackupFiles.check(target).sound());
  }

  private static void flip(Path file, long bit) throws IOException {
    try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "rw")) {
      content.seek(bit / 8);
      int value = content.read();
      content.seek(bit / 8);
      content.write(value ^ 1 << bit % 8);
    }
  }
}
