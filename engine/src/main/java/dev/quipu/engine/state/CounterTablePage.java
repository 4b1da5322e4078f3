package dev.quipu.engine.state;

import dev.quipu.engine.ids.RequestIds;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A page of a {@link CounterTable}: {@link #SIZE} counters by ordinal.
 *
 * <pre>{@code
 * Four longs per counter, so that mostly one cache line has all that an add needs:
 *   value
 *   place of the rest of the name << 28 | length of the name << 16
 *     | epoch of its newest request id << 8 | flags
 *   the first 16 bytes of the name in UTF-8, and 0 after its end
 * The rests of longer names are consecutive. Their array grows by a quarter, or drops those of
 * removed names if they take half of the space.
 * }</pre>
 */
final class CounterTablePage {
  static final int SIZE = 1 << 12;

  static final int BYTES_FIRST = 1 << 10;

  /** Number of bytes of a name that are in its slot. */
  static final int START = 2 * Long.BYTES;

  private static final int SLOT = 4; // longs of a counter
  private static final int NAME = 2; // where the first of its name is
  private static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final int FIRST_SHIFT = Long.SIZE - Byte.SIZE; // of the first byte of a word
  private static final int ASCII_MAX = 0x7f;
  private static final byte[] NONE = {};
  private static final int DEAD_MAX = 1 << 14; // or as many as others, before they are dropped

  /** Flag: the ordinal holds a number or a text. */
  static final int WRITTEN = 1;

  /** Flag: it expires. */
  static final int EXPIRES = 2;

  /** Flag: it holds a text. */
  static final int TEXT = 4;

  /** Flag: its value must be written to the frame that is being filled. */
  static final int DIRTY = 8;

  /** Flag: versions of its page are in use. */
  static final int VERSIONED = 16;

  /** Flag: it waits in {@link Tombstones}. */
  static final int TOMBSTONE = 32;

  /** Flag: its values have digits after the point. */
  static final int SCALED = 64;

  /** Flag: it has changed since its page was copied to a file of counters. */
  static final int CHANGED = 128;

  /** The flags that a counter loses when it is forgotten. */
  static final int OWN = WRITTEN | EXPIRES | TEXT | DIRTY | TOMBSTONE | SCALED;

  private static final int FLAGS = 0xff;
  private static final int EPOCH_SHIFT = 8;
  private static final int LENGTH_SHIFT = 16;
  static final int LENGTH_MAX = (1 << 12) - 1;
  private static final int PLACE_SHIFT = 28;

  private final long[] slots = new long[SLOT * SIZE];
  long @Nullable [] expiries; // allocated with the first expiry
  long nextExpiryMillis = Long.MAX_VALUE; // none expires before
  long @Nullable [] versions;
  byte @Nullable [] scales; // allocated with the first counter with a scale
  private int changed; // counters with this flag

  byte[] bytes = NONE; // of the rests of names
  int bytesEnd;
  int bytesDead; // of removed names

  long value(int index) {
    return slots[SLOT * index];
  }

  void value(int index, long value) {
    slots[SLOT * index] = value;
  }

  /** Returns whether it has one of these flags. */
  boolean is(int index, int flags) {
    return (slots[SLOT * index + 1] & flags) != 0;
  }

  /** Returns which of these flags it has. */
  int flags(int index, int of) {
    return (int) slots[SLOT * index + 1] & of;
  }

  void mark(int index, int flags) {
    slots[SLOT * index + 1] |= flags;
  }

  void unmark(int index, int flags) {
    slots[SLOT * index + 1] &= ~(long) flags;
  }

  /** Sets {@link #CHANGED}. */
  void change(int index) {
    if (!is(index, CHANGED)) {
      mark(index, CHANGED);
      changed++;
    }
  }

  /** Sets what an image has of a counter: it has not changed since. */
  void load(int index, int epoch, int flags) {
    slots[SLOT * index + 1] |= ((long) epoch << EPOCH_SHIFT) | flags;
  }

  /** Returns how many have {@link #CHANGED}. */
  int changed() {
    return changed;
  }

  /**
   * Clears {@link #CHANGED} of all: they are being copied to a file of counters. Also clears epochs
   * that are over, so that a later generation with such a number is a change.
   */
  void copied(RequestIds ids) {
    for (int i = 0; i < SIZE; i++) {
      if (!ids.isLive(epoch(i))) {
        epoch(i, 0);
      }
      unmark(i, CHANGED);
    }
    changed = 0;
  }

  int epoch(int index) {
    return (int) (slots[SLOT * index + 1] >>> EPOCH_SHIFT) & FLAGS;
  }

  void epoch(int index, int epoch) {
    if (epoch(index) != epoch) {
      long others = slots[SLOT * index + 1] & ~((long) FLAGS << EPOCH_SHIFT);
      slots[SLOT * index + 1] = others | (long) epoch << EPOCH_SHIFT;
      change(index);
    }
  }

  boolean hasName(int index) {
    return length(index) != 0;
  }

  /** Returns the name; null if it has none. */
  @Nullable String name(int index) {
    return hasName(index) ? new String(nameInUtf8(index), StandardCharsets.UTF_8) : null;
  }

  byte[] nameInUtf8(int index) {
    int length = length(index);
    byte[] name = new byte[length];
    for (int i = 0; i < Math.min(length, START); i++) {
      name[i] = (byte) (start(index, i) >>> FIRST_SHIFT);
    }
    if (length > START) {
      System.arraycopy(bytes, place(index), name, START, length - START);
    }
    return name;
  }

  int touchName(int index) {
    int last = (int) slots[SLOT * index + SLOT - 1];
    return length(index) > START ? last + bytes[place(index)] : last;
  }

  /** Returns the length of the name in bytes; 0 if it has none. */
  int length(int index) {
    return (int) (slots[SLOT * index + 1] >>> LENGTH_SHIFT) & LENGTH_MAX;
  }

  /** Returns where the rest of a name is. */
  private int place(int index) {
    return (int) (slots[SLOT * index + 1] >>> PLACE_SHIFT);
  }

  /** Sets where the rest of a name is, and its whole length. */
  private void place(int index, int place, int length) {
    long others = slots[SLOT * index + 1] & ((1L << LENGTH_SHIFT) - 1);
    long both = ((long) place << PLACE_SHIFT) | ((long) length << LENGTH_SHIFT);
    slots[SLOT * index + 1] = others | both;
  }

  /** Returns eight bytes of the start of a name, from one of them on; 0 after its end. */
  private long start(int index, int from) {
    long first = slots[SLOT * index + NAME];
    long second = slots[SLOT * index + NAME + 1];
    int bits = from * Byte.SIZE;
    if (bits >= Long.SIZE) {
      return second << (bits - Long.SIZE);
    }
    return bits == 0 ? first : (first << bits) | (second >>> (Long.SIZE - bits));
  }

  /** Returns up to eight bytes as a word, the first one highest; 0 stands for those after them. */
  private static long word(byte[] name, int from, int until) {
    int count = Math.min(Long.BYTES, until - from);
    if (count <= 0) {
      return 0;
    }
    if (from + Long.BYTES <= name.length) {
      return (long) WORDS.get(name, from) & (-1L << (Long.SIZE - count * Byte.SIZE));
    }
    long word = 0;
    for (int i = 0; i < count; i++) {
      word |= (name[from + i] & 0xffL) << (Long.SIZE - (i + 1) * Byte.SIZE);
    }
    return word;
  }

  void name(int index, String name) {
    change(index);
    byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
    int rest = Math.max(0, utf8.length - START);
    while (bytesEnd + rest > bytes.length) {
      makeRoom(); // twice if what it drops is too little
    }
    append(index, utf8, utf8.length);
  }

  private void append(int index, byte[] utf8, int length) {
    int rest = Math.max(0, length - START);
    slots[SLOT * index + NAME] = word(utf8, 0, length);
    slots[SLOT * index + NAME + 1] = word(utf8, Long.BYTES, length);
    place(index, bytesEnd, length);
    System.arraycopy(utf8, length - rest, bytes, bytesEnd, rest);
    bytesEnd += rest;
  }

  /**
   * Sets the name that an image has; {@link #trim} must be called after the last one.
   *
   * @param namesBytesMax bound of all names of the page
   */
  void loadName(int index, byte[] utf8, int length, int namesBytesMax) {
    if (length > START && bytes.length == 0) {
      bytes = new byte[namesBytesMax];
    }
    append(index, utf8, length);
  }

  /** Ends the names of an image. */
  void trim() {
    bytes = Arrays.copyOf(bytes, bytesEnd);
  }

  /** Adds its name; {@code out} has room for {@link #START} bytes after it. */
  void putName(int index, ByteBuffer out) {
    int length = length(index);
    int at = out.position();
    out.putLong(at, slots[SLOT * index + NAME]);
    out.putLong(at + Long.BYTES, slots[SLOT * index + NAME + 1]);
    out.position(at + Math.min(length, START));
    if (length > START) {
      out.put(bytes, place(index), length - START);
    }
  }

  private void makeRoom() {
    if (bytesDead == 0 || bytesDead < bytes.length / 2) {
      bytes = Arrays.copyOf(bytes, bytes.length + Math.max(BYTES_FIRST, bytes.length / 4));
      return;
    }
    dropDead(bytes.length);
  }

  private void dropDead(int length) {
    byte[] compact = length == 0 ? NONE : new byte[length];
    int live = bytesEnd - bytesDead;
    int end = 0;
    for (int i = 0; i < SIZE && end < live; i++) { // none, if no long name is left
      int rest = length(i) - START;
      if (rest > 0) {
        System.arraycopy(bytes, place(i), compact, end, rest);
        place(i, end, length(i));
        end += rest;
      }
    }
    bytes = compact;
    bytesEnd = end;
    bytesDead = 0;
  }

  void forgetName(int index) {
    if (hasName(index)) {
      int rest = Math.max(0, length(index) - START);
      bytesDead += rest;
      place(index, 0, 0);
      slots[SLOT * index + NAME] = 0;
      slots[SLOT * index + NAME + 1] = 0;
      change(index);
      if (rest > 0 && (bytesDead == bytesEnd || bytesDead > Math.max(DEAD_MAX, bytesEnd / 2))) {
        dropDead(bytesEnd - bytesDead); // names without a rest would never ask for the space
      }
    }
  }

  boolean isName(int index, byte[] name, int from, int length) {
    int until = from + length;
    return hasName(index)
        && length(index) == length
        && slots[SLOT * index + NAME] == word(name, from, until)
        && slots[SLOT * index + NAME + 1] == word(name, from + Long.BYTES, until)
        && (length <= START || compareRest(index, name, from + START, until) == 0);
  }

  boolean isName(int index, String name) {
    int length = name.length();
    if (length(index) < length) { // in bytes it is as long as in characters, or longer
      return false;
    }
    for (int i = 0; i < length; i++) {
      char c = name.charAt(i);
      if (c > ASCII_MAX) {
        return name.equals(name(index)); // almost always it is ASCII
      }
      int word = i < Long.BYTES ? NAME : NAME + 1;
      int at =
          i < START
              ? (int)
                  (slots[SLOT * index + word] >>> ((Long.BYTES - 1 - i % Long.BYTES) * Byte.SIZE))
              : bytes[place(index) + i - START];
      if (c != (byte) at) {
        return false;
      }
    }
    return hasName(index) && length(index) == length;
  }

  private int compareRest(int index, byte[] other, int from, int until) {
    int place = place(index);
    int end = place + length(index) - START;
    return Arrays.compareUnsigned(bytes, place, end, other, from, until);
  }

  /** Compares its name to another in the order of UTF-8 bytes. */
  int compareName(int index, byte[] name) {
    long first = word(name, 0, name.length);
    long second = word(name, Long.BYTES, name.length);
    return compareName(index, first, second, name.length, name, START);
  }

  int compareName(int index, CounterTablePage other, int otherIndex) {
    long first = other.slots[SLOT * otherIndex + NAME];
    long second = other.slots[SLOT * otherIndex + NAME + 1];
    int length = other.length(otherIndex);
    return compareName(index, first, second, length, other.bytes, other.place(otherIndex));
  }

  private int compareName(
      int index, long first, long second, int length, byte[] restIn, int restAt) {
    if (slots[SLOT * index + NAME] != first) {
      return Long.compareUnsigned(slots[SLOT * index + NAME], first);
    }
    if (slots[SLOT * index + NAME + 1] != second) {
      return Long.compareUnsigned(slots[SLOT * index + NAME + 1], second);
    }
    return Math.min(length, length(index)) <= START
        ? Integer.compare(length(index), length)
        : compareRest(index, restIn, restAt, restAt + length - START);
  }

  /** Returns four bytes of its name as an unsigned number, from a position on; 0 after its end. */
  int nameBytes(int index, int from) {
    if (from <= START - Integer.BYTES) {
      return (int) (start(index, from) >>> Integer.SIZE);
    }
    int length = length(index);
    int word = 0;
    for (int at = from; at < from + Integer.BYTES; at++) {
      int next = at < START ? (int) (start(index, at) >>> FIRST_SHIFT) : 0;
      if (at >= START && at < length) {
        next = bytes[place(index) + at - START] & 0xff;
      }
      word = (word << Byte.SIZE) | next;
    }
    return word;
  }

  /** Returns the number of bytes that its name and another begin with. */
  int commonBytes(int index, CounterTablePage other, int otherIndex) {
    int length = Math.min(length(index), other.length(otherIndex));
    for (int word = 0; word < START / Long.BYTES; word++) {
      long differing =
          slots[SLOT * index + NAME + word] ^ other.slots[SLOT * otherIndex + NAME + word];
      if (differing != 0) {
        int common = word * Long.BYTES + Long.numberOfLeadingZeros(differing) / Byte.SIZE;
        return Math.min(length, common);
      }
    }
    if (length <= START) {
      return length;
    }
    int place = place(index);
    int from = other.place(otherIndex);
    int end = place + length - START;
    int at = Arrays.mismatch(bytes, place, end, other.bytes, from, from + length - START);
    return at < 0 ? length : START + at;
  }

  /** Sets the scale; returns the bytes of memory that this takes. */
  int scale(int index, int scale) {
    boolean isNew = scales == null;
    byte[] all = isNew ? new byte[SIZE] : Objects.requireNonNull(scales);
    all[index] = (byte) scale;
    scales = all;
    if (scale == 0) {
      unmark(index, SCALED);
    } else {
      mark(index, SCALED);
    }
    change(index);
    return isNew ? SIZE : 0;
  }

  private boolean expires(int index) {
    return flags(index, WRITTEN | EXPIRES) == (WRITTEN | EXPIRES);
  }

  /** Returns the number of expired counters that are still present. */
  int expiredSize(long nowMillis) {
    int count = 0;
    long[] all = expiries;
    for (int i = 0; all != null && nextExpiryMillis <= nowMillis && i < SIZE; i++) {
      count += expires(i) && all[i] <= nowMillis ? 1 : 0;
    }
    return count;
  }

  /** See {@link CounterExpiries#find}. */
  int findExpired(int first, long nowMillis, int[] found, int countBefore, int max) {
    long[] all = Objects.requireNonNull(expiries);
    int count = countBefore;
    long next = Long.MAX_VALUE;
    for (int i = 0; i < SIZE; i++) {
      if (!expires(i)) {
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

  /** Returns whether all have a name and are written. */
  boolean isFull() {
    for (int i = 0; i < SIZE; i++) {
      if (!hasName(i) || !is(i, WRITTEN)) {
        return false;
      }
    }
    return true;
  }

  /** Returns the half of the keyed hash that the index holds. */
  int hash(int index, NameIndex with) {
    byte[] name = nameInUtf8(index);
    return with.hash(name, 0, name.length);
  }
}
