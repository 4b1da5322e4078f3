package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.state.CounterTable;
import dev.quipu.engine.state.State;
import dev.quipu.engine.state.Watches;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Access to all counters while an {@link Operation} runs in the commit: no other operation runs
 * between. What is done here is on the disk before the call returns. Valid for one thread, during
 * one call.
 */
public final class CounterAccess {
  /** Most bytes that a change writes, besides the name. */
  static final int CHANGE_BYTES_MAX = 4 * Records.COUNTER_RECORD_BYTES_MAX;

  /** Ends the name of a family of counters, within the names of its members. */
  public static final char MEMBER = Watches.MEMBER;

  /** The same, of a family that is ranked. */
  public static final char RANKED_MEMBER = Watches.RANKED_MEMBER;

  /** Expiries that are looked at in the time of one look at a name. */
  private static final int EXPIRIES_PER_LOOK = 16;

  private final State state;
  private final Group group;
  private final long[] entry = new long[IdTable.STRIDE];
  private long visited;

  CounterAccess(State state, Group group) {
    this.state = state;
    this.group = group;
  }

  /**
   * Most bytes of log that some changes write; the largest int, which fits into no commit, for
   * more.
   *
   * @param changes of counters
   * @param namesLength length of all their names, in chars, together
   */
  public static int bytesMax(int changes, int namesLength) {
    return Math.clamp((long) CHANGE_BYTES_MAX * changes + 3L * namesLength, 0, Integer.MAX_VALUE);
  }

  /** Most bytes of log that the removal of so many counters writes, or that they expire. */
  public static int endsBytesMax(int counters) {
    return Math.clamp(2L * Records.COUNTER_RECORD_BYTES_MAX * counters, 0, Integer.MAX_VALUE);
  }

  /** Whether changes that write so many bytes fit into one commit. */
  public boolean canEverFit(int bytes) {
    return bytes >= 0 && group.canEverFit(bytes); // below 0 for more than an int tells
  }

  /** Returns the error for changes that never fit. */
  public IllegalArgumentException tooLarge() {
    return new IllegalArgumentException(
        "changes may write more than the %d bytes of log that are one commit; change fewer counters"
                .formatted(group.bytesMax())
            + " at once");
  }

  /** Whether changes that write so many bytes are sure to fit now. */
  public boolean fits(int bytes) {
    return group.fits(bytes);
  }

  /** Returns how many names were looked at by listing them: what takes time for others too. */
  public long visited() {
    return visited;
  }

  /** Counts other work of an operation as looks at names. */
  public void visit(long looks) {
    visited += looks;
  }

  /** Returns the wall time, in milliseconds since 1970, by which counters expire. */
  public long nowMillis() {
    return state.wallMillis;
  }

  /**
   * Returns how many changes there were since the engine was opened. What throws after a change of
   * its own stops the engine, so that the change is never in the log: see {@link Operation#on}.
   */
  public long changeCount() {
    return state.changes;
  }

  private boolean isAlive(int ordinal) {
    return ordinal >= 0 && state.counters.isAlive(ordinal, state.wallMillis);
  }

  /** The value; empty if it was never written, was removed, has expired, or holds a text. */
  public OptionalLong get(String counter) {
    int ordinal = state.counters.find(counter);
    return isNumber(ordinal)
        ? OptionalLong.of(state.counters.value(ordinal))
        : OptionalLong.empty();
  }

  private boolean isNumber(int ordinal) {
    return isAlive(ordinal) && state.counters.text(ordinal) == null;
  }

  /** Whether there is a counter, or a text in its place. */
  public boolean exists(String counter) {
    return isAlive(state.counters.find(counter));
  }

  /** The text that is in a counter's place; null if there is none. Not to be changed. */
  public byte @Nullable [] text(String counter) {
    int ordinal = state.counters.find(counter);
    return isAlive(ordinal) ? state.counters.text(ordinal) : null;
  }

  /**
   * Puts a text in a counter's place; it keeps its expiry.
   *
   * @param text not to be changed from now on; counts for {@link #bytesMax} as a name does
   */
  public void setText(String counter, byte[] text) {
    int known = state.counters.find(counter);
    byte[] before = known < 0 ? null : state.counters.text(known);
    state.requireMemory(
        CounterTable.memoryBytes(text) - (before == null ? 0 : CounterTable.memoryBytes(before)));
    int ordinal = writable(known, counter);
    state.counters.setText(ordinal, text);
    group.text(ordinal, text);
    state.endChange();
  }

  /** A number that is another one after every change, and after every start; 0 for no counter. */
  public long version(String counter) {
    int ordinal = state.counters.find(counter);
    return isAlive(ordinal) ? state.counters.version(ordinal) : 0;
  }

  /**
   * The place of a counter that there is, as {@link #nameAt} knows it; -1 if there is none, if it
   * holds a text, or if its name is not ASCII. What is quick where a name is at hand in bytes.
   */
  public int placeOf(byte[] name, int from, int length) {
    int ordinal = state.counters.find(name, from, length);
    return isNumber(ordinal) ? ordinal : -1;
  }

  /** Whether there is still a counter at a place that {@link #placeOf} told, and no text. */
  public boolean isNumberAt(int place) {
    return isNumber(place);
  }

  /** The value of the counter at a place that {@link #placeOf} told. */
  public long valueAt(int place) {
    return state.counters.value(place);
  }

  /** Reads where a request id would be, so that looking for several waits for memory once. */
  public void touch(int place, long high, long low) {
    state.touched += state.ids.touch(high, low, place);
  }

  /**
   * Adds to the counter at a place that {@link #placeOf} told, once under a request id.
   *
   * @return whether it did: false if the id was seen before, or 64 bits do not suffice; {@link
   *     #add} tells which
   */
  public boolean addOnceAt(int place, long delta, long high, long low) {
    long value = state.counters.value(place);
    long after = value + delta;
    if (((value ^ after) & (delta ^ after)) < 0
        || state.ids.find(high, low, place, state.timeMillis, entry)) {
      return false;
    }
    group.requireWritable();
    state.beginChange();
    changedAt(place);
    state.counters.set(place, after);
    remember(place, high, low, delta, after, 0);
    state.endChange();
    return true;
  }

  /**
   * Adds to the counter at a place that {@link #placeOf} told.
   *
   * @return whether it did: false if 64 bits do not suffice
   */
  public boolean addAt(int place, long delta) {
    long value = state.counters.value(place);
    long after = value + delta;
    if (((value ^ after) & (delta ^ after)) < 0) {
      return false;
    }
    group.requireWritable();
    state.beginChange();
    changedAt(place);
    state.counters.set(place, after);
    group.plain(state.counters, place);
    state.endChange();
    return true;
  }

  /** The name is looked at only if somebody watches: here each look at memory counts. */
  private void changedAt(int place) {
    if (!state.watches.isEmpty()) {
      state.watches.changed(Objects.requireNonNull(state.counters.name(place)));
    }
  }

  /** When it expires, in milliseconds since 1970; 0 for never, or if there is none. */
  public long expiresAt(String counter) {
    int ordinal = state.counters.find(counter);
    return isAlive(ordinal) ? state.counters.expiresAt(ordinal) : 0;
  }

  /** Returns how many counters there are, texts and members included. */
  public int size() {
    CounterTable counters = state.counters;
    if (!counters.hasExpired(state.wallMillis)) {
      return counters.writtenSize();
    }
    visit(counters.size() / EXPIRIES_PER_LOOK);
    return counters.writtenSize() - counters.expiredSize(state.wallMillis);
  }

  /**
   * Returns names of counters that exist, in order.
   *
   * @param prefix only names that begin so; empty for all
   * @param after only names after this one; the prefix to start
   * @param limit at most so many
   */
  public List<String> names(String prefix, String after, int limit) {
    List<String> names = new ArrayList<>();
    for (Map.Entry<String, Integer> each : state.counters.from(after, false).entrySet()) {
      visited++;
      if (names.size() == limit || !each.getKey().startsWith(prefix)) {
        break;
      }
      if (isAlive(each.getValue())) {
        names.add(each.getKey());
      }
    }
    return names;
  }

  /** All places are below it; a counter keeps its place as long as it exists. */
  public int places() {
    return state.counters.size();
  }

  /** The counter at a place; empty if there is none, for now or no longer. */
  public Optional<String> nameAt(int place) {
    visited++;
    return isAlive(place) ? Optional.ofNullable(state.counters.name(place)) : Optional.empty();
  }

  /**
   * Makes sure that there is memory for counters of these names, for an operation that sets
   * several.
   *
   * @throws dev.quipu.QuipuException if there is not
   */
  public void requireMemory(List<String> names) {
    long bytes = 0;
    for (String name : names) {
      bytes += state.counters.find(name) < 0 ? CounterTable.memoryBytes(name) : 0;
    }
    state.requireMemory(bytes);
  }

  /** Begins a counter that there is not yet, under a request id: as an add of a value, or of 0. */
  public void begin(String counter, long value, RequestId id) {
    int ordinal = writable(state.counters.find(counter), counter);
    state.counters.set(ordinal, value);
    remember(ordinal, id.high(), id.low(), value, value, 0);
    state.endChange();
  }

  /** Keeps what an add under an id did, in memory and in the log. */
  private void remember(int ordinal, long high, long low, long delta, long after, int mark) {
    long meta = IdTable.meta(ordinal, IdTable.APPLIED, mark);
    state.counters.markIds(ordinal, state.ids.epoch());
    state.ids.add(high, low, meta, delta, after, state.timeMillis, state.frame);
    group.once(ordinal, high, low, delta, after, mark);
  }

  /** Adds, once if it has an id. */
  public AddResult add(Add add) {
    int ordinal = state.counters.find(add.counter());
    RequestId id = add.id();
    if (id != null && ordinal >= 0 && seen(id, ordinal)) {
      return repeated(add, ordinal);
    }
    requireNumber(ordinal, add.counter());
    long value = isAlive(ordinal) ? state.counters.value(ordinal) : 0;
    Rejection why = Rejection.of(value, add.delta(), add.bounds());
    if (why != null) {
      return new AddResult.Rejected(why, value);
    }
    return apply(add, ordinal, value + add.delta());
  }

  /** Whether the request of an add has an id that is remembered. */
  public boolean isRepeat(Add add) {
    int ordinal = state.counters.find(add.counter());
    RequestId id = add.id();
    return id != null && ordinal >= 0 && seen(id, ordinal);
  }

  private void requireNumber(int ordinal, String counter) {
    if (isAlive(ordinal) && state.counters.text(ordinal) != null) {
      throw new IllegalArgumentException(counter + " holds a text, not a number");
    }
  }

  private boolean seen(RequestId id, int ordinal) {
    return state.ids.find(id.high(), id.low(), ordinal, state.timeMillis, entry);
  }

  private AddResult repeated(Add add, int ordinal) {
    long delta = entry[3];
    if (IdTable.kind(entry[2]) == IdTable.CANCELED) {
      return new AddResult.Rejected(
          Rejection.CANCELED, isNumber(ordinal) ? state.counters.value(ordinal) : 0);
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
      group.plain(state.counters, ordinal);
    } else {
      remember(ordinal, id.high(), id.low(), add.delta(), after, add.boundsMark());
    }
    state.endChange();
    return new AddResult.Applied(add.delta(), OptionalLong.of(after));
  }

  /**
   * Begins a change of a counter, which gets an ordinal if it has none; what has expired is removed
   * first.
   */
  private int writable(int known, String counter) {
    group.requireWritable();
    if (known < 0) {
      state.requireMemory(CounterTable.memoryBytes(counter));
    }
    state.beginChange();
    state.watches.changed(counter);
    if (known < 0) {
      int ordinal = state.counters.add(counter);
      group.name(ordinal, counter);
      return ordinal;
    }
    if (state.counters.isWritten(known) && !isAlive(known)) {
      state.counters.remove(known);
      group.gone(known);
    }
    return known;
  }

  /**
   * Has changes of a counter, or of a family, counted until {@link #unwatch} is called as often.
   *
   * @return how many were, to be compared to what {@link #changes} tells later
   */
  public long watch(String name) {
    state.requireMemory(state.watches.memoryBytes(name));
    return state.watches.watch(name);
  }

  /** How often what is watched was changed; changes by its expiry are not counted. */
  public long changes(String name) {
    return state.watches.changes(name);
  }

  /** Ends a {@link #watch}. */
  public void unwatch(String name) {
    state.watches.unwatch(name);
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
    group.plain(state.counters, ordinal);
    state.endChange();
  }

  /**
   * Sets when a counter expires.
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
    state.beginChange();
    state.watches.changed(counter);
    expire(ordinal, atMillis);
    state.endChange();
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
    state.beginChange();
    state.watches.changed(counter);
    state.counters.remove(ordinal);
    group.gone(ordinal);
    state.tombstones.add(ordinal);
    state.endChange();
    return true;
  }

  /** What became of a request; see {@link dev.quipu.Counters#outcome}. */
  public RequestOutcome outcome(String counter, RequestId id) {
    int ordinal = state.counters.find(counter);
    if (ordinal < 0 || !seen(id, ordinal)) {
      return new RequestOutcome.NotSeen();
    }
    return IdTable.kind(entry[2]) == IdTable.CANCELED
        ? new RequestOutcome.Canceled()
        : new RequestOutcome.Applied(entry[3], OptionalLong.of(entry[4]));
  }

  /** Makes sure that a request never applies; see {@link dev.quipu.Counters#cancel}. */
  public RequestOutcome cancel(String counter, RequestId id) {
    RequestOutcome outcome = outcome(counter, id);
    if (!(outcome instanceof RequestOutcome.NotSeen)) {
      return outcome;
    }
    int ordinal = writable(state.counters.find(counter), counter);
    long meta = IdTable.meta(ordinal, IdTable.CANCELED, 0);
    state.counters.markIds(ordinal, state.ids.epoch());
    state.ids.add(id.high(), id.low(), meta, 0, 0, state.timeMillis, state.frame);
    group.cancel(ordinal, id.high(), id.low());
    if (!state.counters.isWritten(ordinal)) {
      state.tombstones.add(ordinal);
    }
    state.endChange();
    return new RequestOutcome.Canceled();
  }
}
