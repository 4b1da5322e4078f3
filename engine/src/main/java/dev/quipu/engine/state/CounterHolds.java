package dev.quipu.engine.state;

import dev.quipu.engine.log.HoldRecord;
import dev.quipu.engine.state.OpenHold.HoldId;
import java.util.NavigableMap;
import java.util.TreeMap;

/** The open holds on one counter. Not thread-safe. */
final class CounterHolds {
  /** For parts whose counter was removed. */
  static final CounterHolds VOID = new CounterHolds();

  static {
    VOID.end();
  }

  private final TreeMap<HoldId, OpenHold> open = new TreeMap<>();
  private final TreeMap<Long, Integer> floors = new TreeMap<>(); // with the number of their holds
  private final TreeMap<Long, Integer> ceilings = new TreeMap<>();
  private long held;
  private boolean isVoid;

  boolean isVoid() {
    return isVoid;
  }

  /** Forgets all holds, because the counter was removed. */
  void end() {
    isVoid = true;
    open.clear();
    floors.clear();
    ceilings.clear();
  }

  void add(OpenHold hold, HoldRecord.Part part) {
    open.put(hold.id(), hold);
    held += part.delta();
    if (part.floor() != Long.MIN_VALUE) {
      floors.merge(part.floor(), 1, Integer::sum);
    }
    if (part.ceiling() != Long.MAX_VALUE) {
      ceilings.merge(part.ceiling(), 1, Integer::sum);
    }
  }

  void remove(OpenHold hold, HoldRecord.Part part) {
    open.remove(hold.id());
    held -= part.delta();
    if (part.floor() != Long.MIN_VALUE) {
      floors.merge(part.floor(), -1, CounterHolds::sumUnlessZero);
    }
    if (part.ceiling() != Long.MAX_VALUE) {
      ceilings.merge(part.ceiling(), -1, CounterHolds::sumUnlessZero);
    }
  }

  @SuppressWarnings("NullAway") // null removes the entry
  private static Integer sumUnlessZero(Integer one, Integer other) {
    return one + other == 0 ? null : (Integer) (one + other);
  }

  boolean isEmpty() {
    return open.isEmpty();
  }

  NavigableMap<HoldId, OpenHold> open() {
    return open;
  }

  /** Returns the signed sum of what is reserved. */
  long held() {
    return held;
  }

  /** Returns the highest floor; {@link Long#MIN_VALUE} for none. */
  long floor() {
    return floors.isEmpty() ? Long.MIN_VALUE : floors.lastKey();
  }

  /** Returns the lowest ceiling; {@link Long#MAX_VALUE} for none. */
  long ceiling() {
    return ceilings.isEmpty() ? Long.MAX_VALUE : ceilings.firstKey();
  }
}
