package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.engine.backup.Backup;
import dev.quipu.engine.backup.BackupFiles;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.recovery.Snapshot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Backups of a directory, step by step, and what they reject. */
final class BackupTest {
  private static final EngineOptions OPTIONS =
      EngineOptions.defaults().withLog(1 << 16, 1 << 17).withIdsInMemoryMax(16);
  private static final FileTime PAST = FileTime.fromMillis(1_000_000);

  @TempDir Path temporary;
  private Path data = Path.of("");
  private Path target = Path.of("");

  @BeforeEach
  void name() {
    data = temporary.resolve("data");
    target = temporary.resolve("backup");
  }

  private static void add(Engine engine, String prefix, int adds) {
    for (int i = 0; i < adds; i++) {
      engine.add(new Add("a", 1, RequestId.of(prefix + i)));
    }
  }

  private Backup.Status backUp(Path from) throws IOException {
    try (Backup backup = Backup.open(from, target)) {
      return backup.run();
    }
  }

  private static void expectValue(Path directory, long value) {
    try (Engine engine = Engine.open(directory, OPTIONS)) {
      assertEquals(value, engine.read("a").orElseThrow().value());
    }
  }

  private static void expectError(String part, org.junit.jupiter.api.function.Executable call) {
    QuipuException e = assertThrows(QuipuException.class, call);
    assertTrue(String.valueOf(e.getMessage()).contains(part), e.getMessage());
  }

  @Test
  void anEmptyEngineIsBackedUpAndRestored() throws IOException {
    try (Engine engine = Engine.open(data, OPTIONS)) {
      assertEquals(engine.position(), backUp(data).position());
    }
    Path copy = temporary.resolve("copy");
    assertEquals(0, BackupFiles.restore(target, copy).position());
    try (Engine engine = Engine.open(copy, OPTIONS)) {
      assertTrue(engine.read("a").isEmpty());
      add(engine, "x", 3);
    }
    expectValue(copy, 3);
  }

  @Test
  void eachPositionIsRestoredWithItsRequestIds() throws IOException {
    long position;
    try (Engine engine = Engine.open(data, OPTIONS)) {
      add(engine, "x", 100);
      position = backUp(data).position();
      engine.checkpoint();
      add(engine, "y", 50);
      assertEquals(engine.position(), backUp(data).position());
    }
    for (int i = 0; i < 2; i++) {
      Path copy = temporary.resolve("copy" + i);
      BackupFiles.restore(target, position + i * 50L, copy);
      assertTrue(Inspection.check(copy).sound(), Inspection.check(copy).lines().toString());
      try (Engine engine = Engine.open(copy, OPTIONS)) {
        assertEquals(100 + i * 50, engine.read("a").orElseThrow().value());
        for (int id = 0; id < 100; id++) {
          AddResult result = engine.add(new Add("a", 1, RequestId.of("x" + id)));
          assertInstanceOf(AddResult.Replayed.class, result);
        }
        add(engine, "z", 10);
      }
      expectValue(copy, 110 + i * 50L);
    }
  }

  /** From 64 counters on, with logs of this size. */
  @Test
  void aFileOfCountersIsCopiedOnce() throws IOException {
    List<Long> positions = new ArrayList<>();
    try (Engine engine = Engine.open(data, OPTIONS)) {
      for (int i = 0; i < 80; i++) {
        engine.add(new Add("c" + i, 1, null));
      }
      for (int i = 0; i < 3; i++) {
        add(engine, "x" + i, 1);
        engine.checkpoint();
        positions.add(backUp(data).position());
      }
    }
    Path counters;
    try (Stream<Path> snapshots = Files.list(target.resolve("snapshots"))) {
      List<Path> files =
          snapshots.filter(file -> Snapshot.isCounterFile(file.getFileName().toString())).toList();
      assertEquals(1, files.size());
      counters = files.getFirst();
    }
    for (int i = 0; i < 3; i++) {
      Path copy = temporary.resolve("copy" + i);
      BackupFiles.restore(target, positions.get(i), copy);
      expectValue(copy, i + 1);
      try (Engine engine = Engine.open(copy, OPTIONS)) {
        assertEquals(81, engine.statistics().counters());
      }
    }
    byte[] damaged = Files.readAllBytes(counters);
    damaged[damaged.length / 2] ^= 1;
    Files.write(counters, damaged);
    BackupFiles.Report report = BackupFiles.check(target);
    assertFalse(report.sound());
    assertTrue(report.lines().toString().contains(counters.toString()), report.lines().toString());
    expectError(counters.toString(), () -> BackupFiles.restore(target, temporary.resolve("other")));
    assertFalse(Files.exists(temporary.resolve("other")));
  }

  @Test
  void aTimeBetweenTwoBackupsIsRestored() throws Exception {
    Instant between;
    try (Engine engine = Engine.open(data, OPTIONS)) {
      backUp(data);
      add(engine, "x", 10);
      Thread.sleep(30);
      between = Instant.now();
      Thread.sleep(30);
      add(engine, "y", 10);
      backUp(data);
    }
    Path copy = temporary.resolve("copy");
    BackupFiles.restore(target, between, copy);
    expectValue(copy, 10);
    expectError(
        "is outside the backup",
        () -> BackupFiles.restore(target, Instant.now().plusSeconds(60), temporary.resolve("b")));
    expectError(
        "is outside the backup",
        () -> BackupFiles.restore(target, between.minusSeconds(60), temporary.resolve("c")));
    assertFalse(Files.exists(temporary.resolve("b")));
  }

  @Test
  void filesInTheBackupAreNotCopiedAgain() throws IOException {
    try (Engine engine = Engine.open(data, OPTIONS)) {
      add(engine, "x", 100);
      engine.checkpoint();
      add(engine, "y", 2_000);
      backUp(data);
      List<Path> before = files();
      for (Path each : before) {
        Files.setLastModifiedTime(each, PAST);
      }
      add(engine, "z", 1);
      backUp(data);
      List<Path> written = files().stream().filter(each -> !isPast(each)).toList();
      assertTrue(before.size() >= 5, before.toString());
      assertEquals(2, written.size(), written + " of " + before); // manifest, last log file
    }
  }

  private List<Path> files() throws IOException {
    try (var all = Files.walk(target)) {
      return all.filter(each -> Files.isRegularFile(each) && !each.endsWith("lock")).toList();
    }
  }

  private static boolean isPast(Path file) {
    try {
      return Files.getLastModifiedTime(file).equals(PAST);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aGapIsReportedAndItsPositionsAreRejected() throws IOException {
    try (Engine engine = Engine.open(data, OPTIONS)) {
      add(engine, "x", 10);
      backUp(data);
      for (int i = 0; i < 8; i++) { // segments that the backup does not have are reused
        add(engine, "y" + i, 1_000);
        engine.checkpoint();
      }
      backUp(data);
    }
    List<String> lines = Inspection.check(target).lines();
    assertTrue(lines.getFirst().contains("restored: 0 to 10, 8010 to 8010"), lines.toString());
    Path copy = temporary.resolve("copy");
    expectError(
        "position 5000 is outside the backup", () -> BackupFiles.restore(target, 5_000, copy));
    BackupFiles.restore(target, 10, copy);
    expectValue(copy, 10);
    BackupFiles.restore(target, temporary.resolve("last"));
    expectValue(temporary.resolve("last"), 8_010);
  }

  @Test
  void aLogThatIsKeptHasNoGap() throws IOException {
    try (Engine engine = Engine.open(data, OPTIONS)) {
      engine.keepLogAfter(backUp(data).position());
      for (int i = 0; i < 4; i++) {
        add(engine, "y" + i, 1_000);
        engine.checkpoint();
      }
      engine.keepLogAfter(backUp(data).position());
      int kept = engine.statistics().segments();
      engine.checkpoint();
      assertTrue(engine.statistics().segments() < kept);
    }
    BackupFiles.restore(target, 1_500, temporary.resolve("copy"));
    expectValue(temporary.resolve("copy"), 1_500);
  }

  @Test
  void anInterruptedRunLeavesTheBackupAsItWas() throws IOException {
    try (Engine engine = Engine.open(data, OPTIONS)) {
      add(engine, "x", 10);
      backUp(data);
      byte[] manifest = Files.readAllBytes(target.resolve("manifest"));
      add(engine, "y", 10);
      backUp(data);
      Files.write(target.resolve("manifest"), manifest); // as if it had not been replaced
    }
    Path stray = Files.createFile(target.resolve("log/0000000000000009.log"));
    assertTrue(Inspection.check(target).sound());
    assertTrue(Inspection.check(target).lines().get(1).contains("is ignored"));
    BackupFiles.restore(target, temporary.resolve("copy"));
    expectValue(temporary.resolve("copy"), 10);
    assertEquals(20, backUp(data).position());
    assertFalse(Files.exists(stray));
    assertTrue(Inspection.check(target).sound());
  }

  @Test
  void aBackupHasOneDirectoryAndOneHistory() throws IOException {
    Path other = temporary.resolve("other");
    Path copy = temporary.resolve("copy");
    try (Engine engine = Engine.open(data, OPTIONS);
        Engine another = Engine.open(other, OPTIONS)) {
      add(another, "x", 1);
      add(engine, "x", 20);
      backUp(data);
      expectError("the backup of another data directory", () -> backUp(other));
      expectError("not empty and not a backup", () -> Backup.open(data, other));
      expectError("is not a data directory", () -> Backup.open(target, other));
      expectError("is not empty", () -> BackupFiles.restore(target, other));
      expectError("is a backup; restore it", () -> Engine.open(target, OPTIONS));
    }
    BackupFiles.restore(target, 10, copy);
    expectError("have different histories", () -> backUp(copy));
    try (Engine engine = Engine.open(copy, OPTIONS)) {
      for (int i = 0; i < 8; i++) { // segments that it has in common with the backup are reused
        add(engine, "other" + i, 1_000);
        engine.checkpoint();
        expectError("have different histories", () -> backUp(copy));
      }
    }
    Path again = temporary.resolve("again");
    target = temporary.resolve("backup of the copy");
    backUp(copy);
    BackupFiles.restore(target, again);
    expectValue(again, 8_010);
    expectError("have different histories", () -> backUp(again));
  }

  @Test
  void aCopyOfTheDirectoryHasItsOwnHistory() throws IOException {
    Path copy = temporary.resolve("copy");
    try (Engine engine = Engine.open(data, OPTIONS)) {
      add(engine, "x", 10);
    }
    copyFiles(data, copy);
    try (Engine engine = Engine.open(copy, OPTIONS);
        Engine original = Engine.open(data, OPTIONS)) {
      add(engine, "y", 10);
      add(original, "x1", 10);
      assertEquals(20, backUp(data).position());
      expectError("has changes that", () -> backUp(copy)); // at the same position
      add(engine, "y1", 10);
      expectError("has changes that", () -> backUp(copy));
    }
  }

  private static void copyFiles(Path from, Path to) throws IOException {
    try (Stream<Path> paths = Files.walk(from)) {
      for (Path each : paths.toList()) {
        Files.copy(each, to.resolve(from.relativize(each)));
      }
    }
  }

  @Test
  void damageIsDetectedBeforeAnythingIsAdded() throws IOException {
    try (Engine engine = Engine.open(data, OPTIONS)) {
      add(engine, "x", 20);
      backUp(data);
      Path log = target.resolve("log/0000000000000001.log");
      byte[] bytes = Files.readAllBytes(log);
      bytes[bytes.length - 10] ^= 1;
      Files.write(log, bytes, StandardOpenOption.TRUNCATE_EXISTING);
      add(engine, "y", 1);
      assertThrows(DamageException.class, () -> backUp(data));
      assertThrows(
          DamageException.class, () -> BackupFiles.restore(target, temporary.resolve("copy")));
      Files.delete(target.resolve("manifest"));
      assertFalse(Inspection.check(target).sound());
    }
  }
}
