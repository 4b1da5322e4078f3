package dev.quipu.engine.ids;

import java.util.Arrays;

/** Sorts request ids by hash, one part of a table at a time. */
final class IdSorter {
  private final Secret secret;
  private final long[] entries;
  private final long[] order;
  private final long[] sorted;

  /** Creates a sorter for parts of up to this number of entries. */
  IdSorter(Secret secret, int largest) {
    this.secret = secret;
    this.entries = new long[largest * IdTable.STRIDE];
    this.order = new long[largest];
    this.sorted = new long[largest * IdTable.STRIDE];
  }

  long hashAt(long[] entries, int at) {
    return secret.hash(entries[at], entries[at + 1], IdTable.ordinal(entries[at + 2]));
  }

  /** Returns the entries sorted last. */
  long[] sorted() {
    return sorted;
  }

  /**
   * Copies the entries of a part to {@link #sorted}, in unsigned order of hash; returns their
   * number.
   */
  int sort(IdTable table, int part) {
    int count = table.entries(part, entries);
    // The upper half of the hash, made signed-comparable, over the entry's number: one primitive
    // sort. Entries with equal upper halves are few, and are reordered afterwards.
    for (int i = 0; i < count; i++) {
      long hash = hashAt(entries, i * IdTable.STRIDE);
      order[i] = ((hash ^ Long.MIN_VALUE) & 0xFFFFFFFF00000000L) | i;
    }
    Arrays.sort(order, 0, count);
    for (int from = 0; from < count; ) {
      int until = from + 1;
      while (until < count && order[until] >>> 32 == order[from] >>> 32) {
        until++;
      }
      if (until - from > 1) {
        sortByWholeHash(from, until);
      }
      from = until;
    }
    for (int i = 0; i < count; i++) {
      System.arraycopy(
          entries, (int) order[i] * IdTable.STRIDE, sorted, i * IdTable.STRIDE, IdTable.STRIDE);
    }
    return count;
  }

  private void sortByWholeHash(int from, int until) {
    Long[] run = new Long[until - from];
    Arrays.setAll(run, i -> order[from + i]);
    Arrays.sort(
        run,
        (a, b) ->
            Long.compareUnsigned(
                hashAt(entries, a.intValue() * IdTable.STRIDE),
                hashAt(entries, b.intValue() * IdTable.STRIDE)));
    for (int i = 0; i < run.length; i++) {
      order[from + i] = run[i];
    }
  }
}
