package dev.quipu.engine.ids;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Entries have the documented bytes, and are read as they were written. */
final class PackedEntryTest {
  private static final int ORDINAL_MAX = (1 << 30) - 1;

  /** Packs an entry as the layout states. */
  static byte[] packed(long[] entry) {
    int ordinal = IdTable.ordinal(entry[2]);
    int bounds = IdTable.boundsMark(entry[2]);
    int ordinalBytes = ordinal < 256 ? 1 : ordinal < 65_536 ? 2 : ordinal < 1 << 24 ? 3 : 4;
    ByteBuffer out = ByteBuffer.allocate(64);
    out.put(
        (byte)
            (128 * (IdTable.kind(entry[2]) - 1)
                + (bounds == 0 ? 0 : 64)
                + 16 * (ordinalBytes - 1)
                + 4 * code(entry[3])
                + size(entry[4])));
    out.putLong(entry[0]).putLong(entry[1]);
    for (int i = ordinalBytes - 1; i >= 0; i--) {
      out.put((byte) (ordinal >> (8 * i)));
    }
    if (bounds != 0) {
      out.putInt(bounds);
    }
    if (entry[3] != 1) {
      number(out, entry[3], code(entry[3]));
    }
    number(out, entry[4], size(entry[4]));
    byte[] bytes = new byte[out.position()];
    out.flip().get(bytes);
    return bytes;
  }

  private static int size(long number) {
    int bits = BigInteger.valueOf(number).bitLength() + 1;
    return bits <= 8 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : 3;
  }

  /** A delta of 1 has no bytes, and its code is what would be that of two. */
  private static int code(long delta) {
    return delta == 1 ? 1 : size(delta) == 1 ? 2 : size(delta);
  }

  private static void number(ByteBuffer out, long number, int size) {
    for (int i = (1 << size) - 1; i >= 0; i--) {
      out.put((byte) (number >> (8 * i)));
    }
  }

  private static void check(long[] entry) {
    long[] from = new long[12];
    System.arraycopy(entry, 0, from, 3, 5);
    ByteBuffer out = ByteBuffer.allocate(100).position(7);
    PackedEntry.put(out, from, 3);
    byte[] bytes = packed(entry);
    assertEquals(7 + bytes.length, out.position());
    assertEquals(ByteBuffer.wrap(bytes), out.slice(7, bytes.length));
    assertEquals(bytes.length, PackedEntry.bytes(from, 3));
    assertEquals(bytes.length, PackedEntry.bytes(out, 7));
    assertTrue(bytes.length >= PackedEntry.BYTES_MIN && bytes.length <= PackedEntry.BYTES_MAX);
    long[] to = new long[8];
    PackedEntry.get(out, 7, to, 2);
    assertArrayEquals(new long[] {0, 0, entry[0], entry[1], entry[2], entry[3], entry[4], 0}, to);
  }

  @Test
  void theLimitsOfAllSizes() {
    for (int ordinal :
        new int[] {0, 1, 255, 256, 65_535, 65_536, (1 << 24) - 1, 1 << 24, ORDINAL_MAX}) {
      check(new long[] {1, 2, IdTable.meta(ordinal, IdTable.APPLIED, 0), 1, 1});
    }
    for (int bits : new int[] {0, 7, 8, 15, 16, 31, 32, 62}) {
      for (long number :
          new long[] {1L << bits, (1L << bits) - 1, -(1L << bits), -(1L << bits) - 1}) {
        check(new long[] {-1, -2, IdTable.meta(3, IdTable.CANCELED, -1), number, 0});
        check(new long[] {-1, -2, IdTable.meta(3, IdTable.APPLIED, 1), 0, number});
      }
    }
    long most = IdTable.meta(ORDINAL_MAX, IdTable.CANCELED, Integer.MIN_VALUE);
    check(new long[] {0, 0, most, Long.MIN_VALUE, Long.MAX_VALUE});
    assertEquals(
        PackedEntry.BYTES_MAX,
        packed(new long[] {0, 0, most, Long.MIN_VALUE, Long.MAX_VALUE}).length);
    assertEquals(
        PackedEntry.BYTES_MIN,
        packed(new long[] {0, 0, IdTable.meta(0, IdTable.APPLIED, 0), 1, 0}).length);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void anyEntry(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 10_000; i++) {
      int ordinal = random.nextInt(ORDINAL_MAX + 1) >> random.nextInt(31);
      int kind = random.nextBoolean() ? IdTable.APPLIED : IdTable.CANCELED;
      int bounds = random.nextBoolean() ? 0 : random.nextInt();
      long delta = random.nextLong() >> random.nextInt(64);
      long value = random.nextLong() >> random.nextInt(64);
      long meta = IdTable.meta(ordinal, kind, bounds);
      check(new long[] {random.nextLong(), random.nextLong(), meta, delta, value});
    }
  }
}
