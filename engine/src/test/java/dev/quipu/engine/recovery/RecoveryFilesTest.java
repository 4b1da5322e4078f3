package dev.quipu.engine.recovery;

import static dev.quipu.engine.recovery.WrittenDirectory.FRAME;
import static dev.quipu.engine.recovery.WrittenDirectory.HEAD;
import static dev.quipu.engine.recovery.WrittenDirectory.IDENTITY;
import static dev.quipu.engine.recovery.WrittenDirectory.ONCE_FRAME;
import static dev.quipu.engine.recovery.WrittenDirectory.damages;
import static dev.quipu.engine.recovery.WrittenDirectory.flip;
import static dev.quipu.engine.recovery.WrittenDirectory.flipped;
import static dev.quipu.engine.recovery.WrittenDirectory.frame;
import static dev.quipu.engine.recovery.WrittenDirectory.frames;
import static dev.quipu.engine.recovery.WrittenDirectory.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.TestOperation;
import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.ForwardingDisk;
import dev.quipu.engine.environment.RecordingDisk;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.ids.IdFiles;
import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.ids.RequestIds;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.log.Records;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is read besides the log: the format, snapshots, and files of request ids. */
final class RecoveryFilesTest {
  private static final int IDS_IN_MEMORY = 16; // as the directory is read

  private final Path path;
  private final WrittenDirectory data;

  RecoveryFilesTest(@TempDir Path path) throws IOException {
    this.path = path;
    this.data = new WrittenDirectory(path);
  }

  private DamageException damage() {
    return assertThrows(DamageException.class, data::read);
  }

  /** Returns whether the request of a frame is remembered. */
  private static boolean isKnown(Recovered found, long frame) {
    return found.state().ids.find(frame, frame, 0, 1_000 * frame, new long[IdTable.STRIDE]);
  }

  /** Returns the first and last frame of each file of request ids. */
  private static List<String> idFiles(Recovered found) {
    return found.state().ids.files().stream()
        .map(file -> file.firstFrame() + "-" + file.lastFrame())
        .toList();
  }

  private static byte[][] onces(long first, long last) {
    return LongStream.rangeClosed(first, last)
        .mapToObj(WrittenDirectory::once)
        .toArray(byte[][]::new);
  }

  @Test
  void aDirectoryIsNewUntilItHasAMarkOrASnapshotOrALog() throws IOException {
    Disk disk = new FileDisk();
    Files.delete(path.resolve("highwater"));
    assertTrue(FormatFile.isNew(disk, path), "its creation was interrupted");
    Path snapshot = data.snapshot(1, 0, 0);
    assertFalse(FormatFile.isNew(disk, path));
    Files.delete(snapshot);
    Path log = data.segment(1, 1);
    assertFalse(FormatFile.isNew(disk, path));
    Files.delete(log);
    Files.createFile(path.resolve("log").resolve("spare-1.log"));
    assertTrue(FormatFile.isNew(disk, path), "a spare is not a log");
    Files.delete(path.resolve("format"));
    assertTrue(FormatFile.isNew(disk, path));
    data.mark(0, 0);
    DamageException why = assertThrows(DamageException.class, () -> FormatFile.isNew(disk, path));
    assertEquals(Damage.FORMAT, why.damage());
    assertEquals(path.resolve("format"), why.file());
    Path empty = Files.createDirectory(path.resolve("empty"));
    assertTrue(FormatFile.isNew(disk, empty));
  }

  @Test
  void aNewDirectoryNamesItsFormatAndHasAMarkOfNothing() throws IOException {
    Path fresh = Files.createDirectory(path.resolve("fresh"));
    RecordingDisk disk = new RecordingDisk();
    FormatFile.create(disk, fresh, 0xabcL);
    assertEquals(
        List.of("quipu-engine 9", "identity 0000000000000abc"),
        Files.readAllLines(fresh.resolve("format")));
    assertEquals(new HighWater.Mark(0, 0, 0, 0), HighWater.read(disk, fresh, 0xabcL));
    assertEquals(
        List.of(
            "write format.tmp 0 41",
            "sync format.tmp",
            "close format.tmp",
            "rename format.tmp format",
            "write highwater.tmp 512 36",
            "sync highwater.tmp",
            "close highwater.tmp",
            "rename highwater.tmp highwater"),
        disk.takeDone());
    Files.createDirectory(fresh.resolve("ids"));
    Recovered found =
        Recovery.read(disk, fresh, TestOperation.settings(EngineOptions.defaults()), false);
    assertEquals(0xabcL, found.identity());
  }

  @Test
  void theIdentityMayUseAllOfItsBits() throws IOException {
    Files.writeString(path.resolve("format"), "quipu-engine 9\nidentity fedcba9876543210\n");
    HighWater.create(new FileDisk(), path, 0xfedc_ba98_7654_3210L, new HighWater.Mark(0, 0, 0, 0));
    assertEquals(0xfedc_ba98_7654_3210L, data.read().identity());
  }

  @Test
  void anotherFormatIsRejectedWithWhatToDo() throws IOException {
    Files.writeString(path.resolve("format"), "quipu-engine 1\nidentity 0123456789abcdef\n");
    QuipuException why = assertThrows(QuipuException.class, data::readLeniently);
    assertEquals(Reason.INVALID, why.reason());
    assertTrue(
        why.getMessage()
            .startsWith(
                "the data directory %s has the format 'quipu-engine 1',".formatted(path)
                    + " and this version reads 'quipu-engine 9': export it"),
        why.getMessage());
  }

  @Test
  void anInvalidFormatFileIsDamage() throws IOException {
    for (String text :
        List.of(
            "",
            "quipu-engine 9",
            "quipu-engine 1",
            "quipu-engine\nidentity 0123456789abcdef",
            "quipu-engine x\nidentity 0123456789abcdef",
            "quipu-engine 9\nidentity 0123456789abcde",
            "quipu-engine 9\nidentity 0123456789ABCDEF",
            "quipu-engine 9\nidentity 0123456789abcdef\n\n",
            "quipu-engine 1\nidentity 0123456789abcdef\nmore")) {
      Files.writeString(path.resolve("format"), text);
      DamageException why = assertThrows(DamageException.class, data::readLeniently);
      assertEquals(Damage.FORMAT, why.damage(), text);
      assertEquals(path.resolve("format"), why.file());
    }
    Files.delete(path.resolve("format"));
    assertEquals(Damage.FORMAT, damage().damage());
  }

  @Test
  void withoutAMarkOnlyALenientReaderContinues() throws IOException {
    data.segment(1, 1, frames(1, 3));
    Files.delete(path.resolve("highwater"));
    assertEquals(Damage.HIGH_WATER, damage().damage());
    Recovered found = data.readLeniently();
    assertEquals(List.of(Damage.HIGH_WATER), damages(found));
    assertEquals(new HighWater.Mark(0, 0, 0, 0), found.highWater());
    assertEquals(3, value(found));
  }

  @Test
  void theLogContinuesAfterTheNewestSnapshot() throws IOException {
    data.snapshot(2, 1, 1);
    data.snapshot(4, 3, 30);
    flip(data.segment(1, 1, frames(1, 3)), 3); // is not needed any more
    data.segment(2, 4);
    data.mark(3, 0);
    Recovered found = data.read();
    assertEquals(30, value(found));
    assertEquals(3, found.state().frame);
    assertEquals(6, found.state().commands);
    assertEquals(3_500, found.state().timeMillis);
    assertEquals(HEAD, found.end());
    data.segment(2, 4, frames(4, 5));
    found = data.read();
    assertEquals(5, value(found));
    assertEquals(10, found.state().commands);
    assertEquals(List.of(new Log.Segment(2, 4, data.log(2))), found.segments());
  }

  @Test
  void framesThatTheSnapshotHasAlreadyAreNotReadOverIt() throws IOException {
    data.snapshot(3, 3, 30);
    data.segment(1, 1, frames(1, 3));
    data.mark(3, 0);
    Recovered found = data.read();
    assertEquals(3, value(found));
    data.snapshot(4, 3, 30);
    found = data.read();
    assertEquals(30, value(found), "frame 3 is older than the snapshot");
    assertEquals(3, found.state().frame);
    assertEquals(HEAD + 3 * FRAME, found.end());
    assertEquals(HEAD + 3 * FRAME, found.syncedEnd());
  }

  @Test
  void damageOfCoveredFramesDoesNotPreventReading() throws IOException {
    data.snapshot(4, 3, 30);
    data.mark(5, 0);
    Path log = data.segment(1, 1, flipped(frame(1)), frame(2), flipped(frame(3)), frames(4, 5));
    Recovered found = data.read();
    assertEquals(5, value(found));
    assertEquals(10, found.state().commands);
    assertEquals(HEAD + 5 * FRAME, found.end());
    assertFalse(found.isTailStale());
    assertEquals(
        List.of(coveredDamage(log, HEAD, 1, 1), coveredDamage(log, HEAD + 2 * FRAME, 3, 3)),
        found.notes());
    assertEquals(List.of(), data.readLeniently().damages());
    data.segment(1, 1, new byte[3 * FRAME], frames(4, 5));
    found = data.read();
    assertEquals(5, value(found));
    assertEquals(List.of(coveredDamage(log, HEAD, 1, 3)), found.notes());
    data.segment(1, 1, frame(1), flipped(frame(2)), frames(3, 4));
    data.segment(2, 5, frame(5));
    found = data.read();
    assertEquals(5, value(found));
    assertEquals(HEAD + FRAME, found.end());
    assertEquals(List.of(coveredDamage(log, HEAD + FRAME, 2, 2)), found.notes());
    data.segment(1, 1, frame(1), new byte[3 * FRAME]);
    assertEquals(Damage.FLIPPED_FRAME, damage().damage(), "frame 4 is not in the snapshot");
  }

  @Test
  void nothingIsWrittenAfterDamageAtTheEnd() throws IOException {
    data.snapshot(4, 3, 30);
    Path log = data.segment(1, 1, frames(1, 2), flipped(frame(3)));
    data.mark(3, 0);
    Recovered found = data.read();
    assertEquals(30, value(found));
    assertEquals(3, found.state().frame);
    assertEquals(HEAD + 2 * FRAME, found.end());
    assertTrue(found.isTailStale(), "the next frame belongs into a new segment");
    assertEquals(List.of(coveredDamage(log, HEAD + 2 * FRAME, 3, 3)), found.notes());
    data.mark(4, 0);
    assertEquals(Damage.LOG_CUT, damage().damage());
  }

  @Test
  void damageOfAnUncoveredFrameIsReportedAfterACoveredOne() throws IOException {
    data.snapshot(4, 3, 30);
    data.mark(5, 0);
    Path log = data.segment(1, 1, frames(1, 2), flipped(frame(3)), flipped(frame(4)), frame(5));
    DamageException why = damage();
    assertEquals(Damage.FLIPPED_FRAME, why.damage());
    assertEquals(log, why.file());
    assertEquals(HEAD + 2 * FRAME, why.offset());
    Recovered found = data.readLeniently();
    assertEquals(30, value(found));
    assertEquals(3, found.state().frame);
    data.segment(1, 1, flipped(frame(1)), frames(2, 3), flipped(frame(4)), frame(5));
    assertEquals(HEAD + 3 * FRAME, damage().offset());
    assertEquals(30, value(data.readLeniently()));
  }

  private static String coveredDamage(Path log, int at, int first, int last) {
    return ("FLIPPED_FRAME in %s at byte %d: frames from %d to %d are damaged,"
            + " but covered by the snapshot")
        .formatted(log, at, first, last);
  }

  @Test
  void framesThatASnapshotMayReflectMustBeInTheLog() throws IOException {
    data.snapshot(2, 5, 1);
    data.segment(1, 1, frames(1, 4));
    data.mark(3, 9_000);
    DamageException why = damage();
    assertEquals(Damage.LOG_CUT, why.damage());
    assertTrue(why.getMessage().contains("frame 4, but frame 5 was"), why.getMessage());
    data.segment(1, 1, frames(1, 6));
    Recovered found = data.read();
    assertEquals(new HighWater.Mark(5, 6, 9_000, 77), found.highWater());
    assertEquals(HEAD + 5 * FRAME, found.syncedEnd());
    Files.delete(data.log(1));
    why = damage();
    assertEquals(Damage.SEGMENT_MISSING, why.damage());
    assertEquals(data.log(1), why.file());
    data.snapshot(2, 0, 1);
    data.mark(0, 0);
    assertEquals(Damage.SEGMENT_MISSING, damage().damage(), "a snapshot alone is not enough");
  }

  @Test
  void withoutItsSnapshotOnlyTheLogAfterItIsKept() throws IOException {
    flip(data.snapshot(3, 3, 30), 45);
    data.segment(2, 3, frames(3, 5));
    data.mark(5, 0);
    assertEquals(Damage.SNAPSHOT, damage().damage());
    Recovered found = data.readLeniently();
    assertEquals(List.of(Damage.SNAPSHOT), damages(found));
    assertEquals(List.of(new Log.Segment(2, 3, data.log(2))), found.segments());
    assertEquals(5, value(found));
    assertEquals(5, found.state().frame);
  }

  @Test
  void aLogThatGoesBackToItsStartNeedsNoSnapshot() throws IOException {
    flip(data.snapshot(3, 3, 30), 45);
    data.segment(1, 1, frame(1, out -> Records.name(out, 1, "before")), frames(2, 2));
    data.segment(2, 3, frames(3, 5));
    data.mark(5, 0);
    assertEquals(Damage.SNAPSHOT, damage().damage());
    Recovered found = data.readLeniently();
    assertEquals(List.of(Damage.SNAPSHOT), damages(found));
    assertEquals(
        List.of("the log goes back to its first frame; the snapshot is not needed"), found.notes());
    assertEquals(2, found.segments().size());
    assertEquals(5, value(found));
    assertEquals(5, found.state().frame);
    assertTrue(found.state().counters.find("before") >= 0);
  }

  @Test
  void requestIdsOfAFileAreNotReadFromTheLog() throws IOException {
    data.segment(1, 1, onces(1, 5));
    data.mark(5, 0);
    IdFile unused = data.ids(2, 3);
    Recovered found = data.read();
    assertEquals(5, value(found));
    assertEquals(List.of("1-1", "2-3"), idFiles(found), "no file has ids of both sides");
    assertEquals(5, found.state().ids.size());
    for (int frame = 1; frame <= 5; frame++) {
      assertTrue(isKnown(found, frame), "frame " + frame);
    }
    Files.delete(path.resolve("ids").resolve("%016d.ids".formatted(1)));
    found = data.readLeniently();
    assertEquals(List.of(), idFiles(found), "no snapshot vouches for it");
    assertEquals(5, found.state().ids.size());
    assertFalse(Files.exists(path.resolve("ids").resolve("%016d.ids".formatted(1))));
  }

  @Test
  void aFileThatNoSnapshotListsIsNotNeeded() throws IOException {
    data.segment(1, 1, onces(1, 5));
    data.mark(5, 0);
    Path ids = data.ids(2, 3).path();
    flip(ids, 10);
    Recovered found = data.read();
    assertEquals(1, found.notes().size());
    String note = found.notes().getFirst();
    assertTrue(note.startsWith("ID_FILE in " + ids + " at byte 0: the header is damaged"), note);
    assertTrue(note.endsWith("; its ids are in the log too"), note);
    assertEquals(5, found.state().ids.size());
    assertEquals(List.of(), idFiles(found));
  }

  @Test
  void aFileFromBeforeTheSnapshotThatDoesNotListItIsNotUsed() throws IOException {
    data.segment(1, 1, onces(1, 5));
    data.mark(5, 0);
    data.ids(2, 2);
    data.ids(3, 3);
    data.snapshot(3, 2, 2);
    assertEquals(List.of("3-3"), idFiles(data.read()));
  }

  @Test
  void aFileThatTheSnapshotListsIsNeeded() throws IOException {
    data.segment(1, 1, onces(1, 6));
    data.mark(6, 0);
    IdFile old = data.ids(1, 2);
    IdFile later = data.ids(3, 4); // was sealed while the snapshot was written
    data.snapshot(3, 4, 2, old, later);
    Recovered found = data.read();
    assertEquals(List.of("1-2", "3-4"), idFiles(found));
    assertEquals(6, found.state().ids.size());
    found = data.readLeniently();
    assertEquals(List.of("1-2", "3-4"), idFiles(found));
    assertEquals(6, found.state().ids.size());
    Files.delete(old.path());
    DamageException why = damage();
    assertEquals(Damage.ID_FILE, why.damage());
    assertEquals(old.path(), why.file());
    found = data.readLeniently();
    assertEquals(List.of(Damage.ID_FILE), damages(found));
    assertEquals(List.of("3-4"), idFiles(found));
    assertFalse(isKnown(found, 2));
    assertTrue(isKnown(found, 3));
  }

  @Test
  void manyRequestIdsGoToFilesOnceTheirFramesAreDurable() throws IOException {
    Path log = data.segment(1, 1, onces(1, IDS_IN_MEMORY + 1));
    data.mark(10, 0);
    RecordingDisk disk = new RecordingDisk();
    Recovered found = data.read(disk);
    assertEquals(List.of("1-16"), idFiles(found));
    assertEquals(17, found.state().ids.size());
    int from = HEAD + 10 * ONCE_FRAME;
    String name = log.getFileName().toString();
    List<String> done = disk.takeDone();
    assertEquals(
        List.of("write " + name + " " + from + " " + 6 * ONCE_FRAME, "sync " + name),
        done.subList(0, 2));
    assertEquals("rename 0000000000000001.ids.tmp 0000000000000001.ids", done.getLast());
    Files.delete(path.resolve("ids").resolve("0000000000000001.ids"));
    data.mark(16, 0);
    found = data.read(disk);
    assertEquals(List.of("1-16"), idFiles(found));
    assertFalse(disk.done.contains("sync " + name), "they are durable");
  }

  @Test
  void framesWithoutRequestIdsMakeNoFiles() throws IOException {
    data.segment(1, 1, frames(1, 20));
    data.mark(20, 0);
    assertEquals(List.of(), idFiles(data.read()));
    data.segment(1, 1, onces(1, IDS_IN_MEMORY - 1));
    data.mark(IDS_IN_MEMORY - 1, 0);
    assertEquals(List.of(), idFiles(data.read()));
  }

  @Test
  void aLenientReaderWritesNothing() throws IOException {
    data.segment(1, 1, onces(1, 40));
    data.mark(40, 0);
    Recovered found = data.readLeniently();
    assertEquals(40, found.state().ids.size());
    assertEquals(List.of(), IdFiles.all(new FileDisk(), path));
    assertEquals(2, found.state().ids.waiting());
  }

  /** A disk that rejects files of request ids. */
  private static final class NoIdFiles extends ForwardingDisk {
    private int tried;

    NoIdFiles() {
      super(new FileDisk());
    }

    @Override
    public DiskFile create(Path file) throws IOException {
      tried++;
      throw new IOException("injected: " + file.getFileName());
    }
  }

  @Test
  void requestIdsWaitForADiskThatIsFull() throws IOException {
    data.segment(1, 1, onces(1, 60));
    data.mark(60, 0);
    NoIdFiles disk = new NoIdFiles();
    Recovered found = data.read(disk);
    assertEquals(60, value(found));
    assertEquals(60, found.state().ids.size());
    assertEquals(RequestIds.WAITING_MAX, found.state().ids.waiting());
    assertEquals(RequestIds.WAITING_MAX, disk.tried, "once for each that came to wait");
  }

  @Test
  void tooManyRequestIdsThatWaitEndTheReading() throws IOException {
    data.segment(1, 1, onces(1, 60));
    data.mark(60, 0);
    IdFile unused = data.ids(55, 55);
    NoIdFiles disk = new NoIdFiles();
    IOException why = assertThrows(IOException.class, () -> data.read(disk));
    assertEquals("injected: 0000000000000001.ids.tmp", why.getMessage());
    assertEquals(RequestIds.WAITING_MAX + 1, disk.tried);
  }

  @Test
  void theIdentityIsThatOfTheDirectory() throws IOException {
    data.segment(1, 1, frames(1, 3));
    data.mark(3, 0);
    long other = IDENTITY ^ 1;
    Files.writeString(path.resolve("format"), "quipu-engine 9\nidentity %016x\n".formatted(other));
    HighWater.create(new FileDisk(), path, other, new HighWater.Mark(3, 6, 0, 0));
    assertEquals(Damage.SEGMENT_HEAD, damage().damage());
  }
}
