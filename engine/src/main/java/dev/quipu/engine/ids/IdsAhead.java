package dev.quipu.engine.ids;

import java.util.Deque;
import java.util.List;

/**
 * Reads the memory of several ids before they are looked up: that of the tables, of the indexes,
 * and of files, so that the cache misses of many ids overlap. A lookup of one of these ids then
 * need not read any filter. Not thread-safe.
 */
final class IdsAhead {
  private static final int IDS_MAX = Long.SIZE;

  private final long[] hashes = new long[IDS_MAX];
  private int count;
  private int next; // where the next lookup is expected: they have the same order
  private long mayBeInFile; // a bit for each
  private boolean isRead; // whether the bits are valid
  private long touched; // stored, so that a prefetch is not optimized away

  /** Announces an id; after a lookup, those announced before are forgotten. */
  void expect(long hash) {
    if (isRead || count == IDS_MAX) {
      clear();
    }
    hashes[count++] = hash;
  }

  /** Forgets all ids: the files have changed. */
  void clear() {
    count = 0;
    next = 0;
    isRead = false;
  }

  /** Reads the memory of the announced ids; of files, only those that no index covers. */
  void read(IdIndexes indexes, IdTable active, Deque<IdTable> waiting, List<IdFile> files) {
    long sum = indexes.touch(hashes, count) + touch(active);
    for (IdTable table : waiting) {
      sum += touch(table);
    }
    for (IdFile file : files) {
      sum += file.filter().touch(hashes, count);
    }
    touched += sum;
    long found = 0;
    for (IdFile file : files) {
      found |= file.filter().mayHold(hashes, count);
    }
    mayBeInFile = found;
    isRead = true;
    next = 0;
  }

  private long touch(IdTable table) {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += table.touch(hashes[i]);
    }
    return sum;
  }

  /** Returns the sum of all memory that was read, which has no meaning. */
  long touched() {
    return touched;
  }

  /** Returns whether none of the files that were read has an id, as far as is known. */
  boolean isInNoFile(long hash) {
    if (!isRead) {
      return false;
    }
    for (int i = next; i < count; i++) {
      if (hashes[i] == hash) {
        next = i; // not the one after it: the same id may be looked up again
        return (mayBeInFile & 1L << i) == 0;
      }
    }
    return false;
  }
}
