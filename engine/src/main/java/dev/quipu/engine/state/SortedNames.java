package dev.quipu.engine.state;

import java.nio.IntBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.NoSuchElementException;
import java.util.PrimitiveIterator;
import java.util.function.IntBinaryOperator;
import java.util.stream.IntStream;

/**
 * Ordinals in the order of their names, which are in the names. Leaves of up to {@link #LEAF}
 * ordinals, about two thirds full, are in one directory: 6 bytes for each counter. A lookup
 * compares as many names as the logarithm of the number of counters. Not thread-safe.
 */
final class SortedNames {
  static final int LEAF = 256;
  private static final int SORTED_LEAF = LEAF / 8 * 7; // leaves room for some more
  private static final int SMALL = 16; // sorted by insertion
  private static final int PARALLEL_LEAVES = 4_096; // with fewer, one thread is as fast
  private static final int TOGETHER = 64; // names whose places are searched at once

  private final CounterPages names;
  private int[][] leaves = {new int[LEAF]};
  private int[] counts = new int[1];
  private int leafCount = 1;
  private int size;
  private long touched; // stored, so that a prefetch is not optimized away

  SortedNames(CounterPages names) {
    this.names = names;
  }

  int size() {
    return size;
  }

  /** Returns the number of leaves. */
  int leaves() {
    return leafCount;
  }

  /** Replaces the content. */
  void sort(int[] ordinals) {
    sort(ordinals, 0, ordinals.length, 0);
    clear();
    for (int ordinal : ordinals) {
      append(ordinal);
    }
  }

  private void clear() {
    leaves = new int[][] {new int[LEAF]};
    counts = new int[1];
    leafCount = 1;
    size = 0;
  }

  /** Adds an ordinal whose name is above all others. */
  void append(int ordinal) {
    roomAtEnd();
    leaves[leafCount - 1][counts[leafCount - 1]++] = ordinal;
    size++;
  }

  /** Adds ordinals whose names are above all others, in their order. */
  void append(IntBuffer ordinals) {
    size += ordinals.remaining();
    while (ordinals.hasRemaining()) {
      roomAtEnd();
      int last = leafCount - 1;
      int some = Math.min(ordinals.remaining(), SORTED_LEAF - counts[last]);
      ordinals.get(leaves[last], counts[last], some);
      counts[last] += some;
    }
  }

  /** Ensures that the last leaf is not full. */
  private void roomAtEnd() {
    if (counts[leafCount - 1] < SORTED_LEAF) {
      return;
    }
    if (leafCount == leaves.length) {
      leaves = Arrays.copyOf(leaves, leafCount + leafCount / 2 + 1);
      counts = Arrays.copyOf(counts, leaves.length);
    }
    leaves[leafCount] = new int[LEAF];
    counts[leafCount] = 0;
    leafCount++;
  }

  /** Removes ordinals, whose names may have changed, in linear time. */
  void removeAll(BitSet removed) {
    IntStream all = IntStream.range(0, leafCount);
    size =
        (leafCount < PARALLEL_LEAVES ? all : all.parallel())
            .map(leaf -> counts[leaf] = retain(leaves[leaf], counts[leaf], removed))
            .sum();
    int kept = 0;
    for (int leaf = 0; leaf < leafCount; leaf++) {
      if (counts[leaf] > 0) { // an empty one would have no first name
        leaves[kept] = leaves[leaf];
        counts[kept++] = counts[leaf];
      }
    }
    leafCount = kept;
    if (kept == 0) {
      clear();
    }
  }

  private static int retain(int[] ordinals, int count, BitSet except) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if (!except.get(ordinals[i])) {
        ordinals[kept++] = ordinals[i];
      }
    }
    return kept;
  }

  /** Sorts names that begin with the same number of bytes, by four bytes at a time. */
  private void sort(int[] ordinals, int from, int until, int depth) {
    if (until - from <= SMALL) {
      sortFew(ordinals, from, until);
      return;
    }
    int common = Integer.MAX_VALUE; // without this, each common prefix would be sorted by
    for (int i = from + 1; i < until && common > depth; i++) {
      common = Math.min(common, names.commonBytes(ordinals[from], ordinals[i]));
    }
    long[] order = new long[until - from];
    for (int i = from; i < until; i++) {
      long word = names.nameBytes(ordinals[i], common) ^ Integer.MIN_VALUE; // unsigned order
      order[i - from] = word << Integer.SIZE | ordinals[i];
    }
    Arrays.parallelSort(order);
    for (int i = from; i < until; i++) {
      ordinals[i] = (int) order[i - from];
    }
    for (int start = 0, end; start < order.length; start = end) {
      end = start + 1;
      while (end < order.length && order[end] >> Integer.SIZE == order[start] >> Integer.SIZE) {
        end++;
      }
      if (end - start > 1) {
        sort(ordinals, from + start, from + end, common + Integer.BYTES);
      }
    }
  }

  private void sortFew(int[] ordinals, int from, int until) {
    for (int i = from + 1; i < until; i++) {
      int ordinal = ordinals[i];
      int at = i;
      while (at > from && names.compareNames(ordinals[at - 1], ordinal) > 0) {
        ordinals[at] = ordinals[at - 1];
        at--;
      }
      ordinals[at] = ordinal;
    }
  }

  /** Adds ordinals whose names are not present. */
  void addAll(int[] ordinals) {
    sort(ordinals, 0, ordinals.length, 0);
    for (int from = 0; from < ordinals.length; from += TOGETHER) {
      addSome(Arrays.copyOfRange(ordinals, from, Math.min(from + TOGETHER, ordinals.length)));
    }
  }

  /** Adds a few in order of their names: first it finds the places of all, then it inserts them. */
  private void addSome(int[] ordinals) {
    int count = ordinals.length;
    byte[][] sought = new byte[count][];
    Arrays.setAll(sought, i -> names.nameInUtf8(ordinals[i]));
    int[] found = new int[count]; // leaves
    int[] places = new int[count];
    int[] ends = new int[count];
    Arrays.fill(ends, leafCount - 1);
    search(sought, found, ends, (i, leaf) -> leaves[leaf + 1][0]);
    Arrays.setAll(ends, i -> counts[found[i]]);
    search(sought, places, ends, (i, place) -> leaves[found[i]][place]);
    int leavesBefore = leafCount;
    int first = 0; // the leaf of this name, or the first one of those that it was split into
    int inserted = 0; // into this leaf
    boolean isSplit = false;
    for (int i = 0; i < count; i++) {
      if (i == 0 || found[i] != found[i - 1]) {
        first = found[i] + leafCount - leavesBefore;
        inserted = 0;
        isSplit = false;
      }
      isSplit |= counts[first] == LEAF;
      if (isSplit) {
        add(ordinals[i], sought[i], first);
      } else {
        insert(ordinals[i], first, places[i] + inserted++);
      }
    }
  }

  /**
   * Finds, for each of several names, the first place from {@code found} until {@code ends} whose
   * name is above it, by steps for all of them: the names that one step compares are read first, so
   * that cache misses overlap.
   *
   * @param ordinalAt returns the ordinal at a place, for the name of an index
   */
  private void search(byte[][] sought, int[] found, int[] ends, IntBinaryOperator ordinalAt) {
    boolean isFound = false;
    while (!isFound) {
      for (int i = 0; i < sought.length; i++) {
        if (found[i] < ends[i]) {
          touched += names.touchName(ordinalAt.applyAsInt(i, (found[i] + ends[i]) >>> 1));
        }
      }
      isFound = true;
      for (int i = 0; i < sought.length; i++) {
        if (found[i] < ends[i]) {
          int middle = (found[i] + ends[i]) >>> 1;
          if (names.compareName(ordinalAt.applyAsInt(i, middle), sought[i]) <= 0) {
            found[i] = middle + 1;
          } else {
            ends[i] = middle;
          }
          isFound = false;
        }
      }
    }
  }

  /** Returns a number that depends on everything read ahead. */
  long touched() {
    return touched;
  }

  /**
   * Adds an ordinal whose name is not present.
   *
   * @param from a leaf that is not after its place
   */
  private void add(int ordinal, byte[] name, int from) {
    int leaf = leafFrom(from, name);
    if (counts[leaf] == LEAF) {
      split(leaf);
      leaf = leafFrom(leaf, name);
    }
    insert(ordinal, leaf, placeOf(leaf, name));
  }

  private void insert(int ordinal, int leaf, int at) {
    int[] ordinals = leaves[leaf];
    System.arraycopy(ordinals, at, ordinals, at + 1, counts[leaf] - at);
    ordinals[at] = ordinal;
    counts[leaf]++;
    size++;
  }

  /** Removes an ordinal by its name; returns whether it was present. */
  boolean remove(int ordinal, byte[] name) {
    int leaf = leafOf(name);
    int at = placeOf(leaf, name);
    int[] ordinals = leaves[leaf];
    if (at == counts[leaf] || ordinals[at] != ordinal) {
      return false;
    }
    System.arraycopy(ordinals, at + 1, ordinals, at, counts[leaf] - at - 1);
    counts[leaf]--;
    size--;
    int next = leaf + 1 < leafCount ? leaf : leaf - 1; // the first of two neighbors
    boolean isEmpty = counts[leaf] == 0; // it would have no first name
    if (next >= 0 && (isEmpty || counts[next] + counts[next + 1] <= LEAF / 2)) {
      merge(next);
    }
    return true;
  }

  private void split(int leaf) {
    int[] upper = new int[LEAF]; // before anything changes
    if (leafCount == leaves.length) {
      leaves = Arrays.copyOf(leaves, leafCount + leafCount / 2 + 1);
      counts = Arrays.copyOf(counts, leaves.length);
    }
    System.arraycopy(leaves, leaf + 1, leaves, leaf + 2, leafCount - leaf - 1);
    System.arraycopy(counts, leaf + 1, counts, leaf + 2, leafCount - leaf - 1);
    leafCount++;
    // Names that arrive in order fill their leaves.
    int kept = leaf + 2 == leafCount ? SORTED_LEAF : LEAF / 2;
    System.arraycopy(leaves[leaf], kept, upper, 0, LEAF - kept);
    leaves[leaf + 1] = upper;
    counts[leaf + 1] = LEAF - kept;
    counts[leaf] = kept;
  }

  private void merge(int leaf) {
    System.arraycopy(leaves[leaf + 1], 0, leaves[leaf], counts[leaf], counts[leaf + 1]);
    counts[leaf] += counts[leaf + 1];
    System.arraycopy(leaves, leaf + 2, leaves, leaf + 1, leafCount - leaf - 2);
    System.arraycopy(counts, leaf + 2, counts, leaf + 1, leafCount - leaf - 2);
    leafCount--;
    leaves[leafCount] = new int[0];
  }

  /** Returns the last leaf that begins with at most this name; otherwise the first. */
  private int leafOf(byte[] name) {
    return leafBetween(0, leafCount - 1, name);
  }

  /** Returns the same, near to a leaf that is not after it. */
  private int leafFrom(int from, byte[] name) {
    int low = from;
    for (int step = 1; low + step < leafCount; step *= 2) {
      if (names.compareName(leaves[low + step][0], name) > 0) {
        return leafBetween(low, low + step - 1, name);
      }
      low += step;
    }
    return leafBetween(low, leafCount - 1, name);
  }

  private int leafBetween(int first, int last, byte[] name) {
    int low = first;
    int high = last;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (names.compareName(leaves[middle][0], name) <= 0) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /** Returns the first place of a leaf whose name is not below this one. */
  private int placeOf(int leaf, byte[] name) {
    int[] ordinals = leaves[leaf];
    int low = 0;
    int high = counts[leaf];
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (names.compareName(ordinals[middle], name) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Returns the ordinals by name, starting at {@code from}. Valid until the next change. */
  PrimitiveIterator.OfInt from(String from, boolean inclusive) {
    byte[] name = from.getBytes(StandardCharsets.UTF_8);
    int leaf = leafOf(name);
    int at = placeOf(leaf, name);
    boolean skips =
        !inclusive && at < counts[leaf] && names.compareName(leaves[leaf][at], name) == 0;
    return new Cursor(leaf, skips ? at + 1 : at);
  }

  private final class Cursor implements PrimitiveIterator.OfInt {
    private int leaf;
    private int at;

    Cursor(int leaf, int at) {
      this.leaf = leaf;
      this.at = at;
      reach();
    }

    private void reach() {
      while (leaf < leafCount && at >= counts[leaf]) {
        leaf++;
        at = 0;
      }
    }

    @Override
    public boolean hasNext() {
      return leaf < leafCount;
    }

    @Override
    public int nextInt() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      int ordinal = leaves[leaf][at++];
      reach();
      return ordinal;
    }
  }
}
