package dev.quipu.engine.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** Frames have the documented format, and incomplete frames are rejected. */
final class FrameTest {
  private static final long IDENTITY = 0x0102_0304_0506_0708L;
  private static final byte[] PAYLOAD = {9, 8, 7, 6, 5};
  private static final int LENGTH = 48; // 40 bytes of head, 5 of payload, 3 of padding
  private static final int OFFSET = 24;
  private static final Frame.Head HEAD = new Frame.Head(5, 3, 1L << 40, 1L << 41, 1L << 42);

  private final Frame frame = new Frame(IDENTITY);

  private ByteBuffer sealed(byte[] payload) {
    ByteBuffer out = ByteBuffer.allocate(200);
    Arrays.fill(out.array(), (byte) 0xff); // of an earlier frame
    out.position(40).put(payload);
    frame.seal(out, HEAD.commands(), HEAD.number(), HEAD.commandsBefore(), HEAD.timeMillis());
    return out;
  }

  /** A frame after other bytes. */
  private ByteBuffer stored() {
    ByteBuffer in = ByteBuffer.allocate(OFFSET + LENGTH);
    return in.put(OFFSET, sealed(PAYLOAD), 0, LENGTH);
  }

  @Test
  void aFrameHasTheDocumentedLayout() {
    ByteBuffer covered = ByteBuffer.allocate(28 + 5);
    covered.putInt(3).putLong(1L << 40).putLong(1L << 41).putLong(1L << 42).put(PAYLOAD);
    CRC32C crc = new CRC32C();
    crc.update(new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
    crc.update(covered.array());
    ByteBuffer expected = ByteBuffer.allocate(LENGTH);
    expected.put(new byte[] {'Q', 'P', 'F', 'R'}).putInt(5).putInt((int) crc.getValue());
    expected.put(covered.array());
    assertEquals(expected.clear(), sealed(PAYLOAD));
  }

  @Test
  void aFrameEndsAtAMultipleOfEightBytes() {
    assertEquals(40, Frame.frameBytes(0));
    assertEquals(48, Frame.frameBytes(1));
    assertEquals(48, Frame.frameBytes(8));
    assertEquals(56, Frame.frameBytes(9));
    assertEquals(LENGTH, HEAD.frameBytes());
    for (int length = 0; length <= 16; length++) {
      assertEquals(Frame.frameBytes(length), sealed(new byte[length]).limit());
    }
  }

  @Test
  void aFrameIsReadWhereverItLies() {
    assertEquals(HEAD, frame.read(stored(), OFFSET));
    assertEquals(HEAD, frame.read(sealed(PAYLOAD), 0));
    assertNull(frame.read(stored(), OFFSET - 8));
    assertNull(new Frame(IDENTITY + 1).read(stored(), OFFSET), "of another directory");
  }

  @Test
  void aFrameMayHaveNoPayload() {
    ByteBuffer in = sealed(new byte[0]);
    assertEquals(40, in.limit());
    Frame.Head head = frame.read(in, 0);
    assertNotNull(head);
    assertEquals(0, head.payloadBytes());
  }

  @Test
  void everyFlippedBitOfHeadAndPayloadIsDetected() {
    for (int bit = 0; bit < 8 * (40 + PAYLOAD.length); bit++) {
      ByteBuffer in = stored();
      int at = OFFSET + bit / 8;
      in.put(at, (byte) (in.get(at) ^ 1 << bit % 8));
      assertNull(frame.read(in, OFFSET), "bit " + bit);
    }
  }

  /** Its padding may be missing. */
  @Test
  void aTruncatedFrameIsInvalid() {
    ByteBuffer in = stored();
    for (int limit = OFFSET; limit < OFFSET + 40 + PAYLOAD.length; limit++) {
      assertNull(frame.read(in.limit(limit), OFFSET), "limit " + limit);
      in.clear();
    }
    assertEquals(HEAD, frame.read(in.limit(OFFSET + 40 + PAYLOAD.length), OFFSET));
    assertNull(frame.read(in.clear(), in.limit()));
  }
}
