package dev.quipu.engine;

import dev.quipu.store.StoreException;

/**
 * Removes counters that have expired, and frees what was removed once no request id refers to it,
 * some at a time between the groups of calls.
 */
final class ExpirySweeper {
  /** Counters that are removed, or freed, in one frame at most. */
  private static final int AT_ONCE = 4_096;

  private final Committer committer;
  private final int[] found = new int[AT_ONCE];

  ExpirySweeper(Committer committer) {
    this.committer = committer;
  }

  /**
   * Removes all that has expired.
   *
   * @throws StoreException if the disk is full or the engine has ended
   */
  void sweep() {
    SweepTask task;
    do {
      task = new SweepTask(found);
      committer.run(task);
    } while (task.isMore);
  }

  private static final class SweepTask extends Task {
    private final int[] found;
    private boolean isMore;

    SweepTask(int[] found) {
      this.found = found;
    }

    @Override
    boolean run(State state, Group group) {
      CounterTable counters = state.counters;
      Tombstones tombstones = state.tombstones;
      if (!counters.hasExpired(state.wallMillis) && !tombstones.mayFree(state.ids)) {
        return true;
      }
      group.requireWritable();
      int expired =
          counters.findExpired(state.wallMillis, found, Math.min(group.room() / 2, AT_ONCE));
      for (int i = 0; i < expired; i++) {
        state.beginChange();
        counters.remove(found[i]);
        if (state.ids.isLive(counters.epochOfIds(found[i]))) {
          group.gone(found[i]);
          tombstones.add(found[i]);
        } else {
          free(state, group, found[i]);
        }
        state.endChange();
      }
      int freed = tombstones.take(state.ids, found, Math.min(group.room(), AT_ONCE));
      for (int i = 0; i < freed; i++) {
        state.beginChange();
        free(state, group, found[i]);
        state.endChange();
      }
      isMore = counters.hasExpired(state.wallMillis) || tombstones.mayFree(state.ids);
      return true;
    }

    private static void free(State state, Group group, int ordinal) {
      state.counters.free(ordinal);
      group.free(ordinal);
    }
  }
}
