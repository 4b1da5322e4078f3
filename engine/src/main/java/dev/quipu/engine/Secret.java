package dev.quipu.engine;

/**
 * Keyed hashes: who does not know the key cannot choose names or request ids that collide. The key
 * comes from the identity of the directory, which is random and never shown.
 *
 * <p>Words are folded by 64 × 64 bit multiplication, as fast hashes of the last years do; a secret
 * is mixed into both factors.
 */
final class Secret {
  private final long first;
  private final long second;
  private final long third;

  Secret(long identity) {
    this.first = mix(identity + 0x9E3779B97F4A7C15L);
    this.second = mix(first ^ 0xD6E8FEB86659FD93L);
    this.third = mix(second ^ 0xA0761D6478BD642FL) | 1;
  }

  /** Returns the hash of a request id of a counter; tables and files are ordered by it. */
  long hash(long high, long low, int ordinal) {
    return fold(fold(high ^ first, low ^ second) ^ first, ordinal ^ third);
  }

  /** Returns the hash of a name. */
  long hash(String name) {
    int length = name.length();
    long hash = first ^ length;
    int at = 0;
    for (; at + 4 <= length; at += 4) {
      long word =
          name.charAt(at)
              | (long) name.charAt(at + 1) << 16
              | (long) name.charAt(at + 2) << 32
              | (long) name.charAt(at + 3) << 48;
      hash = fold(hash ^ word, second);
    }
    long last = 0;
    for (int shift = 0; at < length; at++, shift += 16) {
      last |= (long) name.charAt(at) << shift;
    }
    return fold(hash ^ last, third);
  }

  /** Returns the hash of a name in ASCII: the same as of the string. */
  long hash(byte[] name, int from, int length) {
    long hash = first ^ length;
    int at = from;
    for (int end = from + length - 3; at < end; at += 4) {
      long word =
          (name[at] & 0xffL)
              | (name[at + 1] & 0xffL) << 16
              | (name[at + 2] & 0xffL) << 32
              | (name[at + 3] & 0xffL) << 48;
      hash = fold(hash ^ word, second);
    }
    long last = 0;
    for (int shift = 0; at < from + length; at++, shift += 16) {
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
