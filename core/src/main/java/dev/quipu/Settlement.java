package dev.quipu;

import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a hold keeps when it is settled: one delta for each of its counters, each 0 or with the sign
 * of what was reserved.
 */
public final class Settlement {
  private final @Nullable Decimal same;
  private final Map<String, Decimal> byCounter;
  private final boolean isInUnits;

  private Settlement(@Nullable Decimal same, Map<String, Decimal> byCounter, boolean isInUnits) {
    this.same = same;
    this.byCounter = byCounter;
    this.isInUnits = isInUnits;
  }

  /** Keeps the same delta on each counter of the hold, in units of the counter. */
  public static Settlement each(long delta) {
    return new Settlement(new Decimal(delta, 0), Map.of(), true);
  }

  /** Keeps the same exact decimal on each counter of the hold. */
  public static Settlement each(Decimal delta) {
    return new Settlement(delta, Map.of(), false);
  }

  /**
   * Keeps the same exact decimal on each counter of the hold.
   *
   * @throws IllegalArgumentException if it does not fit into 64 bits
   */
  public static Settlement each(BigDecimal delta) {
    return each(Decimal.of("delta", delta));
  }

  /** Keeps these deltas, in units of their counters; each counter of the hold must have one. */
  public static Settlement of(Map<String, Long> deltas) {
    Map<String, Decimal> units = new HashMap<>();
    deltas.forEach((counter, delta) -> units.put(counter, new Decimal(delta, 0)));
    return new Settlement(null, Map.copyOf(units), true);
  }

  /** Keeps these exact decimals; each counter of the hold must have one. */
  public static Settlement ofDecimals(Map<String, Decimal> deltas) {
    return new Settlement(null, Map.copyOf(deltas), false);
  }

  /** Returns the delta that is kept on each counter; empty if they differ. */
  public Optional<Decimal> same() {
    return Optional.ofNullable(same);
  }

  /** Returns the delta of each counter; empty if it is the {@link #same} on each. */
  public Map<String, Decimal> byCounter() {
    return byCounter;
  }

  /** Returns whether the deltas are in units of their counters, and not decimals. */
  public boolean isInUnits() {
    return isInUnits;
  }

  /** Returns whether one of two deltas of the same sign, or 0, is further from 0 than the other. */
  public static boolean exceeds(long kept, long reserved) {
    return reserved < 0 ? kept < reserved : kept > reserved;
  }

  /**
   * Returns the deltas in the order of the counters of a hold, in units of the counters.
   *
   * @throws IllegalArgumentException if a counter has no delta, one of the other sign, or one with
   *     more digits after the point than the counter, or a delta is for a counter that the hold
   *     does not have
   */
  public long[] deltasFor(HoldReading hold) {
    if (same == null) {
      requireCounters(hold);
    }
    long[] deltas = new long[hold.counters().size()];
    for (int i = 0; i < deltas.length; i++) {
      HoldReading.Part part = hold.counters().get(i);
      Decimal delta = same == null ? deltaOf(part.counter()) : same;
      deltas[i] = isInUnits ? delta.units() : delta.unitsAt("field delta", part.scale());
      if (deltas[i] != 0 && (deltas[i] < 0) != (part.delta() < 0)) {
        throw new IllegalArgumentException(
            "delta %s of %s has another sign than the %s that the hold reserved; use 0 to keep nothing"
                .formatted(part.text(deltas[i]), part.counter(), part.text(part.delta())));
      }
    }
    return deltas;
  }

  private void requireCounters(HoldReading hold) {
    List<String> names = hold.counters().stream().map(HoldReading.Part::counter).toList();
    for (String counter : byCounter.keySet()) {
      if (!names.contains(counter)) {
        throw new IllegalArgumentException(
            "%s is not a counter of the hold; it has %s"
                .formatted(
                    counter, names.size() == 1 ? names.getFirst() : names.size() + " others"));
      }
    }
  }

  private Decimal deltaOf(String counter) {
    Decimal delta = byCounter.get(counter);
    if (delta == null) {
      throw new IllegalArgumentException(
          "the settlement has no delta for %s; use 0 to keep nothing".formatted(counter));
    }
    return delta;
  }
}
