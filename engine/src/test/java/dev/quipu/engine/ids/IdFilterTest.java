package dev.quipu.engine.ids;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.environment.FileDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A filter in a file has all of its ids, and few others. */
final class IdFilterTest {
  private static final long SEED = 5;

  @TempDir Path directory;

  private IdFilter filled(int count) throws IOException {
    IdFilterWriter filter = new IdFilterWriter(count);
    Random random = new Random(SEED);
    for (int i = 0; i < count; i++) {
      filter.add(random.nextLong());
    }
    IdFilter written = inFile(filter, 24);
    assertEquals(filter.blocks(), written.blocks());
    return written;
  }

  private IdFilter inFile(IdFilterWriter filter, int position) throws IOException {
    FileDisk disk = new FileDisk();
    Path path = directory.resolve("file");
    CRC32C crc = new CRC32C();
    long end;
    try (DiskFile file = disk.create(path)) {
      end = filter.write(file, position, crc);
      file.sync();
    }
    byte[] all = Files.readAllBytes(path);
    assertEquals(all.length, end);
    CRC32C expected = new CRC32C();
    expected.update(all, position, all.length - position);
    assertEquals(expected.getValue(), crc.getValue());
    return new IdFilter(ByteBuffer.wrap(all).slice(position, all.length - position), true);
  }

  /** More than one chunk, of 131,072 ids, and less. */
  @ParameterizedTest
  @ValueSource(ints = {1, 32, 33, 5_000, 131_072, 131_104, 400_000})
  void allIdsArePresent(int count) throws IOException {
    IdFilter filter = filled(count);
    Random random = new Random(SEED);
    for (int i = 0; i < count; i++) {
      assertTrue(filter.mayHold(random.nextLong()));
    }
    for (int i = 0; i < 1_000; i++) {
      long[] others = random.longs(1 + i % 64).toArray();
      long expected = 0;
      for (int at = 0; at < others.length; at++) {
        expected |= filter.mayHold(others[at]) ? 1L << at : 0;
      }
      assertEquals(expected, filter.mayHold(others, others.length));
    }
  }

  @Test
  void twoInAThousandOthersPass() throws IOException {
    IdFilter filter = filled(200_000);
    Random random = new Random(SEED + 1);
    long passed = random.longs(200_000).filter(filter::mayHold).count();
    assertTrue(passed < 200_000 / 400, passed + " passed");
  }
}
