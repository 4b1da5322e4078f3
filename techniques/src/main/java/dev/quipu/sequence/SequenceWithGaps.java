package dev.quipu.sequence;

import dev.quipu.QuipuException;
import dev.quipu.cache.LruMap;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.IdempotentRetry;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Unique numbers, fast, and <b>with gaps</b>: a process draws a block of them in one round trip and
 * assigns them from memory. The rest of a block when the process ends, and a block whose reply was
 * lost, are never assigned. If gaps must be explained to an auditor, use {@link SequenceOfRecords}.
 *
 * <p>The numbers of one process ascend; those of several processes are not ordered by time.
 *
 * <p>Stored: one item per series, with the highest number that was drawn. Thread-safe.
 */
public final class SequenceWithGaps {
  /** Maximum size of a block. */
  public static final int BLOCK_MAX = 1_000_000;

  private static final String PARTITION = "sequence-with-gaps/";
  private static final String SORT = "drawn";
  private static final int SERIES_MAX = 100_000;

  private final Store store;
  private final int block;
  private final LruMap<String, Drawn> drawn = new LruMap<>(SERIES_MAX); // eviction leaves a gap

  /** The rest of a block: {@code next} to {@code last}. */
  private static final class Drawn {
    final ReentrantLock lock = new ReentrantLock();
    long next = 1;
    long last;
  }

  /**
   * Creates a sequence on {@code store}.
   *
   * @param block numbers per block, 1 to {@link #BLOCK_MAX}; up to that number may be lost by one
   *     crash
   * @throws IllegalArgumentException if it is outside the limits, or the store has no strong reads
   */
  public SequenceWithGaps(Store store, int block) {
    store.profile().require(Capability.STRONG_READ);
    if (block < 1 || block > BLOCK_MAX) {
      throw new IllegalArgumentException(
          "block is %d; it must be from 1 to %d".formatted(block, BLOCK_MAX));
    }
    this.store = store;
    this.block = block;
  }

  /**
   * Returns a unique number of the series.
   *
   * @param series its name: each series, for example per year or tenant, begins at 1
   * @throws QuipuException if no block could be drawn; repeating the call is safe
   */
  public long next(String series) {
    NumberedItems.checkSeries(series);
    Drawn own = drawn.computeIfAbsent(series, key -> new Drawn());
    own.lock.lock();
    try {
      if (own.next > own.last) {
        own.last = draw(series);
        own.next = own.last - block + 1;
      }
      return own.next++;
    } finally {
      own.lock.unlock();
    }
  }

  /** Draws a block, and returns its last number. A block whose reply is lost is a gap. */
  private long draw(String series) {
    Write add =
        new Write.Update(
            new Key(PARTITION + series, SORT),
            List.of(new Change.Add(Item.VALUE, block)),
            Condition.always());
    WriteResult result =
        IdempotentRetry.result(store, "a block of " + series, () -> store.write(add));
    if (result instanceof WriteResult.Applied applied) {
      return applied.after().orElseThrow().number(Item.VALUE);
    }
    throw new IllegalStateException(
        "series %s is exhausted: all numbers are taken".formatted(series));
  }
}
