package dev.quipu.engine;

import dev.quipu.store.Key;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/*
 * Each counter has an ordinal: 0 for the first that was ever named, and so on. Names and values
 * lie in pages by ordinal, so that a page never moves. Names are found by hash, through an
 * open-addressing index in many parts which grow one at a time and not all at once; a slot holds
 * the hash in its upper half and the ordinal, plus one, in its lower half. A sorted map of names
 * serves listings. A counter that was removed keeps its name and ordinal: request ids refer to it.
 *
 * An ordinal may hold a text in place of a number: what clients keep beside their counters. These
 * are few, and lie in a map.
 *
 * Versions tell whether something changed since it was looked at. They come with the first look at
 * a page, and are not kept on disk: they start at a number that no earlier run has reached.
 */

/** Names and values of all counters. Not thread-safe. */
final class CounterTable {
  private static final int PARTS = 64;
  private static final int PART_SLOTS_FIRST = 64;
  private static final int PAGE_BITS = 12;
  private static final int PAGE = 1 << PAGE_BITS;

  /** Longest name, in bytes, that is found by its bytes. */
  private static final int SHORT_NAME_MAX = 127;

  private static final int BYTES_FIRST = 1 << 10; // more than the longest name

  /** Of the state of an ordinal: there is a number, or a text. */
  private static final byte WRITTEN = 1;

  /** It expires. */
  private static final byte EXPIRES = 2;

  /** It holds a text. */
  private static final byte TEXT = 4;

  /** Its value is to go into the frame that is being filled. */
  private static final byte DIRTY = 8;

  /** Somebody looked at versions of its page. */
  private static final byte VERSIONED = 16;

  private final long[][] index = new long[PARTS][PART_SLOTS_FIRST];
  private final int[] used = new int[PARTS];
  private Page[] pages = {};
  private final Map<Integer, byte[]> texts = new HashMap<>();
  private long lastVersion;
  private final TreeMap<String, Integer> sorted = new TreeMap<>(Key.ORDER);
  private int size;

  /** What lies by ordinal. */
  private static final class Page {
    private final @Nullable String[] names = new String[PAGE];
    private final long[] values = new long[PAGE];
    private final byte[] states = new byte[PAGE];
    private long @Nullable [] expiries; // come with the first
    private long @Nullable [] versions;

    // Names in ASCII once more, behind one another and each behind its length, so that looking for
    // one touches little memory. At 0 there is none.
    private byte[] bytes = new byte[BYTES_FIRST];
    private int bytesEnd = 1;
    private final int[] places = new int[PAGE];

    void name(int index, String name) {
      names[index] = name;
      int length = name.length();
      if (length > SHORT_NAME_MAX || !name.chars().allMatch(each -> each >= ' ' && each < 0x7f)) {
        return;
      }
      if (bytesEnd + 1 + length > bytes.length) {
        bytes = Arrays.copyOf(bytes, 2 * bytes.length);
      }
      places[index] = bytesEnd;
      bytes[bytesEnd++] = (byte) length;
      for (int i = 0; i < length; i++) {
        bytes[bytesEnd++] = (byte) name.charAt(i);
      }
    }
  }

  /** What an ordinal held when it was looked at. */
  static final class Content {
    final String name;
    final boolean isWritten;
    final long value;
    final byte @Nullable [] text; // null for a number
    final long expiresAt;

    private Content(CounterTable table, int ordinal, String name) {
      this.name = name;
      this.isWritten = table.isWritten(ordinal);
      this.value = table.value(ordinal);
      this.text = table.text(ordinal);
      this.expiresAt = table.expiresAt(ordinal);
    }
  }

  /** Counters that have an ordinal; all ordinals are below it. */
  int size() {
    return size;
  }

  /** The ordinal of a name; -1 if it has none. */
  int find(String name) {
    int hash = spread(name.hashCode());
    long[] part = index[hash & (PARTS - 1)];
    int mask = part.length - 1;
    for (int at = (hash >>> 6) & mask; ; at = (at + 1) & mask) {
      long slot = part[at];
      if (slot == 0) {
        return -1;
      }
      int ordinal = (int) slot - 1;
      if ((int) (slot >>> 32) == hash && name.equals(name(ordinal))) {
        return ordinal;
      }
    }
  }

  /** The same, of a short name in ASCII without control characters; -1 for any other name too. */
  int find(byte[] name, int from, int length) {
    if (length < 1 || length > SHORT_NAME_MAX) {
      return -1;
    }
    int hash = 0;
    for (int i = from; i < from + length; i++) {
      if (name[i] < ' ') { // above 0x7f it is negative
        return -1;
      }
      hash = 31 * hash + name[i]; // as String has it
    }
    hash = spread(hash);
    long[] part = index[hash & (PARTS - 1)];
    int mask = part.length - 1;
    for (int at = (hash >>> 6) & mask; ; at = (at + 1) & mask) {
      long slot = part[at];
      if (slot == 0) {
        return -1;
      }
      int ordinal = (int) slot - 1;
      if ((int) (slot >>> 32) == hash && isName(ordinal, name, from, length)) {
        return ordinal;
      }
    }
  }

  private boolean isName(int ordinal, byte[] name, int from, int length) {
    Page page = page(ordinal);
    int at = page.places[ordinal & (PAGE - 1)];
    byte[] known = page.bytes;
    return known[at] == length
        && Arrays.equals(known, at + 1, at + 1 + length, name, from, from + length);
  }

  /** Gives a new name the next ordinal. */
  int add(String name) {
    int ordinal = size;
    define(ordinal, name);
    return ordinal;
  }

  /** Gives a name an ordinal, which may be known already. */
  void define(int ordinal, String name) {
    if (ordinal < size && name(ordinal) != null) {
      return;
    }
    while (pages.length << PAGE_BITS <= ordinal) {
      pages = Arrays.copyOf(pages, pages.length + 1);
      pages[pages.length - 1] = new Page();
    }
    size = Math.max(size, ordinal + 1);
    page(ordinal).name(ordinal & (PAGE - 1), name);
    int hash = spread(name.hashCode());
    int part = hash & (PARTS - 1);
    // Parts fill alike; different loads keep them from growing at the same moment.
    if (used[part] * 128L > index[part].length * (64L + part / 2)) {
      grow(part);
    }
    put(index[part], (long) hash << 32 | (ordinal + 1));
    used[part]++;
  }

  private Page page(int ordinal) {
    return pages[ordinal >>> PAGE_BITS];
  }

  private byte state(int ordinal) {
    return page(ordinal).states[ordinal & (PAGE - 1)];
  }

  private void mark(int ordinal, byte bits) {
    page(ordinal).states[ordinal & (PAGE - 1)] |= bits;
  }

  private void unmark(int ordinal, byte bits) {
    page(ordinal).states[ordinal & (PAGE - 1)] &= (byte) ~bits;
  }

  /** The name of an ordinal; null in a gap that a snapshot left and the log will fill. */
  @Nullable String name(int ordinal) {
    return page(ordinal).names[ordinal & (PAGE - 1)];
  }

  /** The value; 0 if never written, and of a text. */
  long value(int ordinal) {
    return page(ordinal).values[ordinal & (PAGE - 1)];
  }

  /** Whether the counter was ever added to; one that was not may have a sealed request. */
  boolean isWritten(int ordinal) {
    return (state(ordinal) & WRITTEN) != 0;
  }

  void set(int ordinal, long value) {
    Page page = page(ordinal);
    page.values[ordinal & (PAGE - 1)] = value;
    byte state = page.states[ordinal & (PAGE - 1)];
    if ((state & (WRITTEN | TEXT | VERSIONED)) != WRITTEN) { // nearly never
      texts.remove(ordinal);
      unmark(ordinal, TEXT);
      wrote(ordinal);
    }
  }

  private void wrote(int ordinal) {
    changed(ordinal);
    if (!isWritten(ordinal)) {
      mark(ordinal, WRITTEN);
      sorted.put(Objects.requireNonNull(name(ordinal)), ordinal);
    }
  }

  private void changed(int ordinal) {
    long[] versions = page(ordinal).versions;
    if (versions != null) {
      versions[ordinal & (PAGE - 1)] = ++lastVersion;
    }
  }

  /** Has an ordinal hold a text and no number. */
  void setText(int ordinal, byte[] text) {
    page(ordinal).values[ordinal & (PAGE - 1)] = 0;
    texts.put(ordinal, text);
    mark(ordinal, TEXT);
    wrote(ordinal);
  }

  /** The text; null if there is none, as usual. */
  byte @Nullable [] text(int ordinal) {
    return (state(ordinal) & TEXT) == 0 ? null : texts.get(ordinal);
  }

  /** Whether any ordinal holds a text. */
  boolean hasTexts() {
    return !texts.isEmpty();
  }

  /** Lets versions start above those of earlier runs. */
  void startVersions(long first) {
    lastVersion = first;
  }

  /** A number that is another one after every change. */
  long version(int ordinal) {
    Page page = page(ordinal);
    long[] versions = page.versions;
    if (versions == null) {
      versions = new long[PAGE];
      Arrays.fill(versions, ++lastVersion);
      page.versions = versions;
      for (int i = 0; i < PAGE; i++) {
        page.states[i] |= VERSIONED;
      }
    }
    return versions[ordinal & (PAGE - 1)];
  }

  /** What an ordinal holds; null in a gap that a salvage left. */
  @Nullable Content content(int ordinal) {
    String name = name(ordinal);
    return name == null ? null : new Content(this, ordinal, name);
  }

  /** When the counter stops to exist, in milliseconds since 1970; 0 for never. */
  long expiresAt(int ordinal) {
    long[] expiries = page(ordinal).expiries;
    return expiries == null ? 0 : expiries[ordinal & (PAGE - 1)];
  }

  /** Whether the counter was written, and has not expired. */
  boolean isAlive(int ordinal, long nowMillis) {
    byte state = state(ordinal);
    return (state & (WRITTEN | EXPIRES)) == WRITTEN // nearly always
        || ((state & WRITTEN) != 0 && expiresAt(ordinal) > nowMillis);
  }

  /** Sets when the counter stops to exist; 0 for never. */
  void expire(int ordinal, long atMillis) {
    Page page = page(ordinal);
    long[] expiries = page.expiries;
    if (expiries == null) {
      if (atMillis == 0) {
        return;
      }
      expiries = new long[PAGE];
      page.expiries = expiries;
    }
    expiries[ordinal & (PAGE - 1)] = atMillis;
    if (atMillis == 0) {
      unmark(ordinal, EXPIRES);
    } else {
      mark(ordinal, EXPIRES);
    }
  }

  /** Makes the counter as one that was never written; its name keeps the ordinal. */
  void remove(int ordinal) {
    if (isWritten(ordinal)) {
      page(ordinal).values[ordinal & (PAGE - 1)] = 0;
      unmark(ordinal, (byte) (WRITTEN | TEXT));
      sorted.remove(Objects.requireNonNull(name(ordinal)));
      texts.remove(ordinal);
      changed(ordinal);
    }
    expire(ordinal, 0);
  }

  /** Marks an ordinal as one whose value goes into the frame; whether it was not marked before. */
  boolean markDirty(int ordinal) {
    byte[] states = page(ordinal).states;
    byte state = states[ordinal & (PAGE - 1)];
    states[ordinal & (PAGE - 1)] = (byte) (state | DIRTY);
    return (state & DIRTY) == 0;
  }

  /** Ends that. */
  void unmarkDirty(int ordinal) {
    unmark(ordinal, DIRTY);
  }

  /** Counters that were written, by name, from the first name that is not before {@code from}. */
  Map<String, Integer> from(String from, boolean inclusive) {
    return sorted.tailMap(from, inclusive);
  }

  /** Counters that were written. */
  int writtenSize() {
    return sorted.size();
  }

  private void grow(int part) {
    long[] bigger = new long[index[part].length * 2];
    for (long slot : index[part]) {
      if (slot != 0) {
        put(bigger, slot);
      }
    }
    index[part] = bigger;
  }

  private static void put(long[] part, long slot) {
    int mask = part.length - 1;
    int at = ((int) (slot >>> 32) >>> 6) & mask;
    while (part[at] != 0) {
      at = (at + 1) & mask;
    }
    part[at] = slot;
  }

  private static int spread(int hash) {
    int mixed = hash * 0x9E3779B9;
    return mixed ^ (mixed >>> 15);
  }
}
