package dev.quipu.server.http.message;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.Arrays;

/*
 * What is held while more of it is awaited is reserved first. A small body that comes in one piece,
 * as those of single adds do, is never held: it needs no memory that others could have used up.
 */

/** The body of a request while it arrives. Lives on an event loop. */
public final class Body {
  /** A body up to here needs no reservation if it comes in one piece. */
  public static final int SMALL_BYTES_MAX = 4 << 10;

  private static final byte[] NONE = {};
  private static final int FIRST_BYTES = 1 << 10;

  private final Reservation reservation;
  private final long declaredBytes;
  private byte[] bytes = NONE;
  private int length;
  private long reservedBytes;

  /**
   * Creates an empty body.
   *
   * @param declaredBytes Content-Length; -1 if unknown
   */
  public Body(long declaredBytes, Reservation reservation) {
    this.declaredBytes = declaredBytes;
    this.reservation = reservation;
  }

  /**
   * Reserves the memory of a body that is declared to be large, and of its answer: of several that
   * come together, some are served then, where otherwise each could take a part and none enough.
   *
   * @return whether it could
   */
  public boolean begin() {
    if (declaredBytes <= SMALL_BYTES_MAX) {
      return true;
    }
    boolean reserved = reserve(declaredBytes);
    return reserved && reservation.tryGrowTo(declaredBytes + Lines.expectedBytes(declaredBytes));
  }

  public int length() {
    return length;
  }

  /**
   * Takes the next piece.
   *
   * @param isLast whether it ends the body
   * @return whether there was memory for it
   */
  public boolean add(ByteBuf piece, boolean isLast) {
    int end = length + piece.readableBytes();
    if (end > bytes.length && !grow(end, isLast)) {
      return false;
    }
    piece.readBytes(bytes, length, end - length);
    length = end;
    return true;
  }

  private boolean grow(int end, boolean isLast) {
    if (isLast && length == 0 && end <= SMALL_BYTES_MAX) {
      bytes = new byte[end];
      return true;
    }
    int wanted =
        declaredBytes >= end
            ? (int) declaredBytes
            : Math.max(end, Math.max(FIRST_BYTES, 2 * bytes.length));
    if (!reserve(wanted)) {
      return false;
    }
    bytes = Arrays.copyOf(bytes, wanted);
    return true;
  }

  private boolean reserve(long all) {
    if (all > reservedBytes) {
      if (!reservation.tryGrow(all - reservedBytes)) {
        return false;
      }
      reservedBytes = all;
    }
    return true;
  }

  /** Drops what was collected; its memory stays reserved until the request ends. */
  public void discard() {
    bytes = NONE;
    length = 0;
  }

  /** Returns all bytes, without a copy. */
  public ByteBuffer all() {
    return ByteBuffer.wrap(bytes, 0, length);
  }
}
