package dev.quipu.engine;

import dev.quipu.store.Key;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
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

  private final long[][] index = new long[PARTS][PART_SLOTS_FIRST];
  private final int[] used = new int[PARTS];
  private final List<@Nullable String[]> names = new ArrayList<>();
  private final List<long[]> values = new ArrayList<>();
  private final List<boolean[]> written = new ArrayList<>();
  private final List<long @Nullable []> expiries = new ArrayList<>(); // a page comes with its first
  private final Map<Integer, byte[]> texts = new HashMap<>();
  private final List<long @Nullable []> versions = new ArrayList<>();
  private long lastVersion;
  private final TreeMap<String, Integer> sorted = new TreeMap<>(Key.ORDER);
  private int size;

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

  /** The same, of a name in ASCII without control characters; -1 for any other name too. */
  int find(byte[] name, int from, int length) {
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
    String known = name(ordinal);
    if (known == null || known.length() != length) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (known.charAt(i) != name[from + i]) {
        return false;
      }
    }
    return true;
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
    while (values.size() << PAGE_BITS <= ordinal) {
      names.add(new String[PAGE]);
      values.add(new long[PAGE]);
      written.add(new boolean[PAGE]);
      expiries.add(null);
      versions.add(null);
    }
    size = Math.max(size, ordinal + 1);
    names.get(ordinal >>> PAGE_BITS)[ordinal & (PAGE - 1)] = name;
    int hash = spread(name.hashCode());
    int part = hash & (PARTS - 1);
    // Parts fill alike; different loads keep them from growing at the same moment.
    if (used[part] * 128L > index[part].length * (64L + part / 2)) {
      grow(part);
    }
    put(index[part], (long) hash << 32 | (ordinal + 1));
    used[part]++;
  }

  /** The name of an ordinal; null in a gap that a snapshot left and the log will fill. */
  @Nullable String name(int ordinal) {
    return names.get(ordinal >>> PAGE_BITS)[ordinal & (PAGE - 1)];
  }

  /** The value; 0 if never written. */
  long value(int ordinal) {
    return values.get(ordinal >>> PAGE_BITS)[ordinal & (PAGE - 1)];
  }

  /** Whether the counter was ever added to; one that was not may have a sealed request. */
  boolean isWritten(int ordinal) {
    return written.get(ordinal >>> PAGE_BITS)[ordinal & (PAGE - 1)];
  }

  void set(int ordinal, long value) {
    values.get(ordinal >>> PAGE_BITS)[ordinal & (PAGE - 1)] = value;
    if (!texts.isEmpty()) { // nearly never
      texts.remove(ordinal);
    }
    wrote(ordinal);
  }

  private void wrote(int ordinal) {
    changed(ordinal);
    boolean[] page = written.get(ordinal >>> PAGE_BITS);
    if (!page[ordinal & (PAGE - 1)]) {
      page[ordinal & (PAGE - 1)] = true;
      sorted.put(Objects.requireNonNull(name(ordinal)), ordinal);
    }
  }

  private void changed(int ordinal) {
    long[] page = versions.get(ordinal >>> PAGE_BITS);
    if (page != null) {
      page[ordinal & (PAGE - 1)] = ++lastVersion;
    }
  }

  /** Has an ordinal hold a text and no number. */
  void setText(int ordinal, byte[] text) {
    values.get(ordinal >>> PAGE_BITS)[ordinal & (PAGE - 1)] = 0;
    texts.put(ordinal, text);
    wrote(ordinal);
  }

  /** The text; null if there is none, as usual. */
  byte @Nullable [] text(int ordinal) {
    return texts.isEmpty() ? null : texts.get(ordinal);
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
    long[] page = versions.get(ordinal >>> PAGE_BITS);
    if (page == null) {
      page = new long[PAGE];
      Arrays.fill(page, ++lastVersion);
      versions.set(ordinal >>> PAGE_BITS, page);
    }
    return page[ordinal & (PAGE - 1)];
  }

  /** What an ordinal holds; null in a gap that a salvage left. */
  @Nullable Content content(int ordinal) {
    String name = name(ordinal);
    return name == null ? null : new Content(this, ordinal, name);
  }

  /** When the counter stops to exist, in milliseconds since 1970; 0 for never. */
  long expiresAt(int ordinal) {
    long[] page = expiries.get(ordinal >>> PAGE_BITS);
    return page == null ? 0 : page[ordinal & (PAGE - 1)];
  }

  /** Whether the counter was written, and has not expired. */
  boolean isAlive(int ordinal, long nowMillis) {
    long at = expiresAt(ordinal);
    return isWritten(ordinal) && (at == 0 || at > nowMillis);
  }

  /** Sets when the counter stops to exist; 0 for never. */
  void expire(int ordinal, long atMillis) {
    long[] page = expiries.get(ordinal >>> PAGE_BITS);
    if (page == null) {
      if (atMillis == 0) {
        return;
      }
      page = new long[PAGE];
      expiries.set(ordinal >>> PAGE_BITS, page);
    }
    page[ordinal & (PAGE - 1)] = atMillis;
  }

  /** Makes the counter as one that was never written; its name keeps the ordinal. */
  void remove(int ordinal) {
    if (isWritten(ordinal)) {
      values.get(ordinal >>> PAGE_BITS)[ordinal & (PAGE - 1)] = 0;
      written.get(ordinal >>> PAGE_BITS)[ordinal & (PAGE - 1)] = false;
      sorted.remove(Objects.requireNonNull(name(ordinal)));
      texts.remove(ordinal);
      changed(ordinal);
    }
    expire(ordinal, 0);
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
