package dev.quipu.engine.state;

import dev.quipu.RequestId;
import dev.quipu.engine.log.HoldRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The open holds on one counter. Not thread-safe. */
final class CounterHolds {
  private final String name;
  private final int ordinal;
  private final TreeSet<OpenHold> open = new TreeSet<>(OpenHold::compareIds);
  private @Nullable NavigableMap<Long, Integer> floors; // with the number of their holds
  private @Nullable NavigableMap<Long, Integer> ceilings;
  private long held;
  private boolean isVoid;

  CounterHolds(HoldRecord.Part part) {
    this.name = part.counter();
    this.ordinal = part.ordinal();
    this.isVoid = part.isVoid();
  }

  String name() {
    return name;
  }

  int ordinal() {
    return ordinal;
  }

  /** Returns whether the counter was removed: nothing is reserved on it any more. */
  boolean isVoid() {
    return isVoid;
  }

  /** Forgets all holds, because the counter was removed. */
  void end() {
    isVoid = true;
    open.clear();
    floors = null;
    ceilings = null;
  }

  void add(OpenHold hold, HeldPart part) {
    open.add(hold);
    held += part.delta();
    countBounds(part, 1);
  }

  void remove(OpenHold hold, HeldPart part) {
    open.remove(hold);
    held -= part.delta();
    countBounds(part, -1);
  }

  private void countBounds(HeldPart part, int by) {
    if (part.floor() != Long.MIN_VALUE) {
      floors = counted(floors, part.floor(), by);
    }
    if (part.ceiling() != Long.MAX_VALUE) {
      ceilings = counted(ceilings, part.ceiling(), by);
    }
  }

  private static @Nullable NavigableMap<Long, Integer> counted(
      @Nullable NavigableMap<Long, Integer> counts, long bound, int by) {
    NavigableMap<Long, Integer> changed = counts == null ? new TreeMap<>() : counts;
    int count = changed.getOrDefault(bound, 0) + by;
    if (count == 0) {
      changed.remove(bound);
    } else {
      changed.put(bound, count);
    }
    return changed.isEmpty() ? null : changed;
  }

  boolean isEmpty() {
    return open.isEmpty();
  }

  /**
   * Returns holds in the order of their ids.
   *
   * @param after the id before the first one; null for all
   */
  List<OpenHold> next(@Nullable RequestId after, int limit) {
    var rest =
        after == null ? open : open.tailSet(OpenHold.withId(after.high(), after.low()), false);
    List<OpenHold> found = new ArrayList<>();
    for (OpenHold hold : rest) { // a stream would visit all, to know its size
      if (found.size() == limit) {
        break;
      }
      found.add(hold);
    }
    return found;
  }

  /** Returns the signed sum of what is reserved. */
  long held() {
    return held;
  }

  /** Returns the highest floor; {@link Long#MIN_VALUE} for none. */
  long floor() {
    return floors == null ? Long.MIN_VALUE : floors.lastKey();
  }

  /** Returns the lowest ceiling; {@link Long#MAX_VALUE} for none. */
  long ceiling() {
    return ceilings == null ? Long.MAX_VALUE : ceilings.firstKey();
  }
}
