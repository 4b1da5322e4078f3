package dev.quipu.engine.commit;

import dev.quipu.QuipuException;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.state.CounterTable;
import dev.quipu.engine.state.State;
import dev.quipu.engine.state.Tombstones;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Removes expired counters and items, and frees tombstones that no request id refers to, a few at a
 * time between groups of calls. Counters are found by their expiry; items by scanning a part of
 * them at each sweep. Thread-safe.
 */
public final class ExpirySweeper {
  /** A frame removes or frees at most one counter per this number of segment bytes. */
  private static final int LOG_BYTES_PER_COUNTER = 16 << 10;

  private static final int ITEMS_AT_ONCE = 1_024;

  /** Pages of items scanned by one part of a sweep: a million items in twenty seconds. */
  private static final int ITEM_PAGES = 50;

  private final Committer committer;
  private final ReentrantLock working = new ReentrantLock();
  private @Nullable Key after; // guarded by working; where the scan of items continues
  private final int[] found;

  public ExpirySweeper(Committer committer, int segmentBytes) {
    this.committer = committer;
    this.found = new int[Math.clamp(segmentBytes / LOG_BYTES_PER_COUNTER, 1, 4_096)];
  }

  /**
   * Removes all expired counters and items.
   *
   * @throws QuipuException if the disk is full or the engine has ended
   */
  public void sweep() {
    working.lock();
    try {
      sweepCounters();
      after = null;
      do {
        sweepItems();
      } while (after != null);
    } finally {
      working.unlock();
    }
  }

  /**
   * Removes expired counters, and the expired ones among the next part of the items.
   *
   * @throws QuipuException if the disk is full or the engine has ended
   */
  public void sweepPart() {
    working.lock();
    try {
      sweepCounters();
      for (int i = 0; i < ITEM_PAGES && (i == 0 || after != null); i++) {
        sweepItems();
      }
    } finally {
      working.unlock();
    }
  }

  /**
   * Removes all expired counters.
   *
   * @throws QuipuException if the disk is full or the engine has ended
   */
  public void sweepCounters() {
    working.lock();
    try {
      SweepTask task;
      do {
        task = new SweepTask(found);
        committer.run(task);
      } while (task.isMore);
    } finally {
      working.unlock();
    }
  }

  private void sweepItems() {
    ItemsTask task = new ItemsTask(after);
    committer.run(task);
    after = task.next;
  }

  /** Scans some items in key order, and removes the expired ones. */
  private static final class ItemsTask extends Task {
    private final @Nullable Key after;
    private @Nullable Key next;

    ItemsTask(@Nullable Key after) {
      this.after = after;
    }

    @Override
    public boolean run(State state, Group group) {
      Instant now = Instant.ofEpochMilli(state.wallMillis);
      List<Item> items = state.items.next(after, ITEMS_AT_ONCE);
      next = after;
      for (Item item : items) {
        Key key = item.key();
        if (item.isExpired(now)) {
          group.requireWritable();
          if (!group.fits(Records.keyBytesMax(key))) {
            return true; // the rest at the next sweep
          }
          state.beginChange();
          state.setItem(key, Optional.empty());
          group.noItem(key);
          state.endChange();
        }
        next = key;
      }
      if (items.size() < ITEMS_AT_ONCE) {
        next = null;
      }
      return true;
    }
  }

  /** Removes some expired counters, and frees some tombstones that nothing refers to. */
  static final class SweepTask extends Task {
    private final int[] found;
    private boolean isMore;

    SweepTask(int[] found) {
      this.found = found;
    }

    @Override
    public boolean run(State state, Group group) {
      CounterTable counters = state.counters;
      Tombstones tombstones = state.tombstones;
      if (!counters.expired.mayExist(state.wallMillis) && !tombstones.mayFree(state.ids)) {
        return true;
      }
      group.requireWritable();
      int expired =
          counters.expired.find(state.wallMillis, found, Math.min(group.room() / 2, found.length));
      for (int i = 0; i < expired; i++) {
        state.beginChange();
        state.removeCounter(found[i]);
        if (state.ids.isLive(counters.epochOfIds(found[i])) || counters.isTombstone(found[i])) {
          group.gone(found[i]);
          tombstones.add(found[i]); // which frees it, exactly once
        } else {
          free(state, group, found[i]);
        }
        state.endChange();
      }
      int freed = tombstones.take(state.ids, found, Math.min(group.room(), found.length));
      for (int i = 0; i < freed; i++) {
        state.beginChange();
        free(state, group, found[i]);
        state.endChange();
      }
      isMore = counters.expired.mayExist(state.wallMillis) || tombstones.mayFree(state.ids);
      return true;
    }

    private static void free(State state, Group group, int ordinal) {
      state.counters.free(ordinal);
      group.free(ordinal);
    }
  }
}
