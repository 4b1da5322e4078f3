package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.backend.RecentRequest;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.state.CounterMemory;
import dev.quipu.engine.state.Lookahead;
import dev.quipu.engine.state.State;
import dev.quipu.engine.state.TransactionIds;
import dev.quipu.engine.state.Watches;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * Access to all counters while an {@link Operation} runs within a commit, with no other operation
 * in between. Changes are on disk before the call returns. Valid on one thread, during one call.
 */
public final class CounterAccess extends CounterReads {
  /** Maximum number of bytes of log that one change writes, excluding the name. */
  static final int CHANGE_BYTES_MAX = 4 * Records.COUNTER_RECORD_BYTES_MAX;

  /** Separates the name of a family of counters from the rest of its members' names. */
  public static final char MEMBER = Watches.MEMBER;

  /** Like {@link #MEMBER}, for a ranked family. */
  public static final char RANKED_MEMBER = Watches.RANKED_MEMBER;

  /** Maximum number of names that are announced at once: see {@link #expect}. */
  public static final int EXPECTED_MAX = Lookahead.NAMES_MAX;

  final Group group;
  private final long[] entry = new long[IdTable.STRIDE];

  CounterAccess(State state, Group group) {
    super(state);
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

  /**
   * Returns the number of changes since the engine was opened. An operation that throws after it
   * has changed something stops the engine, so that its change never reaches the log: see {@link
   * Operation#on}.
   */
  public long changeCount() {
    return state.changes;
  }

  /**
   * Stores a text under a counter's name; keeps the expiry.
   *
   * @param text must not be modified afterwards; counts toward {@link #bytesMax} like a name
   */
  public void setText(String counter, byte[] text) {
    int known = state.counters.find(counter);
    byte[] before = known < 0 ? null : state.counters.text(known);
    state.requireMemory(CounterMemory.of(text) - (before == null ? 0 : CounterMemory.of(before)));
    int ordinal = writable(known, counter);
    state.endHolds(ordinal);
    state.counters.setText(ordinal, text);
    group.text(ordinal, text);
    state.endChange();
  }

  /**
   * Returns the place of an existing integer, as used by {@link #nameAt}; -1 if it is missing, has
   * a scale, holds a text, or its name is not ASCII. The fast path for a name that is available as
   * bytes.
   */
  public int placeOf(byte[] name, int from, int length) {
    int ordinal = state.counters.find(name, from, length);
    return isIntegerAt(ordinal) ? ordinal : -1;
  }

  /** Returns whether a place returned by {@link #placeOf} still holds an integer. */
  public boolean isIntegerAt(int place) {
    return isNumber(place) && !state.counters.isScaled(place);
  }

  /** Returns the value of the counter at a place returned by {@link #placeOf}. */
  public long valueAt(int place) {
    return state.counters.value(place);
  }

  /** Returns whether {@link #expect} saves time. */
  public boolean isLarge() {
    return state.lookahead.isUseful();
  }

  /** Starts to announce counters that will be looked up: see {@link #touchExpected}. */
  public void beginExpected() {
    state.lookahead.begin();
  }

  /** Announces a counter, at most {@link #EXPECTED_MAX}; returns its number, from 0. */
  public int expect(byte[] name, int from, int length) {
    return state.lookahead.expect(name, from, length);
  }

  /** Returns what {@link #placeOf} would for an announced counter, after {@link #touchExpected}. */
  public int placeOfExpected(int number) {
    int ordinal = state.lookahead.ordinal(number);
    return isIntegerAt(ordinal) ? ordinal : -1;
  }

  /** Prefetches the memory of all announced counters, so that their cache misses overlap. */
  public void touchExpected() {
    state.lookahead.find();
  }

  /** Announces the id of a transaction or a hold. */
  void expectId(RequestId id) {
    expectId(TransactionIds.MARKER, id.high(), id.low());
    state.touched += state.holds.find(id.high(), id.low()) == null ? 0 : 1;
  }

  /** Announces a request id that will be looked up: see {@link #readIds}. */
  public void expectId(int place, long high, long low) {
    state.ids.expect(high, low, place);
  }

  /** Reads the memory of all announced request ids, so that their cache misses overlap. */
  public void readIds() {
    state.ids.readAhead();
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

  /** Ensures that changes are accepted, and that there is memory for new ones of these counters. */
  public void requireRoom(List<String> names) {
    group.requireWritable();
    long bytes = 0;
    int added = 0;
    for (String name : names) {
      bytes += state.counters.find(name) < 0 ? state.counters.neededBytes(name, added++) : 0;
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
    state.recent.applied(ordinal, high, low, delta, after, state.wallMillis);
    group.once(ordinal, high, low, delta, after, mark);
  }

  /** Adds, exactly once if the add has a request id. */
  public AddResult add(Add given) {
    return add(given, state.counters.find(given.counter()));
  }

  /** Adds to a counter that was looked up: see {@link Lookahead}. */
  AddResult add(Add given, int ordinal) {
    int scale = scale(ordinal, given.counter());
    Add add = given.at(scale);
    RequestId id = add.id();
    if (id != null && ordinal >= 0 && seen(id, ordinal)) {
      return answered(add, repeated(add, ordinal));
    }
    requireNumber(ordinal, add.counter());
    long value = isAlive(ordinal) ? state.counters.value(ordinal) : 0;
    Rejection why = Rejection.of(value, add.delta(), add.bounds());
    if (why != null) {
      OptionalLong known = OptionalLong.of(value);
      return answered(add, new AddResult.Rejected(why, known, List.of(), scale));
    }
    return state.adds.counted(apply(add, ordinal, value + add.delta()));
  }

  private AddResult answered(Add add, AddResult result) {
    return state.adds.counted(state.recent.answered(add, result, state.wallMillis));
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
    int scale = state.counters.scale(ordinal);
    if (IdTable.kind(entry[2]) == IdTable.CANCELED) {
      long value = isNumber(ordinal) ? state.counters.value(ordinal) : 0;
      return new AddResult.Rejected(Rejection.CANCELED, OptionalLong.of(value), List.of(), scale);
    }
    if (delta != add.delta() || IdTable.boundsMark(entry[2]) != add.boundsMark()) {
      return new AddResult.Conflict(delta, scale);
    }
    return new AddResult.Replayed(delta, OptionalLong.of(entry[4]), scale);
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
    return new AddResult.Applied(
        add.delta(), OptionalLong.of(after), state.counters.scale(ordinal));
  }

  /**
   * Begins a change of a counter and returns its ordinal, which is assigned if need be; removes an
   * expired counter first.
   */
  int writable(int known, String counter) {
    group.requireWritable();
    if (known < 0) {
      state.requireMemory(state.counters.neededBytes(counter, 0));
    }
    state.beginChange();
    state.watches.changed(counter);
    if (known < 0) {
      int ordinal = state.counters.add(counter);
      group.name(ordinal, counter);
      changeScale(ordinal, scaleByName(counter));
      return ordinal;
    }
    if (!isAlive(known)) {
      if (state.counters.isWritten(known)) {
        state.removeCounter(known);
        group.gone(known);
      }
      changeScale(known, scale(known, counter));
    }
    return known;
  }

  private void changeScale(int ordinal, int scale) {
    if (state.counters.scale(ordinal) != scale) {
      state.counters.scale(ordinal, scale);
      group.scale(ordinal, scale);
    }
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

  /**
   * Sets a counter to a number of its units, replacing a number or a text; keeps the expiry, and
   * the {@link #scale}.
   */
  public void set(String counter, long value) {
    set(counter, value, scale(counter));
  }

  /** Sets a counter to a number of units of a scale, which it has, or may get. */
  void set(String counter, long value, int scale) {
    int ordinal = writable(state.counters.find(counter), counter);
    changeScale(ordinal, scale);
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

  List<RecentRequest> recentRequests(String counter, int limit) {
    int ordinal = state.counters.find(counter);
    int scale = ordinal < 0 ? 0 : state.counters.scale(ordinal);
    return state.recent.of(
        counter,
        ordinal,
        scale,
        limit,
        (high, low) -> state.ids.find(high, low, ordinal, state.timeMillis, entry));
  }

  /** Returns the outcome of a request; see {@link dev.quipu.Counters#outcome}. */
  public RequestOutcome outcome(String counter, RequestId id) {
    int ordinal = state.counters.find(counter);
    if (ordinal < 0 || !seen(id, ordinal)) {
      return new RequestOutcome.NotSeen();
    }
    return IdTable.kind(entry[2]) == IdTable.CANCELED
        ? new RequestOutcome.Canceled()
        : new RequestOutcome.Applied(
            entry[3], OptionalLong.of(entry[4]), state.counters.scale(ordinal));
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
