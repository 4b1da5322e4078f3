package dev.quipu.engine.state;

import dev.quipu.RequestId;
import dev.quipu.engine.ids.Secret;
import dev.quipu.engine.log.HoldRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The open holds: by id, by expiry, and by the ordinal of a counter. Not thread-safe. */
public final class HoldTable {
  private static final long HOLD_BYTES = 120;
  private static final long PART_BYTES = 280; // if it is the only one on its counter

  private final HoldIndex byId;
  private final ExpiryHeap byExpiry = new ExpiryHeap();
  private final Map<Integer, CounterHolds> byCounter = new HashMap<>();
  private @Nullable OpenHold oldest;
  private @Nullable OpenHold newest;
  private @Nullable OpenHold listed; // the last one of the current list; null at its beginning
  private int unlisted;
  private long memoryBytes;

  HoldTable(Secret secret) {
    this.byId = new HoldIndex(secret);
  }

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
    return byId.find(high, low);
  }

  /** Adds an open hold, or replaces the one with its id. */
  public void put(HoldRecord record) {
    remove(record.high(), record.low());
    OpenHold hold = new OpenHold(record, on(record.parts().getFirst()));
    HeldPart last = hold;
    for (HoldRecord.Part part : record.parts().subList(1, record.parts().size())) {
      HeldPart following = new HeldPart(part, on(part));
      last.nextPart = following;
      last = following;
    }
    byId.add(hold);
    byExpiry.add(hold);
    append(hold);
    for (HeldPart part = hold; part != null; part = part.nextPart) {
      if (!part.counter().isVoid()) {
        part.counter().add(hold, part);
      }
    }
    memoryBytes += memoryBytes(record.parts().size());
  }

  /** Returns the holds on the counter of a part. */
  private CounterHolds on(HoldRecord.Part part) {
    if (part.isVoid()) {
      return new CounterHolds(part);
    }
    CounterHolds holds = byCounter.get(part.ordinal());
    if (holds == null || !holds.name().equals(part.counter())) {
      // In a snapshot, an ordinal may have the name that it had, and then that which it has now.
      counterRemoved(part.ordinal());
      holds = new CounterHolds(part);
      byCounter.put(part.ordinal(), holds);
    }
    return holds;
  }

  /** Removes a hold that ended, if it is there. */
  public void remove(long high, long low) {
    OpenHold hold = byId.find(high, low);
    if (hold == null) {
      return;
    }
    byId.remove(hold);
    byExpiry.remove(hold);
    unlink(hold);
    int parts = 0;
    for (HeldPart part = hold; part != null; part = part.nextPart) {
      CounterHolds counter = part.counter();
      if (!counter.isVoid()) {
        counter.remove(hold, part);
        if (counter.isEmpty()) {
          byCounter.remove(counter.ordinal());
        }
      }
      parts++;
    }
    memoryBytes -= memoryBytes(parts);
  }

  private void append(OpenHold hold) {
    OpenHold before = newest;
    hold.previous = before;
    if (before == null) {
      oldest = hold;
    } else {
      before.next = hold;
    }
    newest = hold;
  }

  private void unlink(OpenHold hold) {
    OpenHold before = hold.previous;
    OpenHold after = hold.next;
    if (before == null) {
      oldest = after;
    } else {
      before.next = after;
    }
    if (after == null) {
      newest = before;
    } else {
      after.previous = before;
    }
    if (listed == hold) {
      listed = before;
    }
    hold.previous = null;
    hold.next = null; // or ended holds would keep each other in the heap
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

  /** Begins a list of the open holds, instead of an earlier one that was not read to its end. */
  public void beginList() {
    listed = null;
    unlisted = size();
  }

  /**
   * Returns the next open holds of the list, in the order in which they were put; empty at its end.
   * Holds may be put and removed between two calls: those that stay open are listed. It ends even
   * if more are put than read, because it has no more than there were at its beginning.
   */
  public List<OpenHold> nextOfList(int limit) {
    List<OpenHold> found = new ArrayList<>();
    OpenHold hold = listed == null ? oldest : listed.next;
    while (hold != null && found.size() < limit && unlisted > 0) {
      found.add(hold);
      listed = hold;
      unlisted--;
      hold = hold.next;
    }
    return found;
  }

  /** Returns all open holds, in the order in which they were put. */
  public List<OpenHold> all() {
    List<OpenHold> all = new ArrayList<>(size());
    for (OpenHold hold = oldest; hold != null; hold = hold.next) {
      all.add(hold);
    }
    return all;
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
    return holds == null ? List.of() : holds.next(after, limit);
  }
}
