package dev.quipu.engine.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.RecordingDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The last mark is read, or the previous one if the last is damaged. */
final class HighWaterTest {
  private static final long IDENTITY = 0x1234_5678_9abc_def0L;
  private static final int SLOT = 512;
  private static final int BYTES = 36; // of a mark

  private static final HighWater.Mark FIRST = new HighWater.Mark(1, 10, 100, -1);
  private static final HighWater.Mark SAME_FRAME = new HighWater.Mark(1, 10, 101, 7);
  private static final HighWater.Mark LAST = new HighWater.Mark(1L << 40, 1L << 41, 90, 1L << 42);

  @TempDir Path directory;
  private final Disk disk = new FileDisk();

  @BeforeEach
  void create() throws IOException {
    HighWater.create(disk, directory, IDENTITY, FIRST);
  }

  private HighWater.Mark read() throws IOException {
    return HighWater.read(disk, directory, IDENTITY);
  }

  @Test
  void theLastMarkIsRead() throws IOException {
    assertEquals(FIRST, read());
    for (HighWater.Mark mark : List.of(SAME_FRAME, LAST)) {
      try (HighWater highWater = HighWater.open(disk, directory, IDENTITY, mark)) {
        assertEquals(mark, read());
        highWater.write(new HighWater.Mark(mark.frame(), 5, mark.ageMillis() + 1, 6));
        assertEquals(5, read().commands(), "the frame is the same, and the age above");
        highWater.write(new HighWater.Mark(mark.frame() + 1, 3, 0, 6));
        assertEquals(3, read().commands(), "the frame is above, and the age below");
      }
      Files.delete(directory.resolve(HighWater.FILE));
      create();
    }
  }

  @Test
  void thePreviousMarkIsReadIfTheLastIsDamaged() throws IOException {
    Path file = directory.resolve(HighWater.FILE);
    try (HighWater highWater = HighWater.open(disk, directory, IDENTITY, SAME_FRAME)) {
      highWater.write(LAST);
    }
    byte[] whole = Files.readAllBytes(file);
    int lastSlot = slotOf(whole, LAST);
    for (int i = 0; i < BYTES; i++) {
      byte[] damaged = whole.clone();
      damaged[lastSlot * SLOT + i] ^= 4;
      Files.write(file, damaged);
      assertEquals(SAME_FRAME, read(), "byte " + i);
      damaged[(1 - lastSlot) * SLOT + BYTES - 1 - i] ^= 4;
      Files.write(file, damaged);
      DamageException both = assertThrows(DamageException.class, this::read);
      assertEquals(Damage.HIGH_WATER, both.damage());
    }
  }

  private static int slotOf(byte[] file, HighWater.Mark mark) {
    ByteBuffer in = ByteBuffer.wrap(file);
    return in.getLong(0) == mark.frame() && in.getLong(16) == mark.ageMillis() ? 0 : 1;
  }

  @Test
  void theMarkOfAnotherDirectoryIsInvalid() throws IOException {
    assertThrows(DamageException.class, () -> HighWater.read(disk, directory, IDENTITY + 1));
    Path file = directory.resolve(HighWater.FILE);
    Files.write(file, new byte[BYTES - 1]);
    assertThrows(DamageException.class, this::read);
    Files.delete(file);
    assertThrows(DamageException.class, this::read);
  }

  @Test
  void theSlotsAlternateAndAreSyncedOnDemand() throws IOException {
    RecordingDisk recording = new RecordingDisk();
    HighWater highWater = HighWater.open(recording, directory, IDENTITY, SAME_FRAME);
    assertEquals(
        List.of("write highwater 0 36", "write highwater 548 8", "sync highwater"),
        recording.takeDone(),
        "an end is erased before anything is appended");
    highWater.write(LAST);
    assertEquals(List.of("write highwater 512 36"), recording.takeDone());
    highWater.sync();
    highWater.sync();
    assertEquals(List.of("sync highwater"), recording.takeDone(), "there is nothing more to sync");
    highWater.write(LAST);
    highWater.close();
    assertEquals(
        List.of("write highwater 0 36", "sync highwater", "close highwater"), recording.takeDone());
  }

  @Test
  void theEndOfTheLogIsKeptUntilItContinues() throws IOException {
    HighWater.Mark closed = new HighWater.Mark(1, 10, 101, 7, 5_000);
    close(closed);
    assertEquals(closed, read());
    byte[] ofClosed = Files.readAllBytes(directory.resolve(HighWater.FILE));
    HighWater.open(disk, directory, IDENTITY, SAME_FRAME).close();
    assertEquals(SAME_FRAME, read());
    byte[] continued = Files.readAllBytes(directory.resolve(HighWater.FILE));
    continued[(1 - slotOf(ofClosed, closed)) * SLOT] ^= 1; // the slot that was written on open
    Files.write(directory.resolve(HighWater.FILE), continued);
    assertEquals(SAME_FRAME, read(), "the other slot has no end either");
  }

  @Test
  void aDamagedEndIsNoEnd() throws IOException {
    HighWater.Mark closed = new HighWater.Mark(2, 10, 101, 7, 5_000);
    close(closed);
    byte[] whole = Files.readAllBytes(directory.resolve(HighWater.FILE));
    int at = slotOf(whole, closed) * SLOT;
    for (int i = BYTES; i < BYTES + 8; i++) {
      byte[] damaged = whole.clone();
      damaged[at + i] ^= 4;
      Files.write(directory.resolve(HighWater.FILE), damaged);
      assertEquals(new HighWater.Mark(2, 10, 101, 7), read(), "byte " + i);
    }
  }

  private void close(HighWater.Mark closed) throws IOException {
    try (HighWater highWater = HighWater.open(disk, directory, IDENTITY, FIRST)) {
      highWater.write(closed);
    }
  }

  @Test
  void aFileWithoutAnyMarkIsFilledAgain() throws IOException {
    Files.write(directory.resolve(HighWater.FILE), new byte[2 * SLOT]);
    HighWater.open(disk, directory, IDENTITY, LAST).close();
    assertEquals(LAST, read());
  }

  @Test
  void aMarkOfAnEarlierMomentDoesNotReplaceALaterOne() throws IOException {
    try (HighWater highWater = HighWater.open(disk, directory, IDENTITY, SAME_FRAME)) {
      highWater.write(new HighWater.Mark(0, 0, 1_000, 0));
      assertEquals(SAME_FRAME, read(), "its frame is below, whatever its age");
    }
  }
}
