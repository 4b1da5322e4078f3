package dev.quipu.engine.ids;

/** Sorts request ids by hash, one part of a table at a time. */
final class IdSorter {
  private final Secret secret;
  private final long[] entries;
  private final long[] hashes;
  private final int[] order;

  /** Creates a sorter for parts of up to this number of entries. */
  IdSorter(Secret secret, int largest) {
    this.secret = secret;
    this.entries = new long[largest * IdTable.STRIDE];
    this.hashes = new long[largest];
    this.order = new int[largest];
  }

  /**
   * Sorts the entries of a part in unsigned order of hash; returns their number. They are sorted by
   * insertion: a table has them almost in this order.
   */
  int sort(IdTable table, int part) {
    int count = table.entries(part, entries);
    for (int i = 0; i < count; i++) {
      int at = i * IdTable.STRIDE;
      long hash = secret.hash(entries[at], entries[at + 1], IdTable.ordinal(entries[at + 2]));
      int to = i;
      for (; to > 0 && Long.compareUnsigned(hashes[to - 1], hash) > 0; to--) {
        hashes[to] = hashes[to - 1];
        order[to] = order[to - 1];
      }
      hashes[to] = hash;
      order[to] = at;
    }
    return count;
  }

  /** Returns the hash of an entry, by its place in the order. */
  long hash(int index) {
    return hashes[index];
  }

  /** Returns the longs of the part that was sorted last, among which are its entries. */
  long[] entries() {
    return entries;
  }

  /** Returns where an entry begins in {@link #entries()}, by its place in the order. */
  int start(int index) {
    return order[index];
  }
}
