package dev.quipu.engine.ids;

import java.nio.ByteBuffer;

/**
 * An entry of an {@link IdTable} in few bytes.
 *
 * <pre>{@code
 * PACKED ENTRY: 20 to 41 bytes
 *
 *   head      one byte, before the id: kind - 1 << 7 | has a bounds mark << 6
 *             | size of ordinal - 1 << 4 | size of delta << 2 | size of value
 *   high, low the request id, 16 bytes
 *   ordinal   1 to 4 bytes, unsigned
 *   bounds    4 bytes, if there is a mark
 *   delta     1, 2, 4 or 8 bytes: sizes 0 to 3
 *   value     the same
 * }</pre>
 */
final class PackedEntry {
  static final int BYTES_MIN = 20;
  static final int BYTES_MAX = 41;

  private static final int ID_BYTES = 16;
  private static final int CANCELED = 1 << 7;
  private static final int HAS_BOUNDS = 1 << 6;
  private static final int ORDINAL_SHIFT = 4;
  private static final int DELTA_SHIFT = 2;
  private static final int SIZE = 3;

  private PackedEntry() {}

  private static int head(long[] from, int at) {
    long meta = from[at + 2];
    return (IdTable.kind(meta) == IdTable.CANCELED ? CANCELED : 0)
        | (IdTable.boundsMark(meta) == 0 ? 0 : HAS_BOUNDS)
        | ((ordinalBytes(IdTable.ordinal(meta)) - 1) << ORDINAL_SHIFT)
        | (sizeOf(from[at + 3]) << DELTA_SHIFT)
        | sizeOf(from[at + 4]);
  }

  private static int ordinalBytes(int ordinal) {
    return Math.max(1, (Integer.SIZE + 7 - Integer.numberOfLeadingZeros(ordinal)) / Byte.SIZE);
  }

  /** Returns the logarithm of the number of bytes. */
  private static int sizeOf(long number) {
    if (number == (byte) number) {
      return 0;
    }
    if (number == (short) number) {
      return 1;
    }
    return number == (int) number ? 2 : 3;
  }

  /** Returns the number of bytes of an entry with this head. */
  private static int bytes(int head) {
    int ordinal = ((head >> ORDINAL_SHIFT) & SIZE) + 1;
    int delta = 1 << ((head >> DELTA_SHIFT) & SIZE);
    int value = 1 << (head & SIZE);
    int bounds = (head & HAS_BOUNDS) == 0 ? 0 : Integer.BYTES;
    return 1 + ID_BYTES + ordinal + bounds + delta + value;
  }

  /** Returns the number of bytes that {@link #put} writes. */
  static int bytes(long[] from, int at) {
    return bytes(head(from, at));
  }

  /** Returns the number of bytes of the entry at this position. */
  static int bytes(ByteBuffer in, int at) {
    return bytes(in.get(at));
  }

  static void put(ByteBuffer out, long[] from, int at) {
    int head = head(from, at);
    long meta = from[at + 2];
    int ordinal = IdTable.ordinal(meta);
    out.put((byte) head).putLong(from[at]).putLong(from[at + 1]);
    for (int left = ((head >> ORDINAL_SHIFT) & SIZE) + 1; left > 0; left--) {
      out.put((byte) (ordinal >>> ((left - 1) * Byte.SIZE)));
    }
    if ((head & HAS_BOUNDS) != 0) {
      out.putInt(IdTable.boundsMark(meta));
    }
    putNumber(out, (head >> DELTA_SHIFT) & SIZE, from[at + 3]);
    putNumber(out, head & SIZE, from[at + 4]);
  }

  private static void putNumber(ByteBuffer out, int size, long number) {
    switch (size) {
      case 0 -> out.put((byte) number);
      case 1 -> out.putShort((short) number);
      case 2 -> out.putInt((int) number);
      default -> out.putLong(number);
    }
  }

  /** Copies the entry at a position to {@code to}. */
  static void get(ByteBuffer in, int from, long[] to, int toAt) {
    int head = in.get(from);
    to[toAt] = in.getLong(from + 1);
    to[toAt + 1] = in.getLong(from + 1 + Long.BYTES);
    int ordinal = ordinal(in, head, from);
    int at = from + 1 + ID_BYTES + ((head >> ORDINAL_SHIFT) & SIZE) + 1;
    int bounds = 0;
    if ((head & HAS_BOUNDS) != 0) {
      bounds = in.getInt(at);
      at += Integer.BYTES;
    }
    int kind = (head & CANCELED) == 0 ? IdTable.APPLIED : IdTable.CANCELED;
    to[toAt + 2] = IdTable.meta(ordinal, kind, bounds);
    int delta = (head >> DELTA_SHIFT) & SIZE;
    to[toAt + 3] = number(in, at, delta);
    to[toAt + 4] = number(in, at + (1 << delta), head & SIZE);
  }

  /** Returns the hash of the entry at this position. */
  static long hash(ByteBuffer in, int at, Secret secret) {
    return secret.hash(in.getLong(at + 1), in.getLong(at + 1 + Long.BYTES), ordinal(in, at));
  }

  /** Returns the ordinal of the entry at this position. */
  static int ordinal(ByteBuffer in, int at) {
    return ordinal(in, in.get(at), at);
  }

  /** Adds the entry at a position to {@code out}. */
  static void copy(ByteBuffer in, int from, int bytes, ByteBuffer out) {
    int to = out.position();
    int last = bytes - Long.BYTES;
    for (int at = 0; at < last; at += Long.BYTES) { // faster than bytes, or a copy of few of them
      out.putLong(to + at, in.getLong(from + at));
    }
    out.putLong(to + last, in.getLong(from + last));
    out.position(to + bytes);
  }

  private static int ordinal(ByteBuffer in, int head, int from) {
    int at = from + 1 + ID_BYTES;
    int ordinal = 0;
    for (int left = ((head >> ORDINAL_SHIFT) & SIZE) + 1; left > 0; left--) {
      ordinal = (ordinal << Byte.SIZE) | Byte.toUnsignedInt(in.get(at++));
    }
    return ordinal;
  }

  private static long number(ByteBuffer in, int at, int size) {
    return switch (size) {
      case 0 -> in.get(at);
      case 1 -> in.getShort(at);
      case 2 -> in.getInt(at);
      default -> in.getLong(at);
    };
  }
}
