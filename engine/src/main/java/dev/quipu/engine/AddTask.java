package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.RequestId;
import dev.quipu.store.StoreException;
import java.util.ArrayList;
import java.util.List;

/** Adds, each once if it has an id: the hot path. */
final class AddTask extends Task {
  private static final int TOUCHED_AHEAD = 32;

  private final List<Add> adds;
  private final List<AddResult> results;
  private boolean applied;

  AddTask(List<Add> adds) {
    this.adds = adds;
    this.results = new ArrayList<>(adds.size());
  }

  /** One result for each add. */
  List<AddResult> results() {
    return results;
  }

  @Override
  boolean run(State state, Group group) {
    try {
      return addAll(state, group);
    } catch (StoreException e) {
      // Some of these adds may be on the disk: the caller must not take this for none.
      throw applied ? StoreException.unknown(e.reason(), e.getMessage(), e) : e;
    }
  }

  private boolean addAll(State state, Group group) {
    CounterTurn turn = new CounterTurn(state, group);
    if (results.isEmpty() && state.counters.hasTexts()) {
      adds.forEach(add -> turn.requireNumber(add.counter())); // before any of them counts
    }
    while (results.size() < adds.size()) {
      int next = results.size();
      if (next % TOUCHED_AHEAD == 0 && adds.size() - next > 1) {
        touch(state, next);
      }
      Add add = adds.get(next);
      if (!group.fits(CounterTurn.CHANGE_BYTES_MAX + 3 * add.counter().length())) {
        return false;
      }
      AddResult result = turn.add(add);
      applied |= result instanceof AddResult.Applied;
      results.add(result);
    }
    return true;
  }

  /** Brings what the next few adds will look for nearer: see {@link RequestIds#touch}. */
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
