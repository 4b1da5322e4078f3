package dev.quipu.engine.state;

import dev.quipu.engine.ids.RequestIds;
import java.util.Arrays;

/**
 * Removed counters that request ids may still refer to. Not thread-safe.
 *
 * <pre>{@code
 * A request id refers to its counter by ordinal. While ids of a counter are remembered, its ordinal
 * must not be reused for another counter, which would answer a new request with the replay of an
 * old one. So a removed counter stays as a tombstone until the generation that contains its newest
 * id is dropped. Tombstones wait in one list for each epoch; those of an epoch without a generation
 * are freed, a few at a time.
 * }</pre>
 */
public final class Tombstones {
  private final CounterTable counters;
  private final int[][] waiting = new int[RequestIds.EPOCHS][];
  private final int[] counts = new int[RequestIds.EPOCHS];
  private int size; // including those that were written again

  Tombstones(CounterTable counters) {
    this.counters = counters;
    Arrays.fill(waiting, new int[0]);
  }

  /** Adds a counter that was removed, or that was never written. */
  public void add(int ordinal) {
    if (counters.markTombstone(ordinal)) {
      put(ordinal);
    }
  }

  private void put(int ordinal) {
    int epoch = counters.epochOfIds(ordinal);
    if (counts[epoch] == waiting[epoch].length) {
      waiting[epoch] = Arrays.copyOf(waiting[epoch], Math.max(16, 2 * counts[epoch]));
    }
    waiting[epoch][counts[epoch]++] = ordinal;
    size++;
  }

  /** Returns whether some waiting tombstones are no longer referred to. */
  public boolean mayFree(RequestIds ids) {
    for (int epoch = 0; size > 0 && epoch < counts.length; epoch++) {
      if (counts[epoch] > 0 && !ids.isLive(epoch)) {
        return true;
      }
    }
    return false;
  }

  /** Takes up to {@code room} tombstones that nothing refers to; returns their number. */
  public int take(RequestIds ids, int[] free, int room) {
    int found = 0;
    for (int epoch = 0; size > 0 && epoch < counts.length; epoch++) {
      while (counts[epoch] > 0 && found < room && !ids.isLive(epoch)) {
        int ordinal = waiting[epoch][--counts[epoch]];
        size--;
        if (counters.isWritten(ordinal) || !counters.hasName(ordinal)) {
          counters.unmarkTombstone(ordinal); // it was written again
        } else if (ids.isLive(counters.epochOfIds(ordinal))) {
          put(ordinal); // it had another id since
        } else {
          counters.unmarkTombstone(ordinal);
          free[found++] = ordinal;
        }
      }
      if (counts[epoch] == 0 && waiting[epoch].length > 1_024) {
        waiting[epoch] = new int[0];
      }
    }
    return found;
  }
}
