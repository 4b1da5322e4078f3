package dev.quipu;

import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What a hold keeps when it is settled: one delta for each of its counters, each 0 or with the sign
 * of what was reserved.
 */
public final class Settlement {
  private final long same;
  private final @Nullable Map<String, Long> byCounter;

  private Settlement(long same, @Nullable Map<String, Long> byCounter) {
    this.same = same;
    this.byCounter = byCounter;
  }

  /** Keeps the same delta on each counter of the hold. */
  public static Settlement each(long delta) {
    return new Settlement(delta, null);
  }

  /** Keeps these deltas; each counter of the hold must have one. */
  public static Settlement of(Map<String, Long> deltas) {
    return new Settlement(0, Map.copyOf(deltas));
  }

  /** Returns the delta that is kept on each counter; empty if they differ. */
  public OptionalLong same() {
    return byCounter == null ? OptionalLong.of(same) : OptionalLong.empty();
  }

  /** Returns the delta of each counter; empty if it is the {@link #same} on each. */
  public Map<String, Long> byCounter() {
    return byCounter == null ? Map.of() : byCounter;
  }

  /** Returns whether one of two deltas of the same sign, or 0, is further from 0 than the other. */
  public static boolean exceeds(long kept, long reserved) {
    return reserved < 0 ? kept < reserved : kept > reserved;
  }

  /**
   * Returns the deltas in the order of the counters of a hold.
   *
   * @throws IllegalArgumentException if a counter has no delta or one of the other sign, or a delta
   *     is for a counter that the hold does not have
   */
  public long[] deltasFor(HoldReading hold) {
    long[] deltas = new long[hold.counters().size()];
    for (int i = 0; i < deltas.length; i++) {
      HoldReading.Part part = hold.counters().get(i);
      deltas[i] = byCounter == null ? same : deltaOf(part.counter(), byCounter);
      if (deltas[i] != 0 && (deltas[i] < 0) != (part.delta() < 0)) {
        throw new IllegalArgumentException(
            "delta %d of %s has another sign than the %d that the hold reserved; use 0 to keep nothing"
                .formatted(deltas[i], part.counter(), part.delta()));
      }
    }
    if (byCounter != null && byCounter.size() > deltas.length) {
      throw new IllegalArgumentException(
          "the settlement has %d counters, the hold has %d"
              .formatted(byCounter.size(), deltas.length));
    }
    return deltas;
  }

  private static long deltaOf(String counter, Map<String, Long> deltas) {
    Long delta = deltas.get(counter);
    if (delta == null) {
      throw new IllegalArgumentException(
          "the settlement has no delta for %s; use 0 to keep nothing".formatted(counter));
    }
    return delta;
  }
}
