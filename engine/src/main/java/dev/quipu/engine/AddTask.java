package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.ItemResult;
import dev.quipu.RequestId;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.Lookahead;
import dev.quipu.engine.state.State;
import java.util.ArrayList;
import java.util.List;

/** Adds to counters, exactly once for each add with a request id: the hot path. */
final class AddTask extends Task {
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
    int first = 0;
    int end = 0; // what was looked up in an earlier commit may be reused
    while (results.size() < adds.size()) {
      int next = results.size();
      if (next >= end) {
        first = next;
        end = Math.min(adds.size(), next + Lookahead.NAMES_MAX);
        if (end - first > 1) {
          lookUp(state, first, end);
        }
      }
      Add add = adds.get(next);
      if (!group.fits(CounterAccess.CHANGE_BYTES_MAX + 3 * add.counter().length())) {
        return false;
      }
      long before = state.changes;
      try {
        int found = end - first > 1 ? state.lookahead.ordinal(next - first) : -1;
        results.add(access.add(add, found >= 0 ? found : state.counters.find(add.counter())));
      } catch (RuntimeException e) {
        if (state.changes != before) {
          throw e;
        }
        results.add(new ItemResult.Failed(e)); // the remaining adds continue
      }
    }
    return true;
  }

  /**
   * Looks the next counters up, and reads the memory of the ids: see {@code RequestIds.readAhead}.
   */
  private void lookUp(State state, int from, int end) {
    Lookahead lookahead = state.lookahead;
    lookahead.begin();
    for (int i = from; i < end; i++) {
      lookahead.expect(adds.get(i).counter());
    }
    lookahead.find();
    for (int i = from; i < end; i++) {
      RequestId id = adds.get(i).id();
      int ordinal = lookahead.ordinal(i - from);
      if (id != null && ordinal >= 0) {
        state.ids.expect(id.high(), id.low(), ordinal);
      }
    }
    state.ids.readAhead();
  }
}
