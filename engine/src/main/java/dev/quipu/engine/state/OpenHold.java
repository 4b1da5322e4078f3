package dev.quipu.engine.state;

import dev.quipu.engine.log.HoldRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An open hold in a {@link HoldTable}. */
public final class OpenHold {
  private final HoldId id;
  private final HoldRecord placed;
  private final List<CounterHolds> counters;

  // Of ExpiryOrder.
  @Nullable OpenHold previous;
  @Nullable OpenHold next;
  long order;

  OpenHold(HoldId id, HoldRecord placed, List<CounterHolds> counters) {
    this.id = id;
    this.placed = placed;
    this.counters = counters;
  }

  /** The 128 bits of an id, in the order of listings. */
  record HoldId(long high, long low) implements Comparable<HoldId> {
    @Override
    public int compareTo(HoldId other) {
      int order = Long.compareUnsigned(high, other.high);
      return order == 0 ? Long.compareUnsigned(low, other.low) : order;
    }

    @Override
    public boolean equals(@Nullable Object other) { // that of a record is slower
      return other instanceof HoldId id && id.high == high && id.low == low;
    }

    @Override
    public int hashCode() {
      return Long.hashCode(high ^ low);
    }
  }

  HoldId id() {
    return id;
  }

  long expiresMillis() {
    return placed.expiresMillis();
  }

  List<CounterHolds> counters() {
    return counters;
  }

  /** Returns the hold as it was placed or extended; see {@link #isVoid}. */
  public HoldRecord placed() {
    return placed;
  }

  /** Returns whether the counter of a part was removed: nothing is reserved on it any more. */
  public boolean isVoid(int part) {
    return counters.get(part).isVoid();
  }

  /** Returns the hold as it is to be stored. */
  public HoldRecord current() {
    List<HoldRecord.Part> parts = new ArrayList<>(placed.parts().size());
    for (int i = 0; i < placed.parts().size(); i++) {
      HoldRecord.Part part = placed.parts().get(i);
      parts.add(part.isVoid() == isVoid(i) ? part : part.voided());
    }
    return new HoldRecord(
        placed.high(),
        placed.low(),
        placed.contents(),
        placed.expiresMillis(),
        placed.policies(),
        List.copyOf(parts));
  }
}
