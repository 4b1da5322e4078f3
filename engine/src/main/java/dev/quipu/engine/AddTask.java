package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Refusal;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** Adds, each once if it has an id: the hot path. */
final class AddTask extends Task {
  private static final int TOUCHED_AHEAD = 32;

  private final List<Add> adds;
  private final List<AddResult> results;
  private final long[] entry = new long[IdTable.STRIDE];
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
    while (results.size() < adds.size()) {
      int next = results.size();
      if (next % TOUCHED_AHEAD == 0 && adds.size() - next > 1) {
        touch(state, next);
      }
      Add add = adds.get(next);
      int ordinal = state.counters.find(add.counter());
      RequestId id = add.id();
      if (id != null && ordinal >= 0 && seen(state, id, ordinal)) {
        results.add(repeated(state, add, ordinal));
        continue;
      }
      long value = ordinal < 0 ? 0 : state.counters.value(ordinal);
      Refusal why = Refusal.of(value, add.delta(), add.bounds());
      if (why != null) {
        results.add(new AddResult.Refused(why, value));
        continue;
      }
      if (!group.fits(2 * Records.COUNTER_RECORD_BYTES_MAX + 3 * add.counter().length())) {
        return false;
      }
      apply(state, group, add, ordinal, value + add.delta());
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

  private boolean seen(State state, RequestId id, int ordinal) {
    return state.ids.find(id.high(), id.low(), ordinal, state.timeMillis, entry);
  }

  private AddResult repeated(State state, Add add, int ordinal) {
    long delta = entry[3];
    if (IdTable.kind(entry[2]) == IdTable.SEALED) {
      return new AddResult.Refused(Refusal.SEALED, state.counters.value(ordinal));
    }
    if (delta != add.delta() || IdTable.boundsMark(entry[2]) != add.boundsMark()) {
      return new AddResult.Conflict(delta);
    }
    return new AddResult.Replayed(delta, OptionalLong.of(entry[4]));
  }

  private void apply(State state, Group group, Add add, int known, long after) {
    group.requireWritable();
    int ordinal = known;
    if (ordinal < 0) {
      ordinal = state.counters.add(add.counter());
      group.name(ordinal, add.counter());
    }
    state.counters.set(ordinal, after);
    RequestId id = add.id();
    if (id == null) {
      group.plain(ordinal);
    } else {
      int mark = add.boundsMark();
      long meta = IdTable.meta(ordinal, IdTable.APPLIED, mark);
      state.ids.add(id.high(), id.low(), meta, add.delta(), after, state.timeMillis, state.frame);
      group.once(ordinal, id.high(), id.low(), add.delta(), after, mark);
    }
    applied = true;
    results.add(new AddResult.Applied(add.delta(), OptionalLong.of(after)));
  }

  /** Tells what became of a request, and seals it if asked to. */
  static final class OutcomeTask extends Task {
    private final String counter;
    private final RequestId id;
    private final boolean seal;
    private final long[] entry = new long[IdTable.STRIDE];
    private RequestOutcome outcome = new RequestOutcome.NotSeen();

    OutcomeTask(String counter, RequestId id, boolean seal) {
      this.counter = counter;
      this.id = id;
      this.seal = seal;
    }

    RequestOutcome outcome() {
      return outcome;
    }

    @Override
    boolean run(State state, Group group) {
      int ordinal = state.counters.find(counter);
      if (ordinal >= 0 && state.ids.find(id.high(), id.low(), ordinal, state.timeMillis, entry)) {
        outcome =
            IdTable.kind(entry[2]) == IdTable.SEALED
                ? new RequestOutcome.Sealed()
                : new RequestOutcome.Applied(entry[3], OptionalLong.of(entry[4]));
        return true;
      }
      if (!seal) {
        return true;
      }
      if (!group.fits(2 * Records.COUNTER_RECORD_BYTES_MAX + 3 * counter.length())) {
        return false;
      }
      group.requireWritable();
      if (ordinal < 0) {
        ordinal = state.counters.add(counter);
        group.name(ordinal, counter);
      }
      long meta = IdTable.meta(ordinal, IdTable.SEALED, 0);
      state.ids.add(id.high(), id.low(), meta, 0, 0, state.timeMillis, state.frame);
      group.seal(ordinal, id.high(), id.low());
      outcome = new RequestOutcome.Sealed();
      return true;
    }
  }
}
