package dev.quipu.engine.ids;

import java.nio.ByteBuffer;

/**
 * An entry of an {@link IdTable} in few bytes.
 *
 * <pre>{@code
 * PACKED ENTRY: 19 to 41 bytes
 *
 *   head      one byte, before the id: kind - 1 << 7 | has a bounds mark << 6
 *             | size of ordinal - 1 << 4 | code of delta << 2 | size of value
 *   high, low the request id, 16 bytes
 *   ordinal   1 to 4 bytes, unsigned
 *   bounds    4 bytes, if there is a mark
 *   delta     codes 0 to 3: 1 byte, none, 4 or 8; without one it is 1, as most are
 *   value     1, 2, 4 or 8 bytes: sizes 0 to 3
 * }</pre>
 *
 * <p>In files of format 8 of the directory and before, the code of the delta is a size as well.
 */
final class PackedEntry {
  static final int BYTES_MIN = 19;
  static final int BYTES_MAX = 41;

  private static final int ID_BYTES = 16;
  private static final int CANCELED = 1 << 7;
  private static final int HAS_BOUNDS = 1 << 6;
  private static final int ORDINAL_SHIFT = 4;
  private static final int DELTA_SHIFT = 2;
  private static final int SIZE = 3;
  private static final int CODE_OF_ONE = 1;

  private PackedEntry() {}

  private static int head(long[] from, int at) {
    long meta = from[at + 2];
    return (IdTable.kind(meta) == IdTable.CANCELED ? CANCELED : 0)
        | (IdTable.boundsMark(meta) == 0 ? 0 : HAS_BOUNDS)
        | ((ordinalBytes(IdTable.ordinal(meta)) - 1) << ORDINAL_SHIFT)
        | (codeOf(from[at + 3]) << DELTA_SHIFT)
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

  private static int codeOf(long delta) {
    int size = sizeOf(delta);
    return delta == 1 ? CODE_OF_ONE : size == 1 ? 2 : size;
  }

  private static int deltaBytes(int head) {
    int code = (head >> DELTA_SHIFT) & SIZE;
    return code == CODE_OF_ONE ? 0 : 1 << code;
  }

  /** The same in files of format 8 and before. */
  private static int deltaBytesBefore(int head) {
    return 1 << ((head >> DELTA_SHIFT) & SIZE);
  }

  /** Returns the number of bytes of an entry with this head. */
  private static int bytes(int head, int deltaBytes) {
    int ordinal = ((head >> ORDINAL_SHIFT) & SIZE) + 1;
    int value = 1 << (head & SIZE);
    int bounds = (head & HAS_BOUNDS) == 0 ? 0 : Integer.BYTES;
    return 1 + ID_BYTES + ordinal + bounds + deltaBytes + value;
  }

  /** Returns the number of bytes that {@link #put} writes. */
  static int bytes(long[] from, int at) {
    int head = head(from, at);
    return bytes(head, deltaBytes(head));
  }

  /** Returns the number of bytes of the entry at this position. */
  static int bytes(ByteBuffer in, int at) {
    int head = in.get(at);
    return bytes(head, deltaBytes(head));
  }

  /** The same in files of format 8 and before. */
  static int bytesBefore(ByteBuffer in, int at) {
    int head = in.get(at);
    return bytes(head, deltaBytesBefore(head));
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
    putNumber(out, deltaBytes(head), from[at + 3]);
    putNumber(out, 1 << (head & SIZE), from[at + 4]);
  }

  private static void putNumber(ByteBuffer out, int bytes, long number) {
    switch (bytes) {
      case 0 -> {
        // the number is 1
      }
      case Byte.BYTES -> out.put((byte) number);
      case Short.BYTES -> out.putShort((short) number);
      case Integer.BYTES -> out.putInt((int) number);
      default -> out.putLong(number);
    }
  }

  /** Copies the entry at a position to {@code to}. */
  static void get(ByteBuffer in, int from, long[] to, int toAt) {
    int head = in.get(from);
    get(in, from, head, deltaBytes(head), to, toAt);
  }

  /** The same in files of format 8 and before. */
  static void getBefore(ByteBuffer in, int from, long[] to, int toAt) {
    int head = in.get(from);
    get(in, from, head, deltaBytesBefore(head), to, toAt);
  }

  private static void get(ByteBuffer in, int from, int head, int deltaBytes, long[] to, int toAt) {
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
    to[toAt + 3] = number(in, at, deltaBytes);
    to[toAt + 4] = number(in, at + deltaBytes, 1 << (head & SIZE));
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

  private static long number(ByteBuffer in, int at, int bytes) {
    return switch (bytes) {
      case 0 -> 1;
      case Byte.BYTES -> in.get(at);
      case Short.BYTES -> in.getShort(at);
      case Integer.BYTES -> in.getInt(at);
      default -> in.getLong(at);
    };
  }
}
