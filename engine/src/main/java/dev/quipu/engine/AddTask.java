package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.ItemResult;
import dev.quipu.RequestId;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.State;
import java.util.ArrayList;
import java.util.List;

/** Adds to counters, exactly once for each add with a request id: the hot path. */
final class AddTask extends Task {
  private static final int TOUCHED_AHEAD = 32;

  private final List<Add> adds;
  private final List<ItemResult> results;

  AddTask(List<Add> adds) {
    this.adds = adds;
    this.results = new ArrayList<>(adds.size());
  }

  /** Returns one result for each add, in order. */
  List<ItemResult> results() {
    return results;
  }

  @Override
  public boolean run(State state, Group group) {
    CounterAccess access = new CounterAccess(state, group);
    while (results.size() < adds.size()) {
      int next = results.size();
      if (next % TOUCHED_AHEAD == 0 && adds.size() - next > 1) {
        touch(state, next);
      }
      Add add = adds.get(next);
      if (!group.fits(CounterAccess.CHANGE_BYTES_MAX + 3 * add.counter().length())) {
        return false;
      }
      long before = state.changes;
      try {
        results.add(access.add(add));
      } catch (RuntimeException e) {
        if (state.changes != before) {
          throw e;
        }
        results.add(new ItemResult.Failed(e)); // the remaining adds continue
      }
    }
    return true;
  }

  /** Prefetches the memory that the next adds will look up: see {@code RequestIds.touch}. */
  private void touch(State state, int from) {
    for (int i = from; i < Math.min(adds.size(), from + TOUCHED_AHEAD); i++) {
      Add add = adds.get(i);
      RequestId id = add.id();
      int ordinal = id == null ? -1 : state.counters.find(add.counter());
      if (id != null && ordinal >= 0) {
        state.touched += state.ids.touch(id.high(), id.low(), ordinal);
      }
    }
  }
}
