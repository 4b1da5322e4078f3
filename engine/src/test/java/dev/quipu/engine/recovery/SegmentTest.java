package dev.quipu.engine.recovery;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.RecordingDisk;
import dev.quipu.engine.log.Log;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A log segment is identified by its head, and a part of it can be rewritten. */
final class SegmentTest {
  private static final long IDENTITY = WrittenDirectory.IDENTITY;
  private static final int HEAD = WrittenDirectory.HEAD;

  private final RecordingDisk disk = new RecordingDisk();
  private final WrittenDirectory data;

  SegmentTest(@TempDir Path path) throws IOException {
    this.data = new WrittenDirectory(path);
  }

  @Test
  void aHeadIdentifiesItsSegment() throws IOException {
    Path path = data.segment(7, 40);
    assertEquals(new Log.Segment(7, 40, path), Log.readHead(disk, path, IDENTITY));
    path = data.segmentOf(HEAD, 8, 41);
    assertEquals(new Log.Segment(8, 41, path), Log.readHead(disk, path, IDENTITY));
  }

  @Test
  void aHeadOfAnotherDirectoryOrNameOrWithADamagedByteIsInvalid() throws IOException {
    Path path = data.segment(7, 40);
    assertThrows(DamageException.class, () -> Log.readHead(disk, path, IDENTITY + 1));
    byte[] whole = Files.readAllBytes(path);
    for (int i = 0; i < 36; i++) {
      byte[] damaged = whole.clone();
      damaged[i] ^= 8;
      Files.write(path, damaged);
      DamageException why =
          assertThrows(DamageException.class, () -> Log.readHead(disk, path, IDENTITY));
      assertEquals(Damage.SEGMENT_HEAD, why.damage());
      assertEquals(path, why.file());
    }
    Files.write(path, Arrays.copyOf(whole, HEAD - 1));
    assertThrows(DamageException.class, () -> Log.readHead(disk, path, IDENTITY));
    Path other = data.log(1);
    Files.write(other, whole);
    assertThrows(DamageException.class, () -> Log.readHead(disk, other, IDENTITY));
    byte[] magic = whole.clone();
    magic[0] ^= 1;
    CRC32C crc = new CRC32C(); // the checksum is right, but it is not a segment
    crc.update(ByteBuffer.allocate(8).putLong(IDENTITY).flip());
    crc.update(magic, 0, 32);
    Files.write(path, ByteBuffer.wrap(magic).putInt(32, (int) crc.getValue()).array());
    assertThrows(DamageException.class, () -> Log.readHead(disk, path, IDENTITY));
  }

  @Test
  void aLongPartIsWrittenAgainByteForByte() throws IOException {
    int from = 4_100;
    int to = from + 2 * (1 << 20) + 24;
    byte[] content = new byte[to + 50];
    new Random(1).nextBytes(content);
    Path file = data.path.resolve("a.log");
    Files.write(file, content);
    Log.writeAgain(disk, file, from, to);
    assertArrayEquals(content, Files.readAllBytes(file));
    assertEquals(
        List.of(
            "write a.log 4100 1048576",
            "write a.log 1052676 1048576",
            "write a.log 2101252 24",
            "sync a.log",
            "close a.log"),
        disk.takeDone());
    Log.writeAgain(disk, file, 10, 10);
    assertEquals(List.of("sync a.log", "close a.log"), disk.takeDone());
  }
}
