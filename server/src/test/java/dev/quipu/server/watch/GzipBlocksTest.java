package dev.quipu.server.watch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

/** Blocks in any order are one gzip stream, and each is complete when it is there. */
final class GzipBlocksTest {
  private final Random random = new Random(7);

  private byte[] bytes(int length, int different) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) random.nextInt(different);
    }
    return bytes;
  }

  @Test
  void blocksOfAllSizesAreReadAtOnce() throws IOException {
    List<byte[]> events =
        IntStream.of(1, 2, 255, 256, 1_399, 1_400, 16_383, 16_384, 16_385, 65_536, 1 << 20)
            .boxed()
            .flatMap(
                length -> List.of(bytes(length, 2), bytes(length, 40), bytes(length, 256)).stream())
            .toList();
    ByteArrayOutputStream expected = new ByteArrayOutputStream();
    ByteArrayOutputStream sent = new ByteArrayOutputStream();
    sent.writeBytes(GzipBlocks.header());
    for (int i = 0; i < 200; i++) {
      byte[] event = events.get(random.nextInt(events.size()));
      expected.writeBytes(event);
      sent.writeBytes(GzipBlocks.of(event));
      if (i % 20 == 0) {
        assertArrayEquals(expected.toByteArray(), readable(sent.toByteArray(), expected.size()));
      }
    }
  }

  /** Reads what an unfinished stream has. */
  private static byte[] readable(byte[] stream, int length) throws IOException {
    try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(stream))) {
      return in.readNBytes(length);
    }
  }

  @Test
  void whatRepeatsIsSmaller() {
    byte[] event =
        "{\"name\":\"views/a\",\"value\":\"1\"},".repeat(1_000).getBytes(StandardCharsets.UTF_8);
    assertTrue(GzipBlocks.of(event).length < event.length / 20);
    assertEquals(5 + 100, GzipBlocks.of(new byte[100]).length);
  }
}
