package dev.quipu.engine;

import org.jspecify.annotations.Nullable;

/**
 * Finds ordinals by name: open addressing in many parts, which grow one at a time and not all at
 * once. A slot holds half of the keyed hash in its upper half, and the ordinal plus one in its
 * lower half; the names themselves are in the table. Not thread-safe.
 */
final class NameIndex {
  private static final int PARTS = 64;
  private static final int PART_SLOTS_FIRST = 64;

  private final Secret secret;
  private final long[][] parts = new long[PARTS][PART_SLOTS_FIRST];
  private final int[] used = new int[PARTS];
  private @Nullable String foundName; // the last that was looked for
  private int foundOrdinal = -1;

  NameIndex(Secret secret) {
    this.secret = secret;
  }

  /** The ordinal of a name; -1 if it has none. A command looks for its own again and again. */
  @SuppressWarnings("ReferenceEquality") // another string with these chars is just looked for
  int find(String name, CounterTable names) {
    if (name != foundName) {
      foundOrdinal = lookFor(name, names);
      foundName = name;
    }
    return foundOrdinal;
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
      int ordinal = (int) slot - 1;
      if ((int) (slot >>> 32) == hash && name.equals(names.name(ordinal))) {
        return ordinal;
      }
    }
  }

  /** The same, of a name in ASCII. */
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

  /** Adds a name that is not there. */
  void put(String name, int ordinal) {
    foundName = null;
    int hash = hash(name);
    int part = hash & (PARTS - 1);
    // Parts fill alike; different loads keep them from growing at the same moment.
    if (used[part] * 128L > parts[part].length * (64L + part / 2)) {
      grow(part);
    }
    put(parts[part], (long) hash << 32 | (ordinal + 1));
    used[part]++;
  }

  /** Removes a name, and closes the gap, so that probing still finds all others. */
  void remove(String name, int ordinal) {
    foundName = null;
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
