package dev.quipu.engine.ids;

/** Sorts request ids by hash, one part of a table at a time. */
final class IdSorter {
  private final int[] slots;
  private final long[] hashes;

  /** Creates a sorter for parts of up to this number of entries. */
  IdSorter(int largest) {
    this.slots = new int[largest];
    this.hashes = new long[largest];
  }

  /**
   * Sorts the entries of a part in unsigned order of hash; returns their number. They are sorted by
   * insertion: a table has them almost in this order.
   */
  int sort(IdTable table, int part) {
    int count = table.entries(part, slots);
    for (int i = 0; i < count; i++) {
      int slot = slots[i];
      long hash = table.hash(part, slot);
      int to = i;
      for (; to > 0 && Long.compareUnsigned(hashes[to - 1], hash) > 0; to--) {
        hashes[to] = hashes[to - 1];
        slots[to] = slots[to - 1];
      }
      hashes[to] = hash;
      slots[to] = slot;
    }
    return count;
  }

  /** Returns the hash of an entry, by its place in the order. */
  long hash(int index) {
    return hashes[index];
  }

  /** Returns the slot of an entry, by its place in the order. */
  int slot(int index) {
    return slots[index];
  }
}
