package dev.quipu.engine.recovery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.ForwardingDisk;
import dev.quipu.engine.log.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Frames are found as in a buffer with all bytes of the segment. */
final class SegmentReaderTest {
  private static final long IDENTITY = WrittenDirectory.IDENTITY;
  private static final int PAGE = 4_096;
  private static final int SIZE = 64 * 2 * PAGE; // read in pieces of two pages

  private final List<Integer> buffers = new ArrayList<>();
  private final SegmentReader reader;
  private final Path path;

  SegmentReaderTest(@TempDir Path directory) {
    this.path = directory.resolve("segment");
    this.reader =
        new SegmentReader(
            new ForwardingDisk(new FileDisk()) {
              @Override
              public ByteBuffer buffer(int bytes) {
                buffers.add(bytes);
                return super.buffer(bytes);
              }
            },
            IDENTITY);
  }

  @Test
  void everyFrameIsFoundWhereverItBeginsAndEnds() throws IOException {
    Random random = new Random(1);
    for (int round = 0; round < 15; round++) {
      ByteBuffer segment = ByteBuffer.allocate(SIZE - random.nextInt(3) * (PAGE - 8));
      List<Integer> places = new ArrayList<>();
      for (int at = 8 * random.nextInt(SIZE / 8); at < SIZE - 3 * PAGE; ) {
        ByteBuffer frame = frame(round, random);
        boolean isTorn = random.nextInt(4) == 0;
        segment.put(at, frame, 0, isTorn ? frame.remaining() / 2 : frame.remaining());
        places.add(at);
        at += frame.remaining() + 8 * random.nextInt(1 << random.nextInt(15));
      }
      for (int at = 0; at < SIZE; at += PAGE / 2) {
        places.add(at);
      }
      Files.write(path, segment.array());
      for (int at : places) { // each first in its turn: a frame may be the reason to read all
        SegmentReader each = at % (2 * PAGE) == 0 ? reader : again();
        each.read(path, null);
        Frame.Head expected = new Frame(IDENTITY).read(segment, at);
        assertEquals(expected, each.frameAt(at));
        if (expected != null) {
          assertEquals(
              segment.slice(at + Frame.HEAD_BYTES, expected.payloadBytes()),
              each.payload(at, expected));
        }
        assertEquals(find(segment, at), each.find(at, 1, Long.MAX_VALUE));
      }
    }
  }

  @Test
  void aFrameInTheLastBytesIsFound() throws IOException {
    ByteBuffer segment = ByteBuffer.allocate(SIZE);
    ByteBuffer frame = frame(ByteBuffer.wrap(new byte[16]), 7);
    for (int at : List.of(SIZE - frame.remaining(), SIZE - PAGE, SIZE - PAGE - 8, 2 * PAGE)) {
      Files.write(path, segment.clear().put(at, frame, 0, frame.remaining()).array());
      reader.read(path, null);
      assertTrue(reader.isFollowed(PAGE, 6));
      assertEquals(at, Objects.requireNonNull(reader.find(PAGE, 1, 7)).at());
      segment.put(at, new byte[frame.remaining()]);
    }
  }

  @Test
  void aFrameThatEndsWithPagesOfZerosIsFound() throws IOException {
    for (int zeros : List.of(PAGE, 2 * PAGE, 7 * PAGE, SIZE - PAGE - Frame.HEAD_BYTES)) {
      ByteBuffer frame = frame(ByteBuffer.allocate(zeros), 7);
      Files.write(path, ByteBuffer.allocate(SIZE).put(PAGE, frame, 0, frame.remaining()).array());
      reader.read(path, null);
      Frame.Head head = Objects.requireNonNull(reader.frameAt(PAGE));
      assertEquals(ByteBuffer.allocate(zeros), reader.payload(PAGE, head));
      reader.read(path, null);
      assertTrue(reader.isFollowed(0, 6));
    }
  }

  @Test
  void theZerosAtTheEndAreNotKept() throws IOException {
    ByteBuffer segment = ByteBuffer.allocate(SIZE);
    segment.put(3 * PAGE, (byte) 1);
    Files.write(path, segment.array());
    reader.read(path, null);
    assertEquals(List.of(2 * PAGE, 5 * PAGE), buffers);
    Files.write(path, new byte[SIZE]);
    reader.read(path, null);
    assertEquals(List.of(2 * PAGE, 5 * PAGE, 2 * PAGE), buffers);
    assertNull(reader.find(0, 0, Long.MAX_VALUE));
  }

  private SegmentReader again() {
    return new SegmentReader(new FileDisk(), IDENTITY);
  }

  /** Returns a frame whose payload begins with a one, or not, and ends with many zeros. */
  private static ByteBuffer frame(int number, Random random) {
    byte[] payload = new byte[random.nextInt(1 << random.nextInt(14))];
    for (int i = 0; i < payload.length; i += 1 + random.nextInt(payload.length)) {
      payload[i] = (byte) random.nextInt(2);
    }
    return frame(ByteBuffer.wrap(payload), number);
  }

  private static ByteBuffer frame(ByteBuffer payload, long number) {
    ByteBuffer frame = ByteBuffer.allocate(Frame.frameBytes(payload.remaining()));
    frame.position(Frame.HEAD_BYTES).put(payload);
    new Frame(IDENTITY).seal(frame, 1, number, 0, 0); // the time is zeros too
    return frame;
  }

  private static SegmentReader.@Nullable Found find(ByteBuffer segment, int from) {
    for (int at = from; at < segment.limit(); at += Frame.ALIGNMENT) {
      Frame.Head head = new Frame(IDENTITY).read(segment, at);
      if (head != null && head.number() >= 1) {
        return new SegmentReader.Found(at, head);
      }
    }
    return null;
  }
}
