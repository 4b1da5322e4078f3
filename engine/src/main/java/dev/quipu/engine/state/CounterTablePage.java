package dev.quipu.engine.state;

import dev.quipu.engine.ids.RequestIds;
import dev.quipu.engine.log.Records;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A page of a {@link CounterTable}: {@link #SIZE} counters by ordinal.
 *
 * <pre>{@code
 * Two longs per counter, so that one cache line has all that an add needs:
 *   value
 *   place of the name << 16 | epoch of its newest request id << 8 | flags
 * Names are consecutive in UTF-8, each after its length: one byte below 128, otherwise two. A page
 * grows by a quarter, or drops removed names if they take half of the space.
 * }</pre>
 */
final class CounterTablePage {
  static final int SIZE = 1 << 12;

  static final int BYTES_FIRST = 1 << 10;
  private static final int SHORT_MAX = 0x7f;

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

  /** Image: the ordinals before it have no name; their number follows. */
  private static final int IMAGE_GAP = 1;

  /** Image: it holds a number, which follows the name. */
  private static final int IMAGE_WRITTEN = 2;

  /** Image: it may have request ids. */
  private static final int IMAGE_IDS = 4;

  private static final int IMAGE_COUNTER_BYTES_MAX = 16; // without its name
  private static final int FLAGS = 0xff;
  private static final int EPOCH_SHIFT = 8;
  private static final int PLACE_SHIFT = 16;

  private final long[] slots = new long[2 * SIZE];
  long @Nullable [] expiries; // allocated with the first expiry
  long nextExpiryMillis = Long.MAX_VALUE; // none expires before
  long @Nullable [] versions;
  byte @Nullable [] scales; // allocated with the first counter with a scale
  private int changed; // counters with this flag

  byte[] bytes; // of names; place 0 stands for none
  int bytesEnd = 1;
  int bytesDead; // of removed names

  CounterTablePage() {
    this(BYTES_FIRST);
  }

  private CounterTablePage(int bytes) {
    this.bytes = new byte[bytes];
  }

  long value(int index) {
    return slots[2 * index];
  }

  void value(int index, long value) {
    slots[2 * index] = value;
  }

  /** Returns whether it has one of these flags. */
  boolean is(int index, int flags) {
    return (slots[2 * index + 1] & flags) != 0;
  }

  /** Returns which of these flags it has. */
  int flags(int index, int of) {
    return (int) slots[2 * index + 1] & of;
  }

  void mark(int index, int flags) {
    slots[2 * index + 1] |= flags;
  }

  void unmark(int index, int flags) {
    slots[2 * index + 1] &= ~(long) flags;
  }

  /** Sets {@link #CHANGED}. */
  void change(int index) {
    if (!is(index, CHANGED)) {
      mark(index, CHANGED);
      changed++;
    }
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
    return (int) (slots[2 * index + 1] >>> EPOCH_SHIFT) & FLAGS;
  }

  void epoch(int index, int epoch) {
    if (epoch(index) != epoch) {
      long others = slots[2 * index + 1] & ~((long) FLAGS << EPOCH_SHIFT);
      slots[2 * index + 1] = others | (long) epoch << EPOCH_SHIFT;
      change(index);
    }
  }

  private int place(int index) {
    return (int) (slots[2 * index + 1] >>> PLACE_SHIFT);
  }

  private void place(int index, int place) {
    long others = slots[2 * index + 1] & ((1L << PLACE_SHIFT) - 1);
    slots[2 * index + 1] = others | (long) place << PLACE_SHIFT;
  }

  boolean hasName(int index) {
    return place(index) != 0;
  }

  /** Returns the name; null if it has none. */
  @Nullable String name(int index) {
    int place = place(index);
    return place == 0
        ? null
        : new String(bytes, start(place), length(place), StandardCharsets.UTF_8);
  }

  byte[] nameInUtf8(int index) {
    int place = place(index);
    return Arrays.copyOfRange(bytes, start(place), start(place) + length(place));
  }

  int touchName(int index) {
    return bytes[place(index)];
  }

  private int length(int place) {
    int first = bytes[place];
    return first >= 0 ? first : (first & SHORT_MAX) << 8 | Byte.toUnsignedInt(bytes[place + 1]);
  }

  private int start(int place) {
    return place + (bytes[place] >= 0 ? 1 : 2);
  }

  private int sizeAt(int place) {
    return start(place) - place + length(place);
  }

  void name(int index, String name) {
    change(index);
    byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
    int size = utf8.length + (utf8.length <= SHORT_MAX ? 1 : 2);
    while (bytesEnd + size > bytes.length) {
      makeRoom(); // twice if what it drops is too little
    }
    place(index, bytesEnd);
    if (utf8.length > SHORT_MAX) {
      bytes[bytesEnd++] = (byte) (0x80 | utf8.length >>> 8);
    }
    bytes[bytesEnd++] = (byte) utf8.length;
    System.arraycopy(utf8, 0, bytes, bytesEnd, utf8.length);
    bytesEnd += utf8.length;
  }

  private void makeRoom() {
    if (bytesDead == 0 || bytesDead < bytes.length / 2) {
      bytes = Arrays.copyOf(bytes, bytes.length + Math.max(BYTES_FIRST, bytes.length / 4));
      return;
    }
    byte[] compact = new byte[bytes.length];
    int end = 1;
    for (int i = 0; i < SIZE; i++) {
      int at = place(i);
      if (at != 0) {
        int size = sizeAt(at);
        System.arraycopy(bytes, at, compact, end, size);
        place(i, end);
        end += size;
      }
    }
    bytes = compact;
    bytesEnd = end;
    bytesDead = 0;
  }

  void forgetName(int index) {
    int place = place(index);
    if (place != 0) {
      bytesDead += sizeAt(place);
      place(index, 0);
      change(index);
    }
  }

  boolean isName(int index, byte[] name, int from, int length) {
    int place = place(index);
    if (place == 0 || length(place) != length) {
      return false;
    }
    int start = start(place);
    return Arrays.equals(bytes, start, start + length, name, from, from + length);
  }

  boolean isName(int index, String name) {
    int place = place(index);
    int length = name.length();
    if (place == 0 || length(place) < length) {
      return false;
    }
    int start = start(place);
    for (int i = 0; i < length; i++) {
      char c = name.charAt(i);
      if (c != bytes[start + i]) {
        return c > SHORT_MAX && name.equals(name(index)); // almost always it is ASCII
      }
    }
    return length(place) == length;
  }

  /** Compares its name to another in the order of UTF-8 bytes. */
  int compareName(int index, byte[] name, int from, int until) {
    int place = place(index);
    int start = start(place);
    return Arrays.compareUnsigned(bytes, start, start + length(place), name, from, until);
  }

  int compareName(int index, CounterTablePage other, int otherIndex) {
    int place = other.place(otherIndex);
    int start = other.start(place);
    return compareName(index, other.bytes, start, start + other.length(place));
  }

  /** Returns bytes of its name as an unsigned number, from a position on; 0 after its end. */
  int nameBytes(int index, int from) {
    int place = place(index);
    int end = start(place) + length(place);
    int word = 0;
    for (int at = start(place) + from, i = 0; i < Integer.BYTES; at++, i++) {
      word = word << 8 | (at < end ? bytes[at] & 0xff : 0);
    }
    return word;
  }

  /** Returns the number of bytes that its name and another begin with. */
  int commonBytes(int index, CounterTablePage other, int otherIndex) {
    int place = place(index);
    int with = other.place(otherIndex);
    int start = start(place);
    int otherStart = other.start(with);
    int at =
        Arrays.mismatch(
            bytes,
            start,
            start + length(place),
            other.bytes,
            otherStart,
            otherStart + other.length(with));
    return at < 0 ? length(place) : at;
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

  /**
   * Returns names and values, to be read by {@link #read}.
   *
   * <pre>{@code
   * IMAGE: bytes of all names with their lengths, counters with a name.
   * COUNTER: flags, number of free ordinals before it (if flagged), name after its length, value
   * (if flagged). Numbers are variable-length integers, as in Records.
   * }</pre>
   */
  ByteBuffer image(RequestIds ids) {
    ByteBuffer out = ByteBuffer.allocate(bytesEnd - bytesDead + SIZE * IMAGE_COUNTER_BYTES_MAX);
    Records.unsigned(out, bytesEnd - 1 - bytesDead);
    int next = 0;
    for (int i = 0; i < SIZE; i++) {
      int place = place(i);
      if (place == 0) {
        continue;
      }
      boolean isWritten = is(i, WRITTEN);
      out.put(
          (byte)
              ((i > next ? IMAGE_GAP : 0)
                  | (isWritten ? IMAGE_WRITTEN : 0)
                  | (ids.isLive(epoch(i)) ? IMAGE_IDS : 0)));
      if (i > next) {
        Records.unsigned(out, i - next);
      }
      out.put(bytes, place, sizeAt(place));
      if (isWritten) {
        Records.signed(out, value(i));
      }
      next = i + 1;
    }
    return out.flip();
  }

  /**
   * Returns the page with this content.
   *
   * @throws RuntimeException if it is not an image
   */
  static CounterTablePage read(ByteBuffer image) {
    CounterTablePage page = new CounterTablePage(1 + Math.toIntExact(Records.unsigned(image)));
    int index = 0;
    while (image.hasRemaining()) {
      int flags = image.get();
      index += (flags & IMAGE_GAP) == 0 ? 0 : Math.toIntExact(Records.unsigned(image));
      int place = page.bytesEnd;
      int first = image.get();
      page.bytes[place] = (byte) first;
      int start = place + 1;
      int length = first;
      if (first < 0) {
        page.bytes[start++] = image.get();
        length = page.length(place);
      }
      image.get(page.bytes, start, length);
      page.bytesEnd = start + length;
      page.slots[2 * index] = (flags & IMAGE_WRITTEN) == 0 ? 0 : Records.signed(image);
      page.slots[2 * index + 1] =
          (long) place << PLACE_SHIFT
              | ((flags & IMAGE_IDS) == 0 ? 0 : (long) RequestIds.EPOCH_BEFORE << EPOCH_SHIFT)
              | ((flags & IMAGE_WRITTEN) == 0 ? 0 : WRITTEN);
      index++;
    }
    return page;
  }

  /**
   * The counters of a page.
   *
   * @param end index after the last one
   * @param named with a name
   * @param written of these, those that hold a number or a text
   * @param memoryBytes their estimated heap
   */
  record Summary(int end, int named, int written, long memoryBytes) {}

  Summary summary() {
    int end = 0;
    int named = 0;
    int written = 0;
    long memoryBytes = 0;
    for (int i = 0; i < SIZE; i++) {
      int place = place(i);
      if (place != 0) {
        end = i + 1;
        named++;
        written += flags(i, WRITTEN);
        memoryBytes += CounterTable.memoryBytes(length(place));
      }
    }
    return new Summary(end, named, written, memoryBytes);
  }

  /** Returns whether all have a name and are written. */
  boolean isFull() {
    for (int i = 0; i < SIZE; i++) {
      if (place(i) == 0 || !is(i, WRITTEN)) {
        return false;
      }
    }
    return true;
  }

  /** Returns the half of the keyed hash that the index holds. */
  int hash(int index, NameIndex with) {
    int place = place(index);
    return with.hash(bytes, start(place), length(place));
  }
}
