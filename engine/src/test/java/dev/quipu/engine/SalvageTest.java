package dev.quipu.engine;

import static dev.quipu.engine.recovery.WrittenDirectory.FRAME;
import static dev.quipu.engine.recovery.WrittenDirectory.HEAD;
import static dev.quipu.engine.recovery.WrittenDirectory.IDENTITY;
import static dev.quipu.engine.recovery.WrittenDirectory.flip;
import static dev.quipu.engine.recovery.WrittenDirectory.flipped;
import static dev.quipu.engine.recovery.WrittenDirectory.frame;
import static dev.quipu.engine.recovery.WrittenDirectory.frames;
import static dev.quipu.engine.recovery.WrittenDirectory.once;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.ForwardingDisk;
import dev.quipu.engine.environment.HeldLock;
import dev.quipu.engine.environment.RecordingDisk;
import dev.quipu.engine.environment.Threads;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.recovery.WrittenDirectory;
import dev.quipu.engine.state.State;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reports of a check on damaged directories, and what a salvage keeps. */
final class SalvageTest {
  private static final EngineOptions OPTIONS = EngineOptions.defaults().withLog(1 << 16, 1 << 20);

  private final Path path;
  private final WrittenDirectory data;
  private final RecordingDisk disk = new RecordingDisk();

  SalvageTest(@TempDir Path path) throws IOException {
    this.path = path;
    this.data = new WrittenDirectory(path);
  }

  private String summary(
      int counters, int items, int ids, long frame, long commands, long acknowledged) {
    return path
        + ": %d counters, %d items, %d request ids;".formatted(counters, items, ids)
        + " log up to frame %d, %d commands;".formatted(frame, commands)
        + " synced up to frame "
        + acknowledged;
  }

  private String salvaged(int counters, int items, int ids, int moved, String to) {
    return "salvaged: %d counters, %d items and %d request ids kept,"
            .formatted(counters, items, ids)
        + " %d old files moved to %s".formatted(moved, path.resolve(to));
  }

  private void expectCheck(boolean isSound, String... lines) {
    assertEquals(new Inspection.Report(isSound, List.of(lines)), Inspection.check(disk, path));
  }

  /** Salvages, and expects the lines of the previous check and one more. */
  private void expectSalvage(String line) throws IOException {
    List<String> expected = new ArrayList<>(Inspection.check(disk, path).lines());
    assertEquals("damaged", expected.getLast());
    expected.add(line);
    assertEquals(new Inspection.Report(true, expected), Inspection.salvage(disk, path));
    try (FileChannel log = FileChannel.open(data.log(1), StandardOpenOption.WRITE)) {
      assertEquals(EngineOptions.defaults().segmentBytes(), log.size());
      log.truncate(2 * HEAD); // it is empty, and a smaller file is read faster
    }
  }

  private List<String> names(String directory) throws IOException {
    return disk.list(path.resolve(directory)).stream()
        .map(file -> file.getFileName().toString())
        .toList();
  }

  private Engine open() {
    return Engine.open(path, OPTIONS, new Environment(disk, Threads.PLATFORM));
  }

  private static AddResult repeat(Engine engine, long request) {
    return engine.add(new Add("a", 1, RequestId.of(request, request)));
  }

  /** The engine would use it, though no snapshot lists it. */
  @Test
  void aDamagedFileOfIdsThatNoSnapshotListsIsReplaced() throws IOException {
    IdFile ids = data.ids(1, 2);
    data.segment(1, 1, once(1), once(2), once(3));
    data.mark(3, 0);
    flip(ids.path(), 4_096 + 20);
    expectCheck(
        false,
        summary(1, 0, 3, 3, 6, 3),
        "ID_FILE in %s at byte 4096: page 0 is damaged".formatted(ids.path()),
        "damaged");
    Inspection.salvage(disk, path);
    assertTrue(Inspection.check(disk, path).sound());
    try (Engine engine = open()) {
      for (int request = 1; request <= 3; request++) {
        assertInstanceOf(AddResult.Replayed.class, repeat(engine, request));
      }
    }
  }

  @Test
  void aTextThatIsLongerThanItsFrameIsDamage() throws IOException {
    byte[] second =
        frame(
            2,
            out -> {
              int kind = out.position();
              Records.name(out, 0, "");
              out.position(kind + 2); // after the kind and the place
              Records.unsigned(out, Integer.MAX_VALUE);
            });
    data.segment(1, 1, once(1), second);
    data.mark(2, 0);
    Inspection.Report report = Inspection.check(disk, path);
    assertFalse(report.sound());
    assertTrue(report.toString().contains("a text of 2147483647 bytes"), report.toString());
  }

  /** The effect of its first records is discarded, or the directory would be ahead of its log. */
  @Test
  void nothingOfAFrameThatCannotBeAppliedIsKept() throws IOException {
    byte[] second =
        frame(
            2,
            out -> {
              Records.once(out, 0, 2, 2, 1, 2, 0);
              out.put((byte) 99);
            });
    data.segment(1, 1, once(1), second);
    data.mark(2, 0);
    Inspection.Report report = Inspection.salvage(disk, path);
    assertTrue(report.lines().getFirst().contains("log up to frame 1,"), report.toString());
    assertTrue(Inspection.check(disk, path).sound());
    try (Engine engine = open()) {
      assertEquals(1, engine.read("a").orElseThrow().value());
      assertInstanceOf(AddResult.Replayed.class, repeat(engine, 1));
      assertInstanceOf(AddResult.Applied.class, repeat(engine, 2));
    }
  }

  @Test
  void aSoundDirectoryIsLeftAlone() throws IOException {
    Path log = data.segment(1, 1, frames(1, 3), flipped(frame(4)));
    data.mark(3, 0);
    List<String> expected = new ArrayList<>(names(""));
    String torn =
        "TORN_TAIL in %s at byte %d: frame 4 was never acknowledged and is overwritten"
            .formatted(log, HEAD + 3 * FRAME);
    expectCheck(true, summary(1, 0, 0, 3, 6, 3), torn, "sound");
    assertEquals(Inspection.check(path), Inspection.salvage(path));
    assertEquals(List.of(), disk.done);
    expected.add("lock");
    expected.sort(null);
    assertEquals(expected, names(""));
  }

  @Test
  void framesBeforeADamagedFrameAreKept() throws IOException {
    Path log = data.segment(1, 1, frame(1), flipped(frame(2)), frames(3, 5));
    byte[] old = Files.readAllBytes(log);
    data.mark(4, 5_000);
    expectCheck(
        false,
        summary(1, 0, 0, 1, 2, 4),
        "FLIPPED_FRAME in %s at byte %d: frame 2 does not match its checksum,"
                .formatted(log, HEAD + FRAME)
            + " and frames up to 5 follow it; all before it can be salvaged",
        "6 acknowledged commands cannot be read; 6 of them are intact after the damage",
        "damaged");
    expectSalvage(salvaged(1, 0, 0, 2, "damaged"));
    assertEquals("sync directory " + path.getFileName(), disk.done.getLast());
    assertEquals(
        List.of(
            "damaged",
            "format",
            "highwater",
            "ids",
            "lock",
            "log",
            "snapshot-0000000000000002.snap"),
        names(""));
    assertEquals(List.of("highwater", "log"), names("damaged"));
    assertEquals(
        new HighWater.Mark(4, 8, 5_000, 77),
        HighWater.read(disk, path.resolve("damaged"), IDENTITY));
    Path moved = path.resolve("damaged").resolve("log").resolve(log.getFileName());
    assertEquals(-1, Arrays.mismatch(old, Files.readAllBytes(moved)));
    assertEquals(new HighWater.Mark(1, 2, 5_000, 77), HighWater.read(disk, path, IDENTITY));
    expectCheck(true, summary(1, 0, 0, 1, 2, 1), "sound");
    try (Engine engine = open()) {
      assertEquals(1, engine.read("a").orElseThrow().value());
      engine.add(new Add("a", 10, null));
    }
    try (Engine engine = open()) {
      assertEquals(11, engine.read("a").orElseThrow().value());
    }
  }

  @Test
  void aTruncatedLogIsKeptUpToItsEnd() throws IOException {
    Path log = data.segment(1, 1, frames(1, 3));
    data.mark(5, 0);
    expectCheck(
        false,
        summary(1, 0, 0, 3, 6, 5),
        "LOG_CUT in %s at byte %d: the log ends with frame 3,".formatted(log, HEAD + 3 * FRAME)
            + " but frame 5 was acknowledged: 4 commands are missing",
        "4 acknowledged commands cannot be read; 0 of them are intact after the damage",
        "damaged");
    expectSalvage(salvaged(1, 0, 0, 2, "damaged"));
    expectCheck(true, summary(1, 0, 0, 3, 6, 3), "sound");
  }

  @Test
  void aSegmentThatIsMissingOrLostItsHeadIsNamed() throws IOException {
    Path log = data.segment(2, 4, frames(4, 6));
    data.snapshot(4, 3, 30);
    data.mark(6, 0);
    flip(log, 9);
    expectCheck(
        false,
        summary(1, 0, 0, 6, 12, 6),
        "SEGMENT_HEAD in %s at byte 0: the header is damaged".formatted(log),
        "damaged");
    expectSalvage(salvaged(1, 0, 0, 3, "damaged"));
    assertEquals(List.of("highwater", "log", "snapshot-0000000000000004.snap"), names("damaged"));
    Path next = data.log(1);
    Files.delete(next);
    expectCheck(
        false,
        summary(1, 0, 0, 6, 12, 6),
        "SEGMENT_MISSING in %s at byte 0: the segment is missing".formatted(next),
        "damaged");
    expectSalvage(salvaged(1, 0, 0, 3, "damaged-1"));
    Files.delete(next);
    expectSalvage(salvaged(1, 0, 0, 3, "damaged-2"));
    expectCheck(true, summary(1, 0, 0, 6, 12, 6), "sound");
  }

  @Test
  void withoutItsSnapshotNamesAreLostAndTheirValuesWithThem() throws IOException {
    Path snapshot = data.snapshot(3, 2, 30);
    byte[] unnamed = frame(4, out -> Records.value(out, 1, 5));
    data.segment(1, 3, frame(3), unnamed);
    data.mark(4, 0);
    flip(snapshot, 45);
    expectCheck(
        false,
        summary(1, 0, 0, 4, 8, 4),
        "frames up to 2 were only in the snapshot",
        "SNAPSHOT in %s at byte 0: frame 1 is damaged".formatted(snapshot),
        "damaged");
    expectSalvage(salvaged(1, 0, 0, 3, "damaged"));
    expectCheck(true, summary(1, 0, 0, 4, 8, 4), "sound");
    try (Engine engine = open()) {
      assertEquals(3, engine.read("a").orElseThrow().value());
    }
  }

  @Test
  void withoutAMarkAllReadableFramesCountAsAcknowledged() throws IOException {
    data.segment(1, 1, frames(1, 3));
    Path mark = path.resolve("highwater");
    Files.delete(mark);
    expectCheck(
        false,
        summary(1, 0, 0, 3, 6, 0),
        "HIGH_WATER in %s at byte 0: the file is missing".formatted(mark),
        "damaged");
    expectSalvage(salvaged(1, 0, 0, 1, "damaged"));
    assertEquals(new HighWater.Mark(3, 6, 3_000, 0), HighWater.read(disk, path, IDENTITY));
    expectCheck(true, summary(1, 0, 0, 3, 6, 3), "sound");
  }

  @Test
  void theRequestIdsOfWholeFilesAndOfTheLogAreKept() throws IOException {
    IdFile whole = data.ids(1, 1);
    IdFile damaged = data.ids(2, 2);
    IdFile headless = data.ids(3, 3);
    data.snapshot(4, 3, 3, whole, damaged, headless);
    data.segment(1, 4, once(4), once(5));
    data.mark(5, 0);
    flip(damaged.path(), 4_096 + 20);
    flip(headless.path(), 2);
    expectCheck(
        false,
        summary(1, 0, 4, 5, 10, 5),
        "ID_FILE in %s at byte 0: the header is damaged".formatted(headless.path()),
        "ID_FILE in %s at byte 4096: page 0 is damaged".formatted(damaged.path()),
        "damaged");
    expectSalvage(salvaged(1, 0, 3, 5, "damaged"));
    assertEquals(List.of("0000000000000001.ids", "0000000000000004.ids"), names("ids"));
    assertEquals(
        List.of(
            "0000000000000002.ids",
            "0000000000000003.ids",
            "highwater",
            "log",
            "snapshot-0000000000000004.snap"),
        names("damaged"));
    expectCheck(true, summary(1, 0, 3, 5, 10, 5), "sound");
    EngineOptions longWindow = OPTIONS.withWindow(EngineOptions.WINDOW_MAX);
    try (Engine engine = Engine.open(path, longWindow, new Environment(disk, Threads.PLATFORM))) {
      for (long request : new long[] {1, 4, 5}) {
        assertInstanceOf(AddResult.Replayed.class, repeat(engine, request));
      }
      assertEquals(5, engine.read("a").orElseThrow().value());
      for (long request : new long[] {2, 3}) {
        assertInstanceOf(AddResult.Applied.class, repeat(engine, request));
      }
      assertEquals(7, engine.read("a").orElseThrow().value());
    }
  }

  private static byte[] items(long frame, int first, int count) {
    return frame(
        frame,
        out -> {
          for (int i = first; i < first + count; i++) {
            Key key = new Key("p" + i % 3, "s" + i);
            Records.item(out, new Item(key, Map.of(), Records.version(i), Optional.empty()));
          }
        });
  }

  @Test
  void allItemsAreKeptHoweverManyThereAre() throws IOException {
    byte[][] frames = new byte[9][];
    for (int i = 0; i < 9; i++) { // one more than are written at once
      frames[i] = items(i + 1, 64 * i, i < 8 ? 64 : 1);
    }
    flip(data.segmentOf(1 << 16, 1, 1, frames), 9);
    data.mark(9, 0);
    expectSalvage(salvaged(0, 513, 0, 2, "damaged"));
    expectCheck(true, summary(0, 513, 0, 9, 18, 9), "sound");
    State state = data.read().state();
    for (int i = 0; i < 513; i++) {
      assertTrue(state.items.get(new Key("p" + i % 3, "s" + i)).isPresent(), "item " + i);
    }
  }

  @Test
  void commandsAfterTheMarkAreNotMissing() throws IOException {
    data.snapshot(2, 5, 1); // the mark may lag behind a snapshot
    data.segment(1, 1, frames(1, 3));
    List<String> lines = Inspection.check(disk, path).lines();
    assertEquals(summary(1, 0, 0, 3, 6, 5), lines.getFirst());
    assertEquals(
        "0 acknowledged commands cannot be read; 0 of them are intact after the damage",
        lines.get(2));
  }

  @Test
  void withoutItsFormatNothingCanBeReadOrSalvaged() throws IOException {
    data.segment(1, 1, frames(1, 3));
    Files.delete(path.resolve("format"));
    for (int i = 0; i < 2; i++) { // the directory is released
      DamageException why =
          assertThrows(DamageException.class, () -> Inspection.salvage(disk, path));
      assertEquals(Damage.FORMAT, why.damage());
    }
    assertEquals(List.of("highwater", "ids", "lock", "log"), names(""));
  }

  @Test
  void aPathThatIsInUseOrNotADirectoryIsRejected() throws IOException {
    try (HeldLock lock = disk.lock(path)) {
      lock.check();
      QuipuException why = assertThrows(QuipuException.class, () -> Inspection.check(disk, path));
      assertEquals(Reason.DENIED, why.reason());
      assertThrows(QuipuException.class, () -> Inspection.salvage(path));
    }
    assertTrue(Inspection.check(disk, path).sound());
    Path none = path.resolve("none");
    QuipuException why = assertThrows(QuipuException.class, () -> Inspection.check(disk, none));
    assertEquals(Reason.INVALID, why.reason());
    assertEquals(none + " does not exist", why.getMessage());
    assertFalse(Files.exists(none));
  }

  @Test
  void anUnreadableDiskIsNotReportedAsDamage() throws IOException {
    data.segment(1, 1, frames(1, 3));
    Disk broken =
        new ForwardingDisk(disk) {
          @Override
          public long size(Path file) throws IOException {
            throw new IOException("injected");
          }
        };
    QuipuException why = assertThrows(QuipuException.class, () -> Inspection.check(broken, path));
    assertEquals(Reason.UNAVAILABLE, why.reason());
    assertEquals("cannot read " + path + ": injected", why.getMessage());
    assertTrue(Inspection.check(disk, path).sound());
  }
}
