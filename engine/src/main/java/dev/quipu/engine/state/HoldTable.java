package dev.quipu.engine.state;

import dev.quipu.RequestId;
import dev.quipu.engine.log.HoldRecord;
import dev.quipu.engine.state.OpenHold.HoldId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The open holds: by id, by expiry, and by the ordinal of a counter. Not thread-safe.
 *
 * <p>Its keys are comparable, so that ids that a client chose to collide are still found fast.
 */
public final class HoldTable {
  private static final long HOLD_BYTES = 320;
  private static final long PART_BYTES = 280;

  private final Map<HoldId, OpenHold> byId = new HashMap<>();
  private final ExpiryOrder byExpiry = new ExpiryOrder();
  private final Map<Integer, CounterHolds> byCounter = new HashMap<>();
  private long memoryBytes;

  HoldTable() {}

  /** Returns the estimated heap of a hold over this number of counters. */
  public static long memoryBytes(int parts) {
    return HOLD_BYTES + PART_BYTES * parts;
  }

  /** Returns the estimated heap of all open holds. */
  long memoryBytes() {
    return memoryBytes;
  }

  public int size() {
    return byId.size();
  }

  /** Returns an open hold; null if there is none. */
  public @Nullable OpenHold find(long high, long low) {
    return byId.get(new HoldId(high, low));
  }

  /** Adds an open hold, or replaces the one with its id. */
  public void put(HoldRecord record) {
    remove(record.high(), record.low());
    List<CounterHolds> counters = new ArrayList<>(record.parts().size());
    for (HoldRecord.Part part : record.parts()) {
      counters.add(
          part.isVoid()
              ? CounterHolds.VOID
              : byCounter.computeIfAbsent(part.ordinal(), ordinal -> new CounterHolds()));
    }
    OpenHold hold =
        new OpenHold(new HoldId(record.high(), record.low()), record, List.copyOf(counters));
    byId.put(hold.id(), hold);
    byExpiry.add(hold);
    for (int i = 0; i < counters.size(); i++) {
      if (!hold.isVoid(i)) {
        counters.get(i).add(hold, record.parts().get(i));
      }
    }
    memoryBytes += memoryBytes(counters.size());
  }

  /** Removes a hold that ended, if it is there. */
  public void remove(long high, long low) {
    OpenHold hold = byId.remove(new HoldId(high, low));
    if (hold == null) {
      return;
    }
    byExpiry.remove(hold);
    for (int i = 0; i < hold.counters().size(); i++) {
      CounterHolds counter = hold.counters().get(i);
      HoldRecord.Part part = hold.placed().parts().get(i);
      if (!counter.isVoid()) {
        counter.remove(hold, part);
        if (counter.isEmpty()) {
          byCounter.remove(part.ordinal());
        }
      }
    }
    memoryBytes -= memoryBytes(hold.counters().size());
  }

  /** Ends what holds reserve on a counter, because it was removed. */
  void counterRemoved(int ordinal) {
    CounterHolds holds = byCounter.remove(ordinal);
    if (holds != null) {
      holds.end();
    }
  }

  /** Returns the hold that expires first; null if there is none. */
  public @Nullable OpenHold first() {
    return byExpiry.first();
  }

  /**
   * Returns open holds in the order of their expiry.
   *
   * @param after the last one of the previous part, which may have ended since; null for the first
   *     part
   */
  public List<OpenHold> next(@Nullable OpenHold after, int limit) {
    return byExpiry.next(after, limit);
  }

  /** Returns the signed sum of the open holds on a counter. */
  public long held(int ordinal) {
    CounterHolds holds = byCounter.get(ordinal);
    return holds == null ? 0 : holds.held();
  }

  /** Returns the highest floor of the open holds; {@link Long#MIN_VALUE} for none. */
  public long floor(int ordinal) {
    CounterHolds holds = byCounter.get(ordinal);
    return holds == null ? Long.MIN_VALUE : holds.floor();
  }

  /** Returns the lowest ceiling of the open holds; {@link Long#MAX_VALUE} for none. */
  public long ceiling(int ordinal) {
    CounterHolds holds = byCounter.get(ordinal);
    return holds == null ? Long.MAX_VALUE : holds.ceiling();
  }

  /**
   * Returns open holds on a counter, in the order of their ids.
   *
   * @param after the id before the first one; null for all
   */
  public List<OpenHold> on(int ordinal, @Nullable RequestId after, int limit) {
    CounterHolds holds = byCounter.get(ordinal);
    if (holds == null) {
      return List.of();
    }
    var rest =
        after == null
            ? holds.open()
            : holds.open().tailMap(new HoldId(after.high(), after.low()), false);
    return first(rest.values(), limit);
  }

  /** A stream would call size(), which visits all elements of a part of a tree. */
  private static List<OpenHold> first(Iterable<OpenHold> holds, int limit) {
    List<OpenHold> first = new ArrayList<>();
    for (OpenHold hold : holds) {
      if (first.size() == limit) {
        break;
      }
      first.add(hold);
    }
    return first;
  }
}
