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
 * Numbers of which no two are the same, fast, and <b>with gaps</b>: a process draws a block of them
 * in one round trip and hands them out from memory. What is left of a block when the process ends,
 * and a block whose reply was lost, are never given. Where a gap must be explained to an auditor,
 * take {@link SequenceOfRecords}.
 *
 * <p>The numbers of one process ascend; those of several do not follow the order in time.
 *
 * <p>Stored: one item a series, with the highest number that was drawn. Thread-safe.
 */
public final class SequenceWithGaps {
  /** Most numbers in a block. */
  public static final int BLOCK_MAX = 1_000_000;

  private static final String PARTITION = "sequence-with-gaps/";
  private static final String SORT = "drawn";
  private static final int SERIES_MAX = 100_000;

  private final Store store;
  private final int block;
  private final LruMap<String, Drawn> drawn = new LruMap<>(SERIES_MAX); // evicted: a gap

  /** What is left of a block: {@code next} to {@code last}. */
  private static final class Drawn {
    final ReentrantLock lock = new ReentrantLock();
    long next = 1;
    long last;
  }

  /**
   * Numbers on {@code store}.
   *
   * @param block how many to draw at once, 1 to {@link #BLOCK_MAX}; as many may be lost at once
   * @throws IllegalArgumentException if it is outside the limits, or the store has no strong reads
   */
  public SequenceWithGaps(Store store, int block) {
    store.profile().require(Capability.STRONG_READ);
    if (block < 1 || block > BLOCK_MAX) {
      throw new IllegalArgumentException(
          "block is %d, the limits are 1 and %d".formatted(block, BLOCK_MAX));
    }
    this.store = store;
    this.block = block;
  }

  /**
   * A number of the series that nobody has and nobody will have.
   *
   * @param series its name: a series for each year or tenant begins at 1 by itself
   * @throws QuipuException if no block could be drawn; calling again is harmless
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

  /** The last number of a new block. A block whose reply is lost is a gap. */
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
    throw new IllegalStateException("series %s has used up all numbers".formatted(series));
  }
}
