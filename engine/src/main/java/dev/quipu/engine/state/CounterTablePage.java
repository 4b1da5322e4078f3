package dev.quipu.engine.state;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A page of a {@link CounterTable}: {@link #SIZE} counters by ordinal. */
final class CounterTablePage {
  static final int SIZE = 1 << 12;

  /** Length of the longest name, in bytes, that is found by its bytes. */
  static final int SHORT_NAME_MAX = 127;

  private static final int BYTES_FIRST = 1 << 10; // above the length of the longest name

  /** Flag: the ordinal holds a number or a text. */
  static final short WRITTEN = 1;

  /** Flag: it expires. */
  static final short EXPIRES = 2;

  /** Flag: it holds a text. */
  static final short TEXT = 4;

  /** Flag: its value must be written to the frame that is being filled. */
  static final short DIRTY = 8;

  /** Flag: versions of its page are in use. */
  static final short VERSIONED = 16;

  /** Flag: it waits in {@link Tombstones}. */
  static final short TOMBSTONE = 32;

  /** Flag: its values have digits after the point. */
  static final short SCALED = 64;

  static final int FLAGS = 0xff;

  static final int EPOCH_SHIFT = 8;

  final @Nullable String[] names = new String[SIZE];
  final long[] values = new long[SIZE];
  final short[] states = new short[SIZE]; // flags, and in the upper bits the epoch of its ids
  long @Nullable [] expiries; // allocated with the first expiry
  long nextExpiryMillis = Long.MAX_VALUE; // none expires before
  long @Nullable [] versions;
  byte @Nullable [] scales; // allocated with the first counter with a scale

  // Copies of ASCII names, consecutive and each after its length, so that lookups touch little
  // memory. 0 for none.
  byte[] bytes = new byte[BYTES_FIRST];
  int bytesEnd = 1;
  int bytesDead; // of removed names
  final int[] places = new int[SIZE];

  void name(int index, String name) {
    names[index] = name;
    int length = name.length();
    if (length > SHORT_NAME_MAX || !name.chars().allMatch(each -> each >= ' ' && each < 0x7f)) {
      return;
    }
    if (bytesEnd + 1 + length > bytes.length) {
      makeRoom();
    }
    places[index] = bytesEnd;
    bytes[bytesEnd++] = (byte) length;
    for (int i = 0; i < length; i++) {
      bytes[bytesEnd++] = (byte) name.charAt(i);
    }
  }

  /** Sets the scale; returns the bytes of memory that this takes. */
  int scale(int index, int scale) {
    boolean isNew = scales == null;
    byte[] all = isNew ? new byte[SIZE] : Objects.requireNonNull(scales);
    all[index] = (byte) scale;
    scales = all;
    states[index] = (short) (scale == 0 ? states[index] & ~SCALED : states[index] | SCALED);
    return isNew ? SIZE : 0;
  }

  /** Grows, or drops removed names if they take half of the space. */
  void makeRoom() {
    if (bytesDead < bytes.length / 2) {
      bytes = Arrays.copyOf(bytes, 2 * bytes.length);
      return;
    }
    byte[] compact = new byte[bytes.length];
    int end = 1;
    for (int i = 0; i < SIZE; i++) {
      int at = places[i];
      if (at != 0) {
        int length = 1 + bytes[at];
        System.arraycopy(bytes, at, compact, end, length);
        places[i] = end;
        end += length;
      }
    }
    bytes = compact;
    bytesEnd = end;
    bytesDead = 0;
  }

  void forget(int index) {
    names[index] = null;
    if (places[index] != 0) {
      bytesDead += 1 + bytes[places[index]];
      places[index] = 0;
    }
  }

  boolean isName(int index, byte[] name, int from, int length) {
    int at = places[index];
    return bytes[at] == length
        && Arrays.equals(bytes, at + 1, at + 1 + length, name, from, from + length);
  }

  /** Returns the number of expired counters that are still present. */
  int expiredSize(long nowMillis) {
    int count = 0;
    long[] all = expiries;
    for (int i = 0; all != null && nextExpiryMillis <= nowMillis && i < SIZE; i++) {
      boolean expires = (states[i] & (WRITTEN | EXPIRES)) == (WRITTEN | EXPIRES);
      count += expires && all[i] <= nowMillis ? 1 : 0;
    }
    return count;
  }

  /** See {@link CounterTable#findExpired}. */
  int findExpired(int first, long nowMillis, int[] found, int countBefore, int max) {
    long[] all = Objects.requireNonNull(expiries);
    int count = countBefore;
    long next = Long.MAX_VALUE;
    for (int i = 0; i < SIZE; i++) {
      if ((states[i] & (WRITTEN | EXPIRES)) != (WRITTEN | EXPIRES)) {
        continue;
      }
      if (all[i] > nowMillis) {
        next = Math.min(next, all[i]);
      } else if (count < max) {
        found[count++] = first + i;
      } else {
        return count; // the page keeps its mark
      }
    }
    nextExpiryMillis = next;
    return count;
  }
}
