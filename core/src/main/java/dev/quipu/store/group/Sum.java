package dev.quipu.store.group;

import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import java.util.List;
import java.util.Optional;

/**
 * An add to the value, allowed while the value before it is in {@code low..high}. No allowed value
 * overflows 64 bits by it.
 *
 * @param low lowest allowed value before the add, inclusive
 * @param high highest allowed value before the add, inclusive
 */
public record Sum(long delta, long low, long high) {
  /** Returns the add of a write; empty if it is not a lone add to the value within bounds. */
  public static Optional<Sum> of(Write write) {
    if (write instanceof Write.Update update
        && update.changes().size() == 1
        && update.changes().getFirst() instanceof Change.Add add
        && add.field().equals(Item.VALUE)) {
      return switch (update.condition()) {
        case Condition.Always always -> of(add.delta(), Long.MIN_VALUE, Long.MAX_VALUE);
        case Condition.Within within when within.field().equals(Item.VALUE) ->
            of(add.delta(), within.min(), within.max());
        default -> Optional.empty();
      };
    }
    return Optional.empty();
  }

  /** Returns an add with a result in {@code min..max}; empty if that is impossible. */
  private static Optional<Sum> of(long delta, long min, long max) {
    long low = delta > 0 ? Math.max(min, Long.MIN_VALUE + delta) : min;
    long high = delta < 0 ? Math.min(max, Long.MAX_VALUE + delta) : max;
    return low > high ? Optional.empty() : Optional.of(new Sum(delta, low - delta, high - delta));
  }

  /** Returns this add followed by another; empty if they cannot be expressed as one. */
  public Optional<Sum> then(Sum next) {
    long sum = delta + next.delta;
    boolean overflows = ((delta ^ sum) & (next.delta ^ sum)) < 0;
    long nextLow = next.low - delta; // an overflow means below or above all numbers
    boolean lowWraps = ((next.low ^ delta) & (next.low ^ nextLow)) < 0;
    long nextHigh = next.high - delta;
    boolean highWraps = ((next.high ^ delta) & (next.high ^ nextHigh)) < 0;
    if (overflows || (lowWraps && delta < 0) || (highWraps && delta > 0)) {
      return Optional.empty();
    }
    long lowBoth = lowWraps ? low : Math.max(low, nextLow);
    long highBoth = highWraps ? high : Math.min(high, nextHigh);
    return lowBoth > highBoth ? Optional.empty() : Optional.of(new Sum(sum, lowBoth, highBoth));
  }

  /** Returns whether the add is allowed if this is the value before it. */
  public boolean allows(long before) {
    return low <= before && before <= high;
  }

  /** Returns the least allowed value after the add. */
  public long min() {
    return low + delta;
  }

  /** Returns the greatest allowed value after the add. */
  public long max() {
    return high + delta;
  }

  /** Returns the add as a write. */
  public Write.Update write(Key key) {
    return new Write.Update(
        key,
        List.of(new Change.Add(Item.VALUE, delta)),
        new Condition.Within(Item.VALUE, min(), max()));
  }
}
