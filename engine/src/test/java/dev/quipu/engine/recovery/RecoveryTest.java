package dev.quipu.engine.recovery;

import static dev.quipu.engine.recovery.WrittenDirectory.FRAME;
import static dev.quipu.engine.recovery.WrittenDirectory.HEAD;
import static dev.quipu.engine.recovery.WrittenDirectory.REMEDY;
import static dev.quipu.engine.recovery.WrittenDirectory.damages;
import static dev.quipu.engine.recovery.WrittenDirectory.flip;
import static dev.quipu.engine.recovery.WrittenDirectory.flipped;
import static dev.quipu.engine.recovery.WrittenDirectory.frame;
import static dev.quipu.engine.recovery.WrittenDirectory.frames;
import static dev.quipu.engine.recovery.WrittenDirectory.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.ForwardingDisk;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is read from a log, where it ends, and why. */
final class RecoveryTest {

  private final Path path;
  private final WrittenDirectory data;

  RecoveryTest(@TempDir Path path) throws IOException {
    this.path = path;
    this.data = new WrittenDirectory(path);
  }

  private DamageException damage() {
    return assertThrows(DamageException.class, data::read);
  }

  private void expect(Damage damage, Path file, int offset, String detail) {
    DamageException found = damage();
    assertEquals(damage, found.damage());
    assertEquals(file, found.file());
    assertEquals(offset, found.offset());
    assertEquals(
        "%s in %s at byte %d: %s".formatted(damage, file, offset, detail) + REMEDY,
        found.getMessage());
  }

  @Test
  void aDirectoryWithoutAnythingIsEmpty() throws IOException {
    Recovered found = data.read();
    assertEquals(0, found.state().frame);
    assertEquals(List.of(), found.segments());
    assertEquals(List.of(), found.notes());
    assertEquals(0, value(found));
    assertEquals(HEAD, found.end());
    assertEquals(HEAD, found.syncedEnd());
    assertEquals(WrittenDirectory.IDENTITY, found.identity());
  }

  @Test
  void allFramesAreReadAndTheNextFollowsThem() throws IOException {
    Path log = data.segment(1, 1, frames(1, 3));
    data.mark(3, 2_999);
    Recovered found = data.read();
    assertEquals(3, value(found));
    assertEquals(3, found.state().frame);
    assertEquals(6, found.state().commands);
    assertEquals(3_000, found.state().timeMillis);
    assertEquals(new HighWater.Mark(3, 6, 2_999, 77), found.highWater());
    assertEquals(List.of(new Log.Segment(1, 1, log)), found.segments());
    assertEquals(HEAD + 3 * FRAME, found.end());
    assertEquals(HEAD + 3 * FRAME, found.syncedEnd());
    assertEquals(3 * FRAME, found.logBytes());
    assertFalse(found.isTailStale());
    assertEquals(List.of(), found.damages());
    assertEquals(List.of(), found.notes());
    assertEquals(0, found.validAfterDamage());
    data.mark(3, 3_001);
    assertEquals(3_001, data.read().state().timeMillis, "the time has gone on since");
  }

  @Test
  void aClosedLogIsReadToItsEndAndAnyOtherWhole() throws IOException {
    Path log = data.segment(1, 1, frames(1, 3));
    Files.write(log, frame(5), StandardOpenOption.APPEND); // is damage, if it is read
    data.closed(3, HEAD + 3 * FRAME);
    Recovered found = data.read();
    assertEquals(3, value(found));
    assertEquals(HEAD + 3 * FRAME, found.end());
    assertEquals(HEAD + 3 * FRAME, found.syncedEnd());
    data.segment(1, 1, frames(1, 3));
    for (int frame = 1; frame <= 3; frame++) {
      int near = HEAD + frame * FRAME;
      for (int end :
          List.of(1, HEAD - 1, HEAD, near - FRAME, near - 1, near, near + 1, near + FRAME)) {
        data.closed(frame, end);
        Recovered read = data.read();
        assertEquals(end == HEAD + frame * FRAME ? frame : 3, value(read), frame + ", " + end);
      }
    }
  }

  @Test
  void aCheckReadsAClosedLogWhole() throws IOException {
    data.segment(1, 1, frames(1, 3));
    data.closed(2, HEAD + 2 * FRAME);
    assertEquals(3, value(data.readLeniently()));
  }

  @Test
  void framesAfterTheMarkCountAndMayNotBeDurable() throws IOException {
    data.segment(1, 1, frames(1, 3));
    for (int mark = 0; mark <= 3; mark++) {
      data.mark(mark, 0);
      Recovered found = data.read();
      assertEquals(3, value(found));
      assertEquals(HEAD + 3 * FRAME, found.end());
      assertEquals(HEAD + mark * FRAME, found.syncedEnd());
    }
    data.segment(2, 4, frames(4, 6));
    for (int mark = 2; mark <= 6; mark++) { // those of the first segment were synced at its end
      data.mark(mark, 0);
      Recovered found = data.read();
      assertEquals(6 * FRAME, found.logBytes(), "without what was only allocated");
      assertEquals(6, value(found));
      assertEquals(HEAD + Math.max(0, mark - 3) * FRAME, found.syncedEnd());
    }
    data.segment(2, 4, frame(4));
    data.mark(4, 0);
    assertEquals(HEAD + FRAME, data.read().syncedEnd());
  }

  @Test
  void aLogThatEndsBeforeTheMarkIsDamaged() throws IOException {
    Path log = data.segment(1, 1, frames(1, 3));
    data.mark(5, 9_000);
    expect(
        Damage.LOG_CUT,
        log,
        HEAD + 3 * FRAME,
        "the log ends with frame 3, but frame 5 was acknowledged: 4 commands are missing");
    Recovered found = data.readLeniently();
    assertEquals(List.of(Damage.LOG_CUT), damages(found));
    assertEquals(3, value(found));
    assertEquals(9_000, found.state().timeMillis);
  }

  @Test
  void aLogThatEndsBeforeItsRequestIdsIsDamaged() throws IOException {
    IdFile unused = data.ids(1, 2);
    expect(
        Damage.LOG_CUT,
        path.resolve("log"),
        HEAD,
        "the log ends with frame 0, but frame 2 was acknowledged: 0 commands are missing");
  }

  @Test
  void aFrameThatWasNeverAcknowledgedMayBeTorn() throws IOException {
    Path log = data.segment(1, 1, frames(1, 3), flipped(frame(4)));
    int at = HEAD + 3 * FRAME;
    data.mark(3, 0);
    Recovered found = data.read();
    assertEquals(3, value(found));
    assertEquals(at, found.end());
    assertFalse(found.isTailStale());
    assertEquals(
        List.of(
            "TORN_TAIL in %s at byte %d: frame 4 was never acknowledged and is overwritten"
                .formatted(log, at)),
        found.notes());
    data.mark(4, 0);
    expect(
        Damage.FLIPPED_FRAME,
        log,
        at,
        "frame 4 does not match its checksum, and it was acknowledged;"
            + " all before it can be salvaged");
    data.mark(5, 0);
    assertEquals(Damage.FLIPPED_FRAME, damage().damage());
    assertEquals(List.of(Damage.FLIPPED_FRAME), damages(data.readLeniently()));
  }

  @Test
  void bytesThatDoNotBeginTheNextFrameAreNotATornFrame() throws IOException {
    data.mark(3, 0);
    byte[] otherMagic = flipped(frame(4));
    otherMagic[0] ^= 1;
    for (byte[] behind :
        List.of(otherMagic, flipped(frame(5)), flipped(frame(3)), frame(3), frame(2))) {
      data.segment(1, 1, frames(1, 3), behind);
      Recovered found = data.read();
      assertEquals(3, value(found));
      assertEquals(HEAD + 3 * FRAME, found.end());
      assertEquals(List.of(), found.notes());
    }
    byte[] torn = flipped(frame(4));
    data.segmentOf(HEAD + 3 * FRAME + 40, 1, 1, frames(1, 3), torn);
    assertEquals(1, data.read().notes().size(), "its head just fits");
    data.segmentOf(HEAD + 3 * FRAME + 39, 1, 1, frames(1, 3), torn);
    assertEquals(0, data.read().notes().size());
    data.segmentOf(HEAD + 3 * FRAME, 1, 1, frames(1, 3));
    assertEquals(HEAD + 3 * FRAME, data.read().end(), "not a byte is left");
  }

  @Test
  void aFrameThatOthersFollowIsDamaged() throws IOException {
    byte[] damaged = flipped(frame(2));
    Path log = data.segment(1, 1, frame(1), damaged, frames(3, 5), frame(4));
    String detail =
        "frame 2 does not match its checksum, and frames up to %d follow it;"
            + " all before it can be salvaged";
    expect(Damage.FLIPPED_FRAME, log, HEAD + FRAME, detail.formatted(5));
    Recovered found = data.readLeniently();
    assertEquals(List.of(Damage.FLIPPED_FRAME), damages(found));
    assertEquals(1, found.state().frame);
    assertEquals(2, found.state().commands);
    assertEquals(1, value(found));
    assertEquals(8, found.validAfterDamage(), "commands in the four frames that follow");
    byte[] least = frame(3, out -> {}); // a frame without records
    data.segmentOf(HEAD + 2 * FRAME + 40, 1, 1, frame(1), damaged, least);
    expect(Damage.FLIPPED_FRAME, log, HEAD + FRAME, detail.formatted(3));
    assertEquals(2, data.readLeniently().validAfterDamage());
  }

  @Test
  void framesOfAnEarlierUseOfTheSegmentDoNotFollow() throws IOException {
    data.mark(2, 0);
    data.segment(1, 1, frames(1, 2), new byte[FRAME], frames(1, 3), flipped(frame(9)));
    Recovered found = data.read();
    assertEquals(2, value(found));
    assertEquals(HEAD + 2 * FRAME, found.end());
    assertEquals(List.of(), found.notes());
  }

  @Test
  void unsyncedFramesAreDiscardedFromTheFirstGapOn() throws IOException {
    Files.createFile(path.resolve("unsynced"));
    Path log = data.segment(1, 1, frame(1), flipped(frame(2)), frame(3));
    data.mark(1, 0);
    Recovered found = data.read();
    assertEquals(1, value(found));
    assertEquals(HEAD + FRAME, found.end());
    assertTrue(found.isTailStale());
    assertEquals(0, found.validAfterDamage());
    String note =
        "UNSYNCED_TAIL in %s at byte %d: frames from 2 on were not synced and are discarded"
            .formatted(log, HEAD + FRAME);
    assertEquals(List.of(note), found.notes());
    data.segment(1, 1, frame(1), flipped(frame(2)));
    found = data.read();
    assertTrue(found.isTailStale());
    assertEquals(List.of(note), found.notes());
    data.segment(1, 1, frame(1), new byte[FRAME], frame(3));
    assertTrue(data.read().isTailStale());
    data.segment(1, 1, frame(1));
    assertFalse(data.read().isTailStale(), "nothing is discarded");
  }

  @Test
  void framesUpToTheMarkWereSyncedWhateverTheDurability() throws IOException {
    Files.createFile(path.resolve("unsynced"));
    data.segment(1, 1, frame(1), flipped(frame(2)), frame(3));
    data.mark(2, 0);
    assertEquals(Damage.FLIPPED_FRAME, damage().damage());
    assertFalse(data.readLeniently().isTailStale());
  }

  @Test
  void aMissingSegmentIsNamed() throws IOException {
    data.segment(1, 1, frames(1, 3));
    data.segment(3, 7, frames(7, 9));
    data.mark(9, 0);
    expect(Damage.SEGMENT_MISSING, data.log(2), 0, "the segment is missing");
    Recovered found = data.readLeniently();
    assertEquals(List.of(Damage.SEGMENT_MISSING), damages(found));
    assertEquals(3, value(found));
    assertEquals(1, found.segments().size());
    Files.delete(data.log(1));
    expect(Damage.SEGMENT_MISSING, data.log(2), 0, "the segment is missing");
    found = data.readLeniently();
    assertEquals(0, found.state().frame);
    assertEquals(List.of(), found.segments());
    Files.delete(data.log(3));
    expect(Damage.SEGMENT_MISSING, data.log(1), 0, "the segment is missing");
    data.mark(0, 0);
    data.segment(3, 7, frames(7, 9));
    expect(Damage.SEGMENT_MISSING, data.log(2), 0, "the segment is missing");
  }

  @Test
  void aSegmentThatEndsBeforeTheNextBeginsIsDamaged() throws IOException {
    Path log = data.segment(1, 1, frames(1, 2));
    data.segment(2, 4, frames(4, 5));
    data.mark(2, 0);
    expect(
        Damage.FLIPPED_FRAME,
        log,
        HEAD + 2 * FRAME,
        "frame 3 does not match its checksum, and it was acknowledged;"
            + " all before it can be salvaged");
    Recovered found = data.readLeniently();
    assertEquals(2, value(found), "what follows cannot be used");
    assertEquals(HEAD + 2 * FRAME, found.end());
  }

  @Test
  void aSegmentWithoutItsHeadIsReadByItsNameAndFirstFrame() throws IOException {
    Path first = data.segment(1, 1, frames(1, 3));
    Path second = data.segment(2, 4, frames(4, 6));
    data.mark(6, 0);
    flip(first, 3);
    flip(second, 3);
    expect(Damage.SEGMENT_HEAD, second, 0, "the header is damaged");
    Recovered found = data.readLeniently();
    assertEquals(List.of(Damage.SEGMENT_HEAD, Damage.SEGMENT_HEAD), damages(found));
    assertEquals(
        List.of(new Log.Segment(1, 1, first), new Log.Segment(2, 4, second)), found.segments());
    assertEquals(6, value(found));
  }

  @Test
  void nothingAfterAnUnreadableSegmentIsUsed() throws IOException {
    Path first = data.segment(1, 1, frames(1, 3));
    Path second = data.segment(2, 4, flipped(frame(4)));
    data.segment(3, 5, frames(5, 6));
    data.mark(6, 0);
    flip(second, 3);
    Recovered found = data.readLeniently();
    assertEquals(List.of(new Log.Segment(1, 1, first)), found.segments());
    assertEquals(3, value(found));
  }

  @Test
  void aRecordThatCannotBeAppliedEndsTheReadableLog() throws IOException {
    byte[] unknown = frame(2, out -> out.put((byte) 99));
    Path log = data.segment(1, 1, frame(1), unknown);
    data.segment(2, 3, frames(3, 4));
    data.mark(4, 0);
    expect(
        Damage.FLIPPED_FRAME,
        log,
        HEAD + FRAME,
        "frame 2 has a record that cannot be applied"
            + " (java.lang.IllegalStateException: unknown record kind 99);"
            + " all before it can be salvaged");
    assertInstanceOf(IllegalStateException.class, damage().getSuppressed()[0]);
    Recovered found = data.readLeniently();
    assertEquals(List.of(Damage.FLIPPED_FRAME), damages(found));
    assertEquals(1, found.state().frame);
    assertEquals(1, value(found));
    assertEquals(HEAD + FRAME, found.end());
  }

  @Test
  void aSegmentThatIsTooLargeForTheHeapIsRejected() throws IOException {
    Path log = data.segment(1, 1, frames(1, 3));
    long heap = Runtime.getRuntime().maxMemory();
    long most = heap - (8 << 20);
    for (long size : List.of(Math.min(most + 1, Integer.MAX_VALUE), 2L * HEAD)) {
      Disk disk =
          new ForwardingDisk(new FileDisk()) {
            @Override
            public long size(Path file) {
              return size;
            }

            @Override
            public ByteBuffer buffer(int bytes) {
              assertTrue(bytes <= 2 * HEAD, "more than the segment");
              return super.buffer(bytes);
            }
          };
      if (size == 2L * HEAD) {
        assertEquals(3, value(data.read(disk)));
      } else if (size > most) { // otherwise no segment is too large
        IOException why = assertThrows(IOException.class, () -> data.read(disk));
        assertEquals(
            "%s is too large for a heap of %d MiB: start with a larger one (-Xmx)"
                .formatted(log, heap >> 20),
            why.getMessage());
      }
    }
  }

  @Test
  void aShorterSegmentIsReadWithoutWhatThePreviousOneLeftInMemory() throws IOException {
    data.segment(1, 1, frames(1, 2), new byte[FRAME], frames(3, 4));
    data.segmentOf(HEAD + FRAME, 2, 3, frame(3));
    data.mark(3, 0);
    assertEquals(3, value(data.read()));
    byte[] rest = Files.readAllBytes(data.log(2));
    Files.write(data.log(2), Arrays.copyOf(rest, HEAD));
    assertEquals(Damage.LOG_CUT, damage().damage());
  }
}
