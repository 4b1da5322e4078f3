package dev.quipu.engine.ids;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The indexes of ids in files, by time: so that those of forgotten ids are dropped. Not
 * thread-safe.
 *
 * <p>Each has a number, in order of time. The ids of a table get into one index while they are
 * written to a file; those of a merged file are in one or several. The files that were found at the
 * start are in none at first, and then in one.
 */
final class IdIndexes {
  /** The number of no index. */
  static final int NONE = 0;

  /** The number of the index of files found at the start. */
  static final int BEFORE = NONE + 1;

  /** An index ends when it takes half of the memory, so that one can be dropped before another. */
  private static final int SHARES = 2;

  private final Deque<IdIndex> indexes = new ArrayDeque<>();
  private final long bytesMax;
  private final long spanMillis;
  private int first = BEFORE + 1;
  private boolean hadBefore;
  private long startMillis = Long.MAX_VALUE;

  /**
   * Creates the first index.
   *
   * @param bytesMax heap of all, in bytes; at least one has more if that is little
   * @param spanMillis how long one index takes ids
   */
  IdIndexes(long bytesMax, long spanMillis) {
    this.bytesMax = bytesMax;
    this.spanMillis = spanMillis;
    indexes.add(new IdIndex());
  }

  /** Returns the number of the last index. */
  int last() {
    return first + indexes.size() - 1;
  }

  /** Returns whether all ids of a file are in indexes that are still there. */
  boolean cover(int number) {
    return number >= first;
  }

  /** Returns how many ids an index may have. */
  long idsMax() {
    return bytesMax / SHARES / IdIndex.BYTES_PER_ID;
  }

  /** Adds the index of files found at the start, once, if no later one was dropped. */
  boolean addBefore(IdIndex index) {
    if (hadBefore || first != BEFORE + 1) {
      return false;
    }
    indexes.addFirst(index);
    first = BEFORE;
    hadBefore = true;
    return true;
  }

  /** Returns whether an index may have an id. */
  boolean mayHold(long hash) {
    for (IdIndex each : indexes) {
      if (each.mayHold(hash)) {
        return true;
      }
    }
    return false;
  }

  /** Prefetches the slots of some ids; returns a number that depends on all of them. */
  long touch(long[] hashes, int count) {
    long sum = 0;
    for (IdIndex each : indexes) {
      for (int i = 0; i < count; i++) { // short, so that several rounds are executed at once
        sum += each.touch(hashes[i]);
      }
    }
    return sum;
  }

  /**
   * Selects the index for the ids of a table that was ended: the last one, or another one if that
   * is large or old.
   */
  void choose(IdTable table) {
    boolean isOld =
        startMillis != Long.MAX_VALUE && table.newestMillis() - startMillis > spanMillis;
    if (isOld || indexes.getLast().bytes() > bytesMax / SHARES) {
      indexes.add(new IdIndex());
      startMillis = Long.MAX_VALUE;
    }
    startMillis = Math.min(startMillis, table.oldestMillis());
    table.indexIn(indexes.getLast(), last());
  }

  /**
   * Drops the first indexes, but never the last: those without ids of a table or file, and those
   * for which there is no memory.
   *
   * @param least the least number of files, and of tables that wait for the disk
   */
  void trim(int least) {
    long bytes = bytes();
    while (first < last() && (first < least || bytes > bytesMax)) {
      bytes -= indexes.removeFirst().bytes();
      first++;
    }
  }

  /** Returns the heap that all take, in bytes. */
  long bytes() {
    return indexes.stream().mapToLong(IdIndex::bytes).sum();
  }
}
