package dev.quipu.engine.state;

import dev.quipu.engine.ids.Secret;

/**
 * Finds ordinals by name: open addressing in many parts that grow independently. A slot holds half
 * of the keyed hash in its upper half, and the ordinal plus one in its lower half; the names
 * themselves are in the table.
 *
 * <p>Recently used names are found in a cache by their string's own hash. Names that collide there
 * only evict each other. Stale entries are detected, because each hit is checked against the table.
 * Not thread-safe.
 */
final class NameIndex {
  private static final int PARTS = 64;
  private static final int PART_SLOTS_FIRST = 64;

  /** Number of cached names, found without the keyed hash. */
  private static final int RECENT = 1 << 15;

  private static final int RECENT_SHIFT = Integer.numberOfLeadingZeros(RECENT - 1);
  private static final int SPREAD = 0x9E3779B1;

  private final Secret secret;
  private final long[][] parts = new long[PARTS][PART_SLOTS_FIRST];
  private final int[] used = new int[PARTS];
  private final long[] recent = new long[RECENT]; // in pairs

  NameIndex(Secret secret) {
    this.secret = secret;
  }

  /** Returns the ordinal of a name; -1 if it has none. */
  int find(String name, CounterTable names) {
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

  private static boolean holds(long slot, int hash, String name, CounterTable names) {
    return (int) (slot >>> 32) == hash && slot != 0 && name.equals(names.name((int) slot - 1));
  }

  private static long slot(int hash, int ordinal) {
    return (long) hash << 32 | (ordinal + 1);
  }

  private int lookFor(String name, CounterTable names) {
    int hash = hash(name);
    long[] part = parts[hash & (PARTS - 1)];
    int mask = part.length - 1;
    for (int at = (hash >>> 6) & mask; ; at = (at + 1) & mask) {
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
  int find(byte[] name, int from, int length, CounterTable names) {
    int hash = (int) (secret.hash(name, from, length) >>> 32);
    long[] part = parts[hash & (PARTS - 1)];
    int mask = part.length - 1;
    for (int at = (hash >>> 6) & mask; ; at = (at + 1) & mask) {
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
    int hash = hash(name);
    int part = hash & (PARTS - 1);
    // Parts fill evenly; different load limits keep them from growing at the same moment.
    if (used[part] * 128L > parts[part].length * (64L + part / 2)) {
      grow(part);
    }
    put(parts[part], slot(hash, ordinal));
    used[part]++;
  }

  /** Removes a name, and closes the gap, so that probing still finds all others. */
  void remove(String name, int ordinal) {
    int hash = hash(name);
    long[] part = parts[hash & (PARTS - 1)];
    int mask = part.length - 1;
    int gap = (hash >>> 6) & mask;
    while ((int) part[gap] != ordinal + 1) {
      gap = (gap + 1) & mask;
    }
    for (int at = (gap + 1) & mask; part[at] != 0; at = (at + 1) & mask) {
      int home = ((int) (part[at] >>> 32) >>> 6) & mask;
      if (((at - home) & mask) >= ((at - gap) & mask)) {
        part[gap] = part[at];
        gap = at;
      }
    }
    part[gap] = 0;
    used[hash & (PARTS - 1)]--;
  }

  private int hash(String name) {
    return (int) (secret.hash(name) >>> 32);
  }

  private void grow(int part) {
    long[] bigger = new long[parts[part].length * 2];
    for (long slot : parts[part]) {
      if (slot != 0) {
        put(bigger, slot);
      }
    }
    parts[part] = bigger;
  }

  private static void put(long[] part, long slot) {
    int mask = part.length - 1;
    int at = ((int) (slot >>> 32) >>> 6) & mask;
    while (part[at] != 0) {
      at = (at + 1) & mask;
    }
    part[at] = slot;
  }
}
