package dev.quipu.engine;

import dev.quipu.store.Key;
import java.util.ArrayList;
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
  private final TreeMap<String, Integer> sorted = new TreeMap<>(Key.ORDER);
  private int size;

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
    boolean[] page = written.get(ordinal >>> PAGE_BITS);
    if (!page[ordinal & (PAGE - 1)]) {
      page[ordinal & (PAGE - 1)] = true;
      sorted.put(Objects.requireNonNull(name(ordinal)), ordinal);
    }
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
