package dev.quipu.engine.log;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Writes and checks frames. Not thread-safe.
 *
 * <pre>{@code
 * FRAME: the unit in which the log and snapshots are written and checked.
 *
 *   byte  0  int   magic
 *         4  int   length of the payload, in bytes
 *         8  int   CRC32C of the directory's identity and all bytes from 12 to the payload's end
 *        12  int   commands in this frame
 *        16  long  number of this frame: the number of the previous frame plus one
 *        24  long  commands in all frames before this one
 *        32  long  time, in milliseconds since 1970
 *        40  payload, then zeros up to a multiple of 8
 *
 * The identity is random and secret to the directory, so that no name or text that a user stores
 * can look like a frame, nor can a frame of another directory.
 * }</pre>
 */
public final class Frame {
  public static final int HEAD_BYTES = 40;
  public static final int ALIGNMENT = 8;
  public static final int MAGIC = 0x51504652; // "QPFR"

  private final long identity;
  private final CRC32C crc = new CRC32C();
  private final ByteBuffer identityBytes = ByteBuffer.allocate(Long.BYTES);

  public Frame(long identity) {
    this.identity = identity;
  }

  /** The fields of the header of a valid frame. */
  public record Head(
      int payloadBytes, int commands, long number, long commandsBefore, long timeMillis) {
    /** Returns the distance from the start of this frame to the next, in bytes. */
    public int frameBytes() {
      return Frame.frameBytes(payloadBytes);
    }
  }

  public static int frameBytes(int payloadBytes) {
    return (HEAD_BYTES + payloadBytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /**
   * Completes the frame in {@code buffer}, whose payload lies between {@link #HEAD_BYTES} and its
   * position, and prepares it for writing.
   */
  public void seal(
      ByteBuffer buffer, int commands, long number, long commandsBefore, long timeMillis) {
    int payload = buffer.position() - HEAD_BYTES;
    int end = frameBytes(payload);
    while (buffer.position() < end) {
      buffer.put((byte) 0);
    }
    buffer
        .putInt(0, MAGIC)
        .putInt(4, payload)
        .putInt(12, commands)
        .putLong(16, number)
        .putLong(24, commandsBefore)
        .putLong(32, timeMillis);
    buffer.putInt(8, checksum(buffer, 0, payload));
    buffer.flip();
  }

  /** Returns the header of the frame at {@code offset}; null if there is no valid frame. */
  public @Nullable Head read(ByteBuffer buffer, int offset) {
    if (offset + HEAD_BYTES > buffer.limit() || buffer.getInt(offset) != MAGIC) {
      return null;
    }
    int payload = buffer.getInt(offset + 4);
    if (payload < 0 || payload > buffer.limit() - offset - HEAD_BYTES) {
      return null;
    }
    if (buffer.getInt(offset + 8) != checksum(buffer, offset, payload)) {
      return null;
    }
    return new Head(
        payload,
        buffer.getInt(offset + 12),
        buffer.getLong(offset + 16),
        buffer.getLong(offset + 24),
        buffer.getLong(offset + 32));
  }

  private int checksum(ByteBuffer buffer, int offset, int payload) {
    crc.reset();
    crc.update(identityBytes.clear().putLong(identity).flip());
    crc.update(buffer.slice(offset + 12, HEAD_BYTES - 12 + payload));
    return (int) crc.getValue();
  }
}
