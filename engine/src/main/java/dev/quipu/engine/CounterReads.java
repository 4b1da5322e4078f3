package dev.quipu.engine;

import dev.quipu.Reading;
import dev.quipu.engine.state.CounterTable;
import dev.quipu.engine.state.State;
import dev.quipu.engine.state.Watches;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.PrimitiveIterator;
import org.jspecify.annotations.Nullable;

/** The part of {@link CounterAccess} that changes nothing. */
class CounterReads {
  /** Expiry checks that cost as much time as one name lookup. */
  private static final int EXPIRIES_PER_LOOK = 16;

  final State state;
  private long visited;

  CounterReads(State state) {
    this.state = state;
  }

  /** Returns the {@link Engine#position} that includes the changes of this operation. */
  public long position() {
    return state.frame;
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

  final boolean isAlive(int ordinal) {
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

  final boolean isNumber(int ordinal) {
    return isAlive(ordinal) && state.counters.text(ordinal) == null;
  }

  /** Returns whether the name holds a counter or a text. */
  public boolean exists(String counter) {
    return isAlive(state.counters.find(counter));
  }

  /** Returns whether open holds reserve something on the counter. */
  final boolean isHeld(String counter) {
    int ordinal = state.counters.find(counter);
    return isAlive(ordinal) && !state.holds.on(ordinal, null, 1).isEmpty();
  }

  /** Returns the text that the name holds, must not be modified; null if there is none. */
  public byte @Nullable [] text(String counter) {
    int ordinal = state.counters.find(counter);
    return isAlive(ordinal) ? state.counters.text(ordinal) : null;
  }

  /** Returns the value with its scale; empty where {@link #get} is. */
  public Optional<Reading> reading(String counter) {
    return reading(state.counters.find(counter));
  }

  /** Returns the value at a place, which may be -1 for none, in the same way. */
  final Optional<Reading> reading(int ordinal) {
    return isAlive(ordinal) ? stored(ordinal) : Optional.empty();
  }

  /** Returns the value as the log has it: also if it has expired and is not removed yet. */
  final Optional<Reading> stored(String counter) {
    return stored(state.counters.find(counter));
  }

  private Optional<Reading> stored(int ordinal) {
    return ordinal >= 0 && state.counters.isWritten(ordinal) && state.counters.text(ordinal) == null
        ? Optional.of(Reading.exact(state.counters.value(ordinal), state.counters.scale(ordinal)))
        : Optional.empty();
  }

  /**
   * Returns the number of digits after the point of a counter: of a missing one, that which it
   * would get by its name, unless a remembered request id keeps the previous one.
   */
  public int scale(String counter) {
    return scale(state.counters.find(counter), counter);
  }

  final int scale(int ordinal, String counter) {
    return isScaleFixed(ordinal) ? state.counters.scale(ordinal) : scaleByName(counter);
  }

  /** Returns the scale of a new counter; that of a member is that of its family. */
  final int scaleByName(String counter) {
    if (state.scaleRules.isEmpty()) {
      return 0;
    }
    int end = Watches.familyEnd(counter);
    if (end >= 0 && counter.charAt(end) == Watches.RANKED_MEMBER) {
      return 0; // scores are integers
    }
    return state.scaleRules.of(end < 0 ? counter : counter.substring(0, end));
  }

  final boolean isScaleFixed(String counter) {
    return isScaleFixed(state.counters.find(counter));
  }

  /** Returns whether the counter has a value, or request ids, whose meaning must not change. */
  final boolean isScaleFixed(int ordinal) {
    return isAlive(ordinal)
        || (ordinal >= 0 && state.ids.isLive(state.counters.epochOfIds(ordinal)));
  }

  /**
   * Returns a number that differs after every change and every restart; 0 for a missing counter.
   */
  public long version(String counter) {
    int ordinal = state.counters.find(counter);
    return isAlive(ordinal) ? state.counters.version(ordinal) : 0;
  }

  /** Returns the expiry, in milliseconds since 1970; 0 for never or for a missing counter. */
  public long expiresAt(String counter) {
    int ordinal = state.counters.find(counter);
    return isAlive(ordinal) ? state.counters.expiresAt(ordinal) : 0;
  }

  /** Returns the number of counters, including texts and members of families. */
  public int size() {
    CounterTable counters = state.counters;
    if (!counters.expired.mayExist(state.wallMillis)) {
      return counters.writtenSize();
    }
    visit(counters.size() / EXPIRIES_PER_LOOK);
    return counters.writtenSize() - counters.expired.size(state.wallMillis);
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
    PrimitiveIterator.OfInt next = state.counters.from(after, false);
    while (next.hasNext() && names.size() < limit) {
      visited++;
      int ordinal = next.nextInt();
      String name = state.nameOf(ordinal);
      if (!name.startsWith(prefix)) {
        break;
      }
      if (isAlive(ordinal)) {
        names.add(name);
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
}
