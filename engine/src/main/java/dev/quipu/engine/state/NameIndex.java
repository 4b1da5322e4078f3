package dev.quipu.engine.state;

import dev.quipu.engine.ids.Secret;
import java.util.Arrays;

/**
 * Finds ordinals by name: open addressing in many parts that grow independently, each by a quarter,
 * so that none is ever large or half empty. A slot holds half of the keyed hash in its upper half,
 * and the ordinal plus one in its lower half; the names themselves are in the table.
 *
 * <p>Recently used names are found in a cache by their string's own hash. Names that collide there
 * only evict each other. Stale entries are detected, because each hit is checked against the table.
 * Not thread-safe.
 */
final class NameIndex {
  static final int PARTS = 1_024;
  static final int PART_SLOTS_FIRST = 8;
  private static final int PART_BITS = Integer.numberOfTrailingZeros(PARTS);

  /** Number of cached names, found without the keyed hash. */
  private static final int RECENT = 1 << 15;

  private static final int RECENT_SHIFT = Integer.numberOfLeadingZeros(RECENT - 1);
  private static final int SPREAD = 0x9E3779B1;
  private static final int[] NONE = {};
  private static final int TOGETHER = 64; // names whose slots are read ahead

  private final Secret secret;
  private final long[][] parts = new long[PARTS][PART_SLOTS_FIRST];
  private final int[] used = new int[PARTS];
  private final long[] recent = new long[RECENT]; // in pairs
  long touched; // stored, so that a prefetch is not optimized away

  NameIndex(Secret secret) {
    this.secret = secret;
  }

  /** Returns the ordinal of a name; -1 if it has none. */
  int find(String name, CounterPages names) {
    int weak = name.hashCode(); // cached in the string, or cheaper to compute than a keyed one
    int at = (weak * SPREAD) >>> RECENT_SHIFT;
    long newer = recent[at];
    if (holds(newer, weak, name, names)) {
      return (int) newer - 1;
    }
    long older = recent[at ^ 1];
    if (holds(older, weak, name, names)) {
      return (int) older - 1;
    }
    int ordinal = lookFor(name, names);
    if (ordinal >= 0) {
      recent[at ^ 1] = newer;
      recent[at] = slot(weak, ordinal);
    }
    return ordinal;
  }

  private static boolean holds(long slot, int hash, String name, CounterPages names) {
    return (int) (slot >>> 32) == hash && slot != 0 && names.isName((int) slot - 1, name);
  }

  static long slot(int hash, int ordinal) {
    return (long) hash << 32 | (ordinal + 1);
  }

  private int lookFor(String name, CounterPages names) {
    int hash = hash(name);
    long[] part = parts[part(hash)];
    for (int at = home(hash, part.length); ; at = after(at, part.length)) {
      long slot = part[at];
      if (slot == 0) {
        return -1;
      }
      if (holds(slot, hash, name, names)) {
        return (int) slot - 1;
      }
    }
  }

  /** Returns the ordinal of an ASCII name; -1 if it has none. */
  int find(byte[] name, int from, int length, CounterPages names) {
    int hash = hash(name, from, length);
    long[] part = parts[part(hash)];
    for (int at = home(hash, part.length); ; at = after(at, part.length)) {
      long slot = part[at];
      if (slot == 0) {
        return -1;
      }
      int ordinal = (int) slot - 1;
      if ((int) (slot >>> 32) == hash && names.isName(ordinal, name, from, length)) {
        return ordinal;
      }
    }
  }

  /** Adds a name that is not present. */
  void put(String name, int ordinal) {
    put(hash(name), ordinal);
  }

  private void put(int hash, int ordinal) {
    int part = part(hash);
    // Parts fill evenly; different load limits, of 0.7 to 0.8, keep them from growing at once.
    if (used[part] * 256L >= parts[part].length * (180L + part % 32)) {
      grow(part);
    }
    put(parts[part], slot(hash, ordinal));
    used[part]++;
  }

  /** Makes room for this number of names in an empty index. */
  void reserve(long names) {
    int slots = (int) (Math.min(names, Integer.MAX_VALUE) * 29 / 20 / PARTS); // below all limits
    for (int part = 0; part < PARTS && slots > parts[part].length; part++) {
      parts[part] = new long[slots];
    }
  }

  /**
   * Adds names of one part. Threads may add to different parts at the same time.
   *
   * @param slots of the names
   * @return the ordinals whose name is present, which were not added
   */
  int[] putAll(long[] slots, int from, int until, CounterPages names) {
    int[] present = NONE;
    long sum = 0;
    for (int first = from; first < until; first += TOGETHER) {
      int end = Math.min(until, first + TOGETHER);
      for (int i = first; i < end; i++) { // so that cache misses overlap
        sum += touch((int) (slots[i] >>> 32));
      }
      for (int i = first; i < end; i++) {
        int hash = (int) (slots[i] >>> 32);
        int ordinal = (int) slots[i] - 1;
        if (isPresent(hash, ordinal, names)) {
          present = Arrays.copyOf(present, present.length + 1);
          present[present.length - 1] = ordinal;
        } else {
          put(hash, ordinal);
        }
      }
    }
    touched = sum;
    return present;
  }

  private boolean isPresent(int hash, int ordinal, CounterPages names) {
    long[] part = parts[part(hash)];
    for (int at = home(hash, part.length); part[at] != 0; at = after(at, part.length)) {
      if ((int) (part[at] >>> 32) == hash && names.compareNames(ordinal, (int) part[at] - 1) == 0) {
        return true;
      }
    }
    return false;
  }

  /** Removes a name, and closes the gap, so that probing still finds all others. */
  void remove(String name, int ordinal) {
    int hash = hash(name);
    long[] part = parts[part(hash)];
    int slots = part.length;
    int gap = home(hash, slots);
    while ((int) part[gap] != ordinal + 1) {
      gap = after(gap, slots);
    }
    for (int at = after(gap, slots); part[at] != 0; at = after(at, slots)) {
      int home = home((int) (part[at] >>> 32), slots);
      if (distance(home, at, slots) >= distance(gap, at, slots)) {
        part[gap] = part[at];
        gap = at;
      }
    }
    part[gap] = 0;
    used[part(hash)]--;
  }

  /** Returns the half of the keyed hash that slots hold. */
  int hash(String name) {
    return (int) (secret.hash(name) >>> 32);
  }

  int hash(byte[] name, int from, int length) {
    return (int) (secret.hash(name, from, length) >>> 32);
  }

  /** Prefetches the first slot of a name: see {@link Lookahead}. */
  long touch(int hash) {
    long[] part = parts[part(hash)];
    return part[home(hash, part.length)];
  }

  /** Returns the first ordinal whose name has this hash, almost always the only one; or -1. */
  int candidate(int hash) {
    long[] part = parts[part(hash)];
    int at = home(hash, part.length);
    while (part[at] != 0 && (int) (part[at] >>> 32) != hash) {
      at = after(at, part.length);
    }
    return (int) part[at] - 1;
  }

  /** Returns the part of a slot. */
  static int partOf(long slot) {
    return part((int) (slot >>> Integer.SIZE));
  }

  static int part(int hash) {
    return hash >>> (Integer.SIZE - PART_BITS);
  }

  /** Returns the slot where probing begins: the bits below those of the part, as a fraction. */
  static int home(int hash, int slots) {
    return (int) ((Integer.toUnsignedLong(hash << PART_BITS) * slots) >>> 32);
  }

  private static int after(int at, int slots) {
    return at + 1 == slots ? 0 : at + 1;
  }

  private static int distance(int from, int to, int slots) {
    return to >= from ? to - from : to - from + slots;
  }

  private void grow(int part) {
    int slots = parts[part].length;
    long[] bigger = new long[slots + slots / 4];
    for (long slot : parts[part]) {
      if (slot != 0) {
        put(bigger, slot);
      }
    }
    parts[part] = bigger;
  }

  private static void put(long[] part, long slot) {
    int at = home((int) (slot >>> 32), part.length);
    while (part[at] != 0) {
      at = after(at, part.length);
    }
    part[at] = slot;
  }
}
