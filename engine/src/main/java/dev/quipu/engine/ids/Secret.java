package dev.quipu.engine.ids;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Keyed hashes: without the key, a client cannot choose names or request ids that collide. The key
 * is derived from the identity of the directory, which is random and never disclosed.
 *
 * <p>Words are folded by 64 × 64 bit multiplication, as in recent fast hashes such as wyhash; a
 * secret is mixed into both factors.
 */
public final class Secret {
  private static final int ASCII_MAX = 0x7f;
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final long first;
  private final long second;
  private final long third;

  public Secret(long identity) {
    this.first = mix(identity + 0x9E3779B97F4A7C15L);
    this.second = mix(first ^ 0xD6E8FEB86659FD93L);
    this.third = mix(second ^ 0xA0761D6478BD642FL) | 1;
  }

  /** Returns the hash of a request id of a counter; tables and files are ordered by it. */
  public long hash(long high, long low, int ordinal) {
    return fold(fold(high ^ first, low ^ second) ^ first, ordinal ^ third);
  }

  /** Returns the hash of a name. */
  public long hash(String name) {
    int length = name.length();
    long hash = first ^ length;
    long last = 0;
    for (int i = 0, shift = 0; i < length; i++, shift += Byte.SIZE) {
      char c = name.charAt(i);
      if (c > ASCII_MAX) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        return hash(bytes, 0, bytes.length);
      }
      if (shift == Long.SIZE) {
        hash = fold(hash ^ last, second);
        last = 0;
        shift = 0;
      }
      last |= (long) c << shift;
    }
    if (length > 0 && length % Long.BYTES == 0) { // as of bytes, nothing is left for the end
      hash = fold(hash ^ last, second);
      last = 0;
    }
    return fold(hash ^ last, third);
  }

  /** Returns the hash of a name in UTF-8. */
  public long hash(byte[] name, int from, int length) {
    long hash = first ^ length;
    int at = from;
    for (int end = from + length; at + Long.BYTES <= end; at += Long.BYTES) {
      hash = fold(hash ^ (long) LONG.get(name, at), second);
    }
    long last = 0;
    for (int shift = 0; at < from + length; at++, shift += Byte.SIZE) {
      last |= (name[at] & 0xffL) << shift;
    }
    return fold(hash ^ last, third);
  }

  private static long fold(long a, long b) {
    return a * b ^ Math.unsignedMultiplyHigh(a, b);
  }

  private static long mix(long value) {
    long mixed = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }
}
