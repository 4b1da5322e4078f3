package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Refusal;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * All counters, for as long as it is a call's turn: nobody else comes between. What is done here is
 * on the disk before the call's answer. Good for one thread, during one call.
 */
public final class CounterTurn {
  /** Most bytes that a change writes, besides the name. */
  static final int CHANGE_BYTES_MAX = 4 * Records.COUNTER_RECORD_BYTES_MAX;

  private final State state;
  private final Group group;
  private final long[] entry = new long[IdTable.STRIDE];

  CounterTurn(State state, Group group) {
    this.state = state;
    this.group = group;
  }

  /** The engine's time, in milliseconds since 1970; never goes back. */
  public long nowMillis() {
    return state.timeMillis;
  }

  private boolean isAlive(int ordinal) {
    return ordinal >= 0 && state.counters.isAlive(ordinal, state.timeMillis);
  }

  /** The value; empty if it was never written, was removed or has expired. */
  public OptionalLong get(String counter) {
    int ordinal = state.counters.find(counter);
    return isAlive(ordinal) ? OptionalLong.of(state.counters.value(ordinal)) : OptionalLong.empty();
  }

  /** When it stops to exist, in milliseconds since 1970; 0 for never, or if there is none. */
  public long expiresAt(String counter) {
    int ordinal = state.counters.find(counter);
    return isAlive(ordinal) ? state.counters.expiresAt(ordinal) : 0;
  }

  /** Counters that there are; some that have expired lately among them. */
  public int size() {
    return state.counters.writtenSize();
  }

  /**
   * Names of counters that there are, in order.
   *
   * @param after only names behind this one; empty to start
   * @param limit at most so many
   */
  public List<String> names(String after, int limit) {
    List<String> names = new ArrayList<>();
    for (Map.Entry<String, Integer> each : state.counters.from(after, false).entrySet()) {
      if (names.size() == limit) {
        break;
      }
      if (isAlive(each.getValue())) {
        names.add(each.getKey());
      }
    }
    return names;
  }

  /** Counters that were ever named; all their places are below it, and never change. */
  public int places() {
    return state.counters.size();
  }

  /** The counter at a place; empty if there is none, for now or no longer. */
  public Optional<String> nameAt(int place) {
    return isAlive(place) ? Optional.ofNullable(state.counters.name(place)) : Optional.empty();
  }

  /** Adds, once if it has an id. */
  public AddResult add(Add add) {
    int ordinal = state.counters.find(add.counter());
    RequestId id = add.id();
    if (id != null && ordinal >= 0 && seen(id, ordinal)) {
      return repeated(add, ordinal);
    }
    long value = isAlive(ordinal) ? state.counters.value(ordinal) : 0;
    Refusal why = Refusal.of(value, add.delta(), add.bounds());
    if (why != null) {
      return new AddResult.Refused(why, value);
    }
    return apply(add, ordinal, value + add.delta());
  }

  private boolean seen(RequestId id, int ordinal) {
    return state.ids.find(id.high(), id.low(), ordinal, state.timeMillis, entry);
  }

  private AddResult repeated(Add add, int ordinal) {
    long delta = entry[3];
    if (IdTable.kind(entry[2]) == IdTable.SEALED) {
      return new AddResult.Refused(Refusal.SEALED, state.counters.value(ordinal));
    }
    if (delta != add.delta() || IdTable.boundsMark(entry[2]) != add.boundsMark()) {
      return new AddResult.Conflict(delta);
    }
    return new AddResult.Replayed(delta, OptionalLong.of(entry[4]));
  }

  private AddResult apply(Add add, int known, long after) {
    int ordinal = writable(known, add.counter());
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
    return new AddResult.Applied(add.delta(), OptionalLong.of(after));
  }

  /** The ordinal of a counter that is about to be written; what has expired is forgotten first. */
  private int writable(int known, String counter) {
    group.requireWritable();
    changed(counter);
    int ordinal = known;
    if (ordinal < 0) {
      ordinal = state.counters.add(counter);
      group.name(ordinal, counter);
    } else if (state.counters.expiresAt(ordinal) != 0 && !isAlive(ordinal)) {
      expire(ordinal, 0);
    }
    return ordinal;
  }

  private void changed(String counter) {
    if (!state.watched.isEmpty()) { // nearly always
      long[] watched = state.watched.get(counter);
      if (watched != null) {
        watched[1]++;
      }
    }
  }

  /**
   * Has changes of a counter counted, until {@link #unwatch} is called as often.
   *
   * @return how many were, to be compared to what {@link #changes} tells later
   */
  public long watch(String counter) {
    long[] watched = state.watched.computeIfAbsent(counter, any -> new long[2]);
    watched[0]++;
    return watched[1];
  }

  /** How often a counter that is watched was changed; changes by its expiry are not counted. */
  public long changes(String counter) {
    long[] watched = state.watched.get(counter);
    return watched == null ? 0 : watched[1];
  }

  /** Ends a {@link #watch}. */
  public void unwatch(String counter) {
    long[] watched = state.watched.get(counter);
    if (watched != null && --watched[0] == 0) {
      state.watched.remove(counter);
    }
  }

  private void expire(int ordinal, long atMillis) {
    if (state.counters.expiresAt(ordinal) != atMillis) {
      state.counters.expire(ordinal, atMillis);
      group.expires(ordinal, atMillis);
    }
  }

  /** Sets a counter, whatever it was; it keeps its expiry. */
  public void set(String counter, long value) {
    int ordinal = writable(state.counters.find(counter), counter);
    state.counters.set(ordinal, value);
    group.plain(ordinal);
  }

  /**
   * Sets when a counter stops to exist.
   *
   * @param atMillis in milliseconds since 1970, above 0; 0 for never
   * @return whether there is such a counter
   */
  public boolean expire(String counter, long atMillis) {
    int ordinal = state.counters.find(counter);
    if (!isAlive(ordinal)) {
      return false;
    }
    group.requireWritable();
    changed(counter);
    expire(ordinal, atMillis);
    return true;
  }

  /**
   * Removes a counter. Its request ids are remembered all the same.
   *
   * @return whether there was one
   */
  public boolean remove(String counter) {
    int ordinal = state.counters.find(counter);
    if (!isAlive(ordinal)) {
      return false;
    }
    group.requireWritable();
    changed(counter);
    expire(ordinal, 0);
    state.counters.remove(ordinal);
    group.plain(ordinal);
    return true;
  }

  /** What became of a request; see {@link dev.quipu.Counters#outcome}. */
  public RequestOutcome outcome(String counter, RequestId id) {
    int ordinal = state.counters.find(counter);
    if (ordinal < 0 || !seen(id, ordinal)) {
      return new RequestOutcome.NotSeen();
    }
    return IdTable.kind(entry[2]) == IdTable.SEALED
        ? new RequestOutcome.Sealed()
        : new RequestOutcome.Applied(entry[3], OptionalLong.of(entry[4]));
  }

  /** Makes sure that a request never applies; see {@link dev.quipu.Counters#seal}. */
  public RequestOutcome seal(String counter, RequestId id) {
    RequestOutcome outcome = outcome(counter, id);
    if (!(outcome instanceof RequestOutcome.NotSeen)) {
      return outcome;
    }
    int ordinal = writable(state.counters.find(counter), counter);
    long meta = IdTable.meta(ordinal, IdTable.SEALED, 0);
    state.ids.add(id.high(), id.low(), meta, 0, 0, state.timeMillis, state.frame);
    group.seal(ordinal, id.high(), id.low());
    return new RequestOutcome.Sealed();
  }
}
