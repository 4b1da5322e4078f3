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
 * Access to all counters while an {@link Operation} runs within a commit, with no other operation
 * in between. Changes are on disk before the call returns. Valid on one thread, during one call.
 */
public final class CounterAccess {
  /** Maximum number of bytes of log that one change writes, excluding the name. */
  static final int CHANGE_BYTES_MAX = 4 * Records.COUNTER_RECORD_BYTES_MAX;

  /** Separates the name of a family of counters from the rest of its members' names. */
  public static final char MEMBER = Watches.MEMBER;

  /** Like {@link #MEMBER}, for a ranked family. */
  public static final char RANKED_MEMBER = Watches.RANKED_MEMBER;

  /** Expiry checks that cost as much time as one name lookup. */
  private static final int EXPIRIES_PER_LOOK = 16;

  final State state;
  final Group group;
  private final long[] entry = new long[IdTable.STRIDE];
  private long visited;

  CounterAccess(State state, Group group) {
    this.state = state;
    this.group = group;
  }

  /**
   * Returns an upper bound of the log bytes that some changes write; {@link Integer#MAX_VALUE},
   * which fits into no commit, on overflow.
   *
   * @param changes number of changed counters
   * @param namesLength total length of their names, in chars
   */
  public static int bytesMax(int changes, int namesLength) {
    return Math.clamp((long) CHANGE_BYTES_MAX * changes + 3L * namesLength, 0, Integer.MAX_VALUE);
  }

  /** Returns an upper bound of the log bytes that removing or expiring counters writes. */
  public static int endsBytesMax(int counters) {
    return Math.clamp(2L * Records.COUNTER_RECORD_BYTES_MAX * counters, 0, Integer.MAX_VALUE);
  }

  /** Returns the {@link Engine#position} that includes the changes of this operation. */
  public long position() {
    return state.frame;
  }

  /** Returns whether changes that write this number of log bytes fit into one commit. */
  public boolean canEverFit(int bytes) {
    return bytes >= 0 && group.canEverFit(bytes); // negative on overflow of int
  }

  /** Returns the error for changes that exceed the size of a commit. */
  public IllegalArgumentException tooLarge() {
    return new IllegalArgumentException(
        "changes may need more than the %d bytes of log that fit into one commit;"
                .formatted(group.bytesMax())
            + " change fewer counters at a time");
  }

  /** Returns whether changes that write this number of log bytes fit into the current commit. */
  public boolean fits(int bytes) {
    return group.fits(bytes);
  }

  /** Returns the number of names visited by listings: work that delays other calls. */
  public long visited() {
    return visited;
  }

  /** Charges other work of an operation as visits of names. */
  public void visit(long looks) {
    visited += looks;
  }

  /** Returns the wall-clock time, in milliseconds since 1970, that decides about expiry. */
  public long nowMillis() {
    return state.wallMillis;
  }

  /**
   * Returns the number of changes since the engine was opened. An operation that throws after it
   * has changed something stops the engine, so that its change never reaches the log: see {@link
   * Operation#on}.
   */
  public long changeCount() {
    return state.changes;
  }

  boolean isAlive(int ordinal) {
    return ordinal >= 0 && state.counters.isAlive(ordinal, state.wallMillis);
  }

  /**
   * Returns the value; empty if the counter was never written, was removed, has expired, or holds a
   * text.
   */
  public OptionalLong get(String counter) {
    int ordinal = state.counters.find(counter);
    return isNumber(ordinal)
        ? OptionalLong.of(state.counters.value(ordinal))
        : OptionalLong.empty();
  }

  private boolean isNumber(int ordinal) {
    return isAlive(ordinal) && state.counters.text(ordinal) == null;
  }

  /** Returns whether the name holds a counter or a text. */
  public boolean exists(String counter) {
    return isAlive(state.counters.find(counter));
  }

  /** Returns the text that the name holds, must not be modified; null if there is none. */
  public byte @Nullable [] text(String counter) {
    int ordinal = state.counters.find(counter);
    return isAlive(ordinal) ? state.counters.text(ordinal) : null;
  }

  /**
   * Stores a text under a counter's name; keeps the expiry.
   *
   * @param text must not be modified afterwards; counts toward {@link #bytesMax} like a name
   */
  public void setText(String counter, byte[] text) {
    int known = state.counters.find(counter);
    byte[] before = known < 0 ? null : state.counters.text(known);
    state.requireMemory(
        CounterTable.memoryBytes(text) - (before == null ? 0 : CounterTable.memoryBytes(before)));
    int ordinal = writable(known, counter);
    state.endHolds(ordinal);
    state.counters.setText(ordinal, text);
    group.text(ordinal, text);
    state.endChange();
  }

  /**
   * Returns a number that differs after every change and every restart; 0 for a missing counter.
   */
  public long version(String counter) {
    int ordinal = state.counters.find(counter);
    return isAlive(ordinal) ? state.counters.version(ordinal) : 0;
  }

  /**
   * Returns the place of an existing counter, as used by {@link #nameAt}; -1 if it is missing,
   * holds a text, or its name is not ASCII. The fast path for a name that is available as bytes.
   */
  public int placeOf(byte[] name, int from, int length) {
    int ordinal = state.counters.find(name, from, length);
    return isNumber(ordinal) ? ordinal : -1;
  }

  /** Returns whether a place returned by {@link #placeOf} still holds a counter and not a text. */
  public boolean isNumberAt(int place) {
    return isNumber(place);
  }

  /** Returns the value of the counter at a place returned by {@link #placeOf}. */
  public long valueAt(int place) {
    return state.counters.value(place);
  }

  /** Prefetches the memory of a request id, so that the cache misses of several lookups overlap. */
  public void touch(int place, long high, long low) {
    state.touched += state.ids.touch(high, low, place);
  }

  /**
   * Adds to the counter at a place returned by {@link #placeOf}, exactly once under a request id.
   *
   * @return whether it applied: false for a repeated id or on overflow; {@link #add} distinguishes
   *     the two
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
    return state.adds.applied();
  }

  /**
   * Adds to the counter at a place returned by {@link #placeOf}.
   *
   * @return whether it applied: false on overflow
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
    return state.adds.applied();
  }

  /** Looks up the name only if something is watched: every memory access counts here. */
  private void changedAt(int place) {
    if (!state.watches.isEmpty()) {
      state.watches.changed(Objects.requireNonNull(state.counters.name(place)));
    }
  }

  /** Returns the expiry, in milliseconds since 1970; 0 for never or for a missing counter. */
  public long expiresAt(String counter) {
    int ordinal = state.counters.find(counter);
    return isAlive(ordinal) ? state.counters.expiresAt(ordinal) : 0;
  }

  /** Returns the number of counters, including texts and members of families. */
  public int size() {
    CounterTable counters = state.counters;
    if (!counters.hasExpired(state.wallMillis)) {
      return counters.writtenSize();
    }
    visit(counters.size() / EXPIRIES_PER_LOOK);
    return counters.writtenSize() - counters.expiredSize(state.wallMillis);
  }

  /**
   * Returns names of existing counters, in order.
   *
   * @param prefix only names with this prefix; empty for all
   * @param after only names after this one; the prefix itself to start
   * @param limit maximum number of names
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

  /** Returns the exclusive upper bound of all places; a counter keeps its place while it exists. */
  public int places() {
    return state.counters.size();
  }

  /** Returns the name of the counter at a place; empty if there is none at present. */
  public Optional<String> nameAt(int place) {
    visited++;
    return isAlive(place) ? Optional.ofNullable(state.counters.name(place)) : Optional.empty();
  }

  /** Ensures that changes are accepted, and that there is memory for new ones of these counters. */
  public void requireRoom(List<String> names) {
    group.requireWritable();
    long bytes = 0;
    for (String name : names) {
      bytes += state.counters.find(name) < 0 ? CounterTable.memoryBytes(name) : 0;
    }
    state.requireMemory(bytes);
  }

  /** Creates a missing counter under a request id, as an add of this value would, even of 0. */
  public void begin(String counter, long value, RequestId id) {
    int ordinal = writable(state.counters.find(counter), counter);
    state.counters.set(ordinal, value);
    remember(ordinal, id.high(), id.low(), value, value, 0);
    state.endChange();
  }

  /** Records the effect of an add under an id, in memory and in the log. */
  private void remember(int ordinal, long high, long low, long delta, long after, int mark) {
    long meta = IdTable.meta(ordinal, IdTable.APPLIED, mark);
    state.counters.markIds(ordinal, state.ids.epoch());
    state.ids.add(high, low, meta, delta, after, state.timeMillis, state.frame);
    group.once(ordinal, high, low, delta, after, mark);
  }

  /** Adds, exactly once if the add has a request id. */
  public AddResult add(Add add) {
    int ordinal = state.counters.find(add.counter());
    RequestId id = add.id();
    if (id != null && ordinal >= 0 && seen(id, ordinal)) {
      return state.adds.counted(repeated(add, ordinal));
    }
    requireNumber(ordinal, add.counter());
    long value = isAlive(ordinal) ? state.counters.value(ordinal) : 0;
    Rejection why = Rejection.of(value, add.delta(), add.bounds());
    if (why != null) {
      return state.adds.counted(new AddResult.Rejected(why, value));
    }
    return state.adds.counted(apply(add, ordinal, value + add.delta()));
  }

  /** Returns whether the add has a request id that is remembered. */
  public boolean isRepeat(Add add) {
    int ordinal = state.counters.find(add.counter());
    RequestId id = add.id();
    return id != null && ordinal >= 0 && seen(id, ordinal);
  }

  void requireNumber(int ordinal, String counter) {
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
   * Begins a change of a counter and returns its ordinal, which is assigned if need be; removes an
   * expired counter first.
   */
  int writable(int known, String counter) {
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
      state.removeCounter(known);
      group.gone(known);
    }
    return known;
  }

  /**
   * Counts changes of a counter or a family, until {@link #unwatch} is called the same number of
   * times.
   *
   * @return the current number of changes, to be compared to later results of {@link #changes}
   */
  public long watch(String name) {
    state.requireMemory(state.watches.memoryBytes(name));
    return state.watches.watch(name);
  }

  /** Returns how often a watched name was changed; expiry is not counted. */
  public long changes(String name) {
    return state.watches.changes(name);
  }

  /** Ends one {@link #watch}. */
  public void unwatch(String name) {
    state.watches.unwatch(name);
  }

  private void expire(int ordinal, long atMillis) {
    if (state.counters.expiresAt(ordinal) != atMillis) {
      state.counters.expire(ordinal, atMillis);
      group.expires(ordinal, atMillis);
    }
  }

  /** Sets a counter, replacing a number or a text; keeps the expiry. */
  public void set(String counter, long value) {
    int ordinal = writable(state.counters.find(counter), counter);
    state.counters.set(ordinal, value);
    group.plain(state.counters, ordinal);
    state.endChange();
  }

  /**
   * Sets the expiry of a counter.
   *
   * @param atMillis milliseconds since 1970; 0 for never
   * @return whether the counter exists
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
   * Removes a counter. Its request ids stay remembered.
   *
   * @return whether the counter existed
   */
  public boolean remove(String counter) {
    int ordinal = state.counters.find(counter);
    if (!isAlive(ordinal)) {
      return false;
    }
    group.requireWritable();
    state.beginChange();
    state.watches.changed(counter);
    state.removeCounter(ordinal);
    group.gone(ordinal);
    state.tombstones.add(ordinal);
    state.endChange();
    return true;
  }

  /** Returns the outcome of a request; see {@link dev.quipu.Counters#outcome}. */
  public RequestOutcome outcome(String counter, RequestId id) {
    int ordinal = state.counters.find(counter);
    if (ordinal < 0 || !seen(id, ordinal)) {
      return new RequestOutcome.NotSeen();
    }
    return IdTable.kind(entry[2]) == IdTable.CANCELED
        ? new RequestOutcome.Canceled()
        : new RequestOutcome.Applied(entry[3], OptionalLong.of(entry[4]));
  }

  /** Cancels a request; see {@link dev.quipu.Counters#cancel}. */
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
