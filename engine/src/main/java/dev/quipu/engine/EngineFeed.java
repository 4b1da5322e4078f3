package dev.quipu.engine;

import dev.quipu.Limits;
import dev.quipu.backend.CounterFeed;
import dev.quipu.engine.commit.Committer;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.ChangedCounters;
import dev.quipu.engine.state.State;
import dev.quipu.engine.state.Watches;
import java.util.ArrayList;
import java.util.List;

/** Reads the counters that changed as a task of the committer: what it returns is on disk. */
final class EngineFeed implements CounterFeed {
  private final Committer committer;
  private final ChangedCounters changed = new ChangedCounters();

  EngineFeed(Committer committer) {
    this.committer = committer;
    boolean unused =
        committer.get((state, group) -> {
          state.counters.followers.add(changed);
          return true;
        });
  }

  @Override
  public Changes next(int max) {
    Limits.checkPage(max, Limits.PAGE_COUNTERS_MAX);
    Next task = new Next(max);
    committer.run(task);
    return new Changes(task.found, task.isLast, task.isComplete);
  }

  @Override
  public void close() {
    boolean unused =
        committer.get((state, group) -> {
          state.counters.followers.remove(changed);
          return true;
        });
  }

  /** Takes up to a number of changed counters. */
  private final class Next extends Task {
    final List<Change> found = new ArrayList<>();
    private final int max;
    boolean isLast;
    boolean isComplete;

    Next(int max) {
      this.max = max;
    }

    @Override
    public boolean run(State state, Group group) {
      CounterReads reads = new CounterReads(state);
      isComplete = changed.takeIsComplete();
      for (int visits = 0; visits < ListTask.VISITS_MAX && found.size() < max; visits++) {
        int ordinal = changed.take();
        String name = ordinal < 0 ? changed.takeForgotten() : state.counters.name(ordinal);
        if (ordinal < 0 && name == null) {
          isLast = true;
          break;
        }
        if (name != null && Watches.familyEnd(name) < 0) {
          int present = ordinal < 0 ? state.counters.find(name) : ordinal;
          found.add(new Change(name, reads.reading(present)));
        }
      }
      return true;
    }
  }
}
