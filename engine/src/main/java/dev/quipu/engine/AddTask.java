package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.RequestId;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Adds, each once if it has an id: the hot path. */
final class AddTask extends Task {
  private static final int TOUCHED_AHEAD = 32;

  private final List<Add> adds;
  private final List<AddResult> results;
  private @Nullable RuntimeException failure;
  private boolean mayCount; // some of them, though one failed

  AddTask(List<Add> adds) {
    this.adds = adds;
    this.results = new ArrayList<>(adds.size());
  }

  /**
   * One result for each add.
   *
   * @throws StoreException if an add failed: UNKNOWN if others have been applied, now or by an
   *     earlier call, for the caller must not take this for none
   */
  List<AddResult> results() {
    RuntimeException why = failure;
    if (why == null) {
      return results;
    }
    if (!mayCount) {
      throw why;
    }
    Reason reason = why instanceof StoreException known ? known.reason() : Reason.INVALID;
    throw StoreException.unknown(reason, String.valueOf(why.getMessage()), why);
  }

  @Override
  boolean run(State state, Group group) {
    CounterTurn turn = new CounterTurn(state, group);
    if (results.isEmpty() && state.counters.hasTexts()) {
      adds.forEach(turn::requireNumber); // before any of them counts
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
      long before = state.changes;
      try {
        results.add(turn.add(add));
      } catch (RuntimeException e) {
        if (state.changes != before) {
          throw e;
        }
        failure = e; // those before it are in the frame
        mayCount =
            results.stream().anyMatch(AddTask::counts)
                || adds.subList(next, adds.size()).stream().anyMatch(turn::isRepeat);
        return true;
      }
    }
    return true;
  }

  private static boolean counts(AddResult result) {
    return result instanceof AddResult.Applied || result instanceof AddResult.Replayed;
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
