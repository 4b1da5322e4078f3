package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.ids.IdFiles;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.recovery.Snapshot;
import dev.quipu.time.Randomness;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Torn, corrupted and truncated data directories, and missing files: each is detected and named.
 */
final class DamageTest {
  private static final EngineOptions OPTIONS =
      EngineOptions.defaults().withLog(1 << 20, 1 << 30).withIdsInMemoryMax(1_024);
  private static final int ADDS = 40;

  @TempDir Path temporary;
  private Path data = Path.of("");

  @BeforeEach
  void countAndDie() throws IOException {
    data = temporary.resolve("data");
    Path running = temporary.resolve("running");
    try (Engine engine = Engine.open(running, OPTIONS)) {
      for (int i = 0; i < ADDS; i++) {
        engine.add(new Add("a", 1, RequestId.of("id-" + i)));
      }
      copy(running, data); // as after kill -9
    }
  }

  @Test
  void anUndamagedDirectoryOpensWithEverything() {
    assertEquals(ADDS, value());
    assertTrue(Inspection.check(data).sound());
  }

  @Test
  void everyTruncationOfTheLogIsDetected() throws IOException {
    Path log = log();
    int end = end(log);
    for (int cut = Log.HEAD_BYTES; cut < end; cut += 1 + cut % 7) {
      Path copy = fresh();
      zero(copy.resolve(data.relativize(log)), cut, end - cut);
      try (Engine engine = Engine.open(copy, OPTIONS)) {
        // Only trailing zeros of the last frame may be truncated without harm.
        assertEquals(ADDS, engine.read("a").orElseThrow().value(), "cut at " + cut);
        assertTrue(cut > end - Frame.ALIGNMENT);
      } catch (DamageException e) {
        assertTrue(
            Set.of(Damage.LOG_CUT, Damage.FLIPPED_FRAME).contains(e.damage()), e.getMessage());
      }
      delete(copy);
    }
  }

  @Test
  void aLogTruncatedBetweenTwoFramesIsDetectedWithTheLoss() throws IOException {
    Path log = log();
    int end = end(log);
    int frame = (end - Log.HEAD_BYTES) / ADDS; // frame lengths differ by a few bytes only
    int start = frameStartBefore(log, end - frame / 2);
    zero(log, start, end - start);
    DamageException e = assertThrows(DamageException.class, () -> Engine.open(data, OPTIONS));
    assertEquals(Damage.LOG_CUT, e.damage());
    assertEquals(start, e.offset());
    assertTrue(e.getMessage().contains("1 commands are missing"), e.getMessage());
  }

  @Test
  void aShorterFileIsDetected() throws IOException {
    Path log = log();
    try (FileChannel file = FileChannel.open(log, StandardOpenOption.WRITE)) {
      file.truncate(end(log) - Frame.ALIGNMENT);
    }
    assertThrows(DamageException.class, () -> Engine.open(data, OPTIONS));
  }

  @Test
  void everyFlippedBitIsDetectedOrHarmless() throws IOException {
    RandomGenerator random = Randomness.seeded(1);
    Path log = log();
    int end = end(log);
    Set<Damage> seen = EnumSet.noneOf(Damage.class);
    for (int i = 0; i < 200; i++) {
      int at = Log.HEAD_BYTES + random.nextInt(end - Log.HEAD_BYTES);
      Path copy = fresh();
      flip(copy.resolve(data.relativize(log)), at, random.nextInt(8));
      try (Engine engine = Engine.open(copy, OPTIONS)) {
        // Only the padding after a frame may change without harm.
        assertEquals(ADDS, engine.read("a").orElseThrow().value(), "flipped at " + at);
      } catch (DamageException e) {
        seen.add(e.damage());
        assertTrue(e.offset() <= at, e.getMessage());
      }
      delete(copy);
    }
    assertTrue(seen.contains(Damage.FLIPPED_FRAME), seen.toString());
  }

  @Test
  void aTornWriteThatWasNeverAcknowledgedIsOverwritten() throws IOException {
    Path log = log();
    int end = end(log);
    try (FileChannel file = FileChannel.open(log, StandardOpenOption.WRITE)) {
      ByteBuffer torn = ByteBuffer.allocate(200);
      torn.putInt(Frame.MAGIC).putInt(150).putInt(12_345).putInt(1).putLong(ADDS + 1);
      file.write(torn.clear(), end);
    }
    Inspection.Report report = Inspection.check(data);
    assertTrue(report.sound());
    assertTrue(report.lines().stream().anyMatch(line -> line.startsWith("TORN_TAIL")));
    try (Engine engine = Engine.open(data, OPTIONS)) {
      assertEquals(ADDS, engine.read("a").orElseThrow().value());
      engine.add(new Add("a", 1, RequestId.of("more")));
    }
    assertEquals(ADDS + 1, value());
  }

  @Test
  void eachMissingOrDamagedFileIsNamed() throws IOException {
    try (Engine engine = Engine.open(data, OPTIONS)) {
      engine.checkpoint();
      List<Add> adds = new ArrayList<>();
      for (int i = 0; i < 10_000; i++) { // more than a segment of log
        adds.add(new Add("%0100d".formatted(i), 1, i < 3_000 ? RequestId.of("more-" + i) : null));
      }
      engine.addAll(adds);
      engine.checkpoint();
      engine.add(new Add("a", 1, RequestId.of("last")));
    }
    assertEquals(ADDS + 1, value());
    Path ids = IdFiles.all(new FileDisk(), data).getFirst();
    expect(Damage.FORMAT, Path.of("format"));
    expect(Damage.HIGH_WATER, Path.of(HighWater.FILE));
    expect(Damage.ID_FILE, data.relativize(ids));
    expect(Damage.SEGMENT_MISSING, data.relativize(log()));
    Path snapshot = data.relativize(Snapshot.newest(new FileDisk(), data).orElseThrow());
    expect(Damage.SEGMENT_MISSING, snapshot); // then the log does not reach back to the start
    flip(data.resolve(snapshot), 60, 3);
    DamageException e = assertThrows(DamageException.class, () -> Engine.open(data, OPTIONS));
    assertEquals(Damage.SNAPSHOT, e.damage());
  }

  private void expect(Damage damage, Path gone) throws IOException {
    Path copy = fresh();
    Files.delete(copy.resolve(gone));
    DamageException e = assertThrows(DamageException.class, () -> Engine.open(copy, OPTIONS));
    assertEquals(damage, e.damage(), e.getMessage());
    delete(copy);
  }

  /** What has changed since is in the snapshot. */
  @Test
  void salvageKeepsCountersThatHaveChangedSinceADamagedFileOfCounters() throws IOException {
    int many = 1_000; // for a log of this size
    try (Engine engine = Engine.open(data, OPTIONS.withLog(1 << 20, 1 << 20))) {
      for (int i = 0; i < many; i++) {
        engine.add(new Add("many/" + i, 1, null));
      }
      engine.checkpoint();
      engine.add(new Add("many/7", 6, null));
      engine.add(new Add("a", 1, RequestId.of("later")));
      engine.checkpoint();
    }
    Path counters = Snapshot.counterFiles(new FileDisk(), data).getFirst();
    expect(Damage.SNAPSHOT, data.relativize(counters));
    flip(counters, (int) Files.size(counters) / 2, 1);
    DamageException e = assertThrows(DamageException.class, () -> Engine.open(data, OPTIONS));
    assertEquals(counters, e.file());
    assertTrue(Inspection.salvage(data).sound());
    assertTrue(Files.exists(data.resolve("damaged").resolve(counters.getFileName())));
    try (Engine engine = Engine.open(data, OPTIONS)) {
      assertEquals(7, engine.read("many/7").orElseThrow().value());
      assertEquals(ADDS + 1, engine.read("a").orElseThrow().value());
      for (String id : List.of("id-0", "later")) { // the files of ids are sound
        AddResult result = engine.add(new Add("a", 1, RequestId.of(id)));
        assertInstanceOf(AddResult.Replayed.class, result, id);
      }
    }
  }

  /** A file of counters has a frame for about each megabyte. */
  @Test
  void salvageKeepsTheOtherFramesOfADamagedFileOfCounters() throws IOException {
    int many = 120_000;
    try (Engine engine = Engine.open(data, OPTIONS.withLog(1 << 20, 1 << 20))) {
      List<Add> adds = new ArrayList<>();
      for (int i = 0; i < many; i++) {
        adds.add(new Add("%020d".formatted(i), 1, null));
        if (adds.size() == 4_000) {
          engine.addAll(adds);
          adds.clear();
        }
      }
      engine.checkpoint();
    }
    Path counters = Snapshot.counterFiles(new FileDisk(), data).getFirst();
    flip(counters, 1_500_000, 1);
    assertThrows(DamageException.class, () -> Engine.open(data, OPTIONS));
    assertTrue(Inspection.salvage(data).sound());
    try (Engine engine = Engine.open(data, OPTIONS)) {
      long kept = engine.statistics().counters();
      assertTrue(kept > many / 2 && kept < many, kept + " were kept");
      for (int i : new int[] {0, many - 1}) {
        assertEquals(1, engine.read("%020d".formatted(i)).orElseThrow().value());
      }
    }
  }

  @Test
  void aDamagedPageOfIdsIsDetectedWhenItIsRead() throws IOException {
    try (Engine engine = Engine.open(data, OPTIONS)) {
      engine.checkpoint();
    }
    flip(IdFiles.all(new FileDisk(), data).getFirst(), 4_096 + 500, 1);
    assertTrue(!Inspection.check(data).sound());
    try (Engine engine = Engine.open(data, OPTIONS)) {
      DamageException e =
          assertThrows(
              DamageException.class, () -> engine.add(new Add("a", 1, RequestId.of("id-0"))));
      assertEquals(Damage.ID_FILE, e.damage());
      assertEquals(ADDS, engine.read("a").orElseThrow().value());
    }
  }

  @Test
  void salvageKeepsEverythingBeforeTheDamageAndReportsTheLoss() throws IOException {
    Path log = log();
    int middle = frameStartBefore(log, (Log.HEAD_BYTES + end(log)) / 2);
    flip(log, middle + Frame.HEAD_BYTES + 2, 0);
    long kept = framesBefore(log, middle);
    assertThrows(DamageException.class, () -> Engine.open(data, OPTIONS));
    Inspection.Report report = Inspection.salvage(data);
    assertTrue(report.sound());
    String said = String.join("\n", report.lines());
    assertTrue(said.contains("FLIPPED_FRAME"), said);
    assertTrue(said.contains((ADDS - kept) + " acknowledged commands cannot be read"), said);
    assertTrue(said.contains((ADDS - kept - 1) + " of them are intact after"), said);
    assertEquals(kept, value());
    assertTrue(Inspection.check(data).sound());
    try (Engine engine = Engine.open(data, OPTIONS)) {
      engine.add(new Add("a", 1, RequestId.of("id-0"))); // still remembered
      engine.add(new Add("a", 1, RequestId.of("id-" + (ADDS - 1)))); // lost, so the repeat counts
      assertEquals(kept + 1, engine.read("a").orElseThrow().value());
    }
    assertEquals(kept + 1, value());
  }

  @Test
  void salvageReadsASegmentWithoutItsHead() throws IOException {
    flip(log(), 3, 0);
    assertThrows(DamageException.class, () -> Engine.open(data, OPTIONS));
    String said = String.join("\n", Inspection.salvage(data).lines());
    assertTrue(said.contains("SEGMENT_HEAD"), said);
    assertEquals(ADDS, value());
    assertTrue(Inspection.check(data).sound());
  }

  private long value() {
    try (Engine engine = Engine.open(data, OPTIONS)) {
      return engine.read("a").map(Reading::value).orElse(0L);
    }
  }

  private Path log() throws IOException {
    try (var files = Files.list(Log.directory(data))) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("0"))
          .max(Comparator.naturalOrder())
          .orElseThrow();
    }
  }

  /** Returns the offset at which the frames end. */
  private int end(Path log) throws IOException {
    return walk(log, Integer.MAX_VALUE).getLast();
  }

  private int frameStartBefore(Path log, int offset) throws IOException {
    return walk(log, offset).getLast();
  }

  private long framesBefore(Path log, int offset) throws IOException {
    return walk(log, offset).size() - 1L;
  }

  /**
   * Returns the starts of frames up to an offset, following their lengths; the last may be the end.
   */
  private static List<Integer> walk(Path log, int until) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(log));
    List<Integer> starts = new ArrayList<>();
    int at = Log.HEAD_BYTES;
    while (at <= until) {
      starts.add(at);
      if (bytes.getInt(at) != Frame.MAGIC) {
        break;
      }
      at += Frame.frameBytes(bytes.getInt(at + 4));
    }
    return starts;
  }

  private Path fresh() throws IOException {
    Path copy = temporary.resolve("copy");
    copy(data, copy);
    return copy;
  }

  private static void copy(Path from, Path to) throws IOException {
    try (var files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Path target = to.resolve(from.relativize(file));
        if (Files.isDirectory(file)) {
          Files.createDirectories(target);
        } else if (!file.getFileName().toString().startsWith("spare")) {
          Files.copy(file, target);
        }
      }
    }
  }

  private static void delete(Path directory) throws IOException {
    try (var files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  private static void zero(Path file, int from, int length) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.allocate(length), from);
    }
  }

  private static void flip(Path file, int at, int bit) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, at);
      one.put(0, (byte) (one.get(0) ^ 1 << bit));
      channel.write(one.clear(), at);
    }
  }

  @Test
  void aPathThatIsNotADirectoryIsRejected() {
    assertThrows(QuipuException.class, () -> Inspection.check(temporary.resolve("nothing")));
  }
}
