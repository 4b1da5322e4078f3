package dev.quipu.server.http.message;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.Arrays;

/*
 * Memory is reserved before a part of a body is kept. A small body that arrives in one piece, such
 * as that of a single add, needs no reservation: other clients cannot use up the memory for it.
 */

/** The body of a request while it arrives. Lives on an event loop. */
public final class Body {
  /** Longest body that needs no reservation if it arrives in one piece. */
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
   * Reserves the memory of a large declared body and of its reply at once. Otherwise several
   * concurrent bodies could each reserve a part, and none enough.
   *
   * @return whether the memory was reserved
   */
  public boolean begin() {
    if (declaredBytes <= SMALL_BYTES_MAX) {
      return true;
    }
    boolean reserved = reserve(declaredBytes);
    return reserved && reservation.tryGrowTo(declaredBytes + Lines.expectedBytes(declaredBytes));
  }

  /** Returns the number of bytes so far. */
  public int length() {
    return length;
  }

  /**
   * Appends a piece.
   *
   * @param isLast whether it is the last one
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

  /** Drops the content; its memory stays reserved until the request ends. */
  public void discard() {
    bytes = NONE;
    length = 0;
  }

  /** Returns all bytes, without a copy. */
  public ByteBuffer all() {
    return ByteBuffer.wrap(bytes, 0, length);
  }
}
