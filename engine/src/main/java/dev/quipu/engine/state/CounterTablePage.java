package dev.quipu.engine.state;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What lies by ordinal: {@link #SIZE} counters of a {@link CounterTable}. */
final class CounterTablePage {
  static final int SIZE = 1 << 12;

  /** Longest name, in bytes, that is found by its bytes. */
  static final int SHORT_NAME_MAX = 127;

  private static final int BYTES_FIRST = 1 << 10; // more than the longest name

  /** Of the state of an ordinal: there is a number, or a text. */
  static final short WRITTEN = 1;

  /** It expires. */
  static final short EXPIRES = 2;

  /** It holds a text. */
  static final short TEXT = 4;

  /** Its value is to go into the frame that is being filled. */
  static final short DIRTY = 8;

  /** Somebody looked at versions of its page. */
  static final short VERSIONED = 16;

  /** It waits in {@link Tombstones}. */
  static final short TOMBSTONE = 32;

  static final int FLAGS = 0xff;

  static final int EPOCH_SHIFT = 8;

  final @Nullable String[] names = new String[SIZE];
  final long[] values = new long[SIZE];
  final short[] states = new short[SIZE]; // flags, and above them the epoch of its ids
  long @Nullable [] expiries; // come with the first
  long nextExpiryMillis = Long.MAX_VALUE; // none of them is before
  long @Nullable [] versions;

  // Names in ASCII once more, behind one another and each behind its length, so that looking for
  // one touches little memory. At 0 there is none.
  byte[] bytes = new byte[BYTES_FIRST];
  int bytesEnd = 1;
  int bytesDead; // of names that are gone
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

  /** Grows, or drops the names that are gone if they are half of all. */
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
