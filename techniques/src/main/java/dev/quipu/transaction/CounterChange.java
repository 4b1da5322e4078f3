package dev.quipu.transaction;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.HoldResult;
import dev.quipu.Rejection;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.technique.CounterItems;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A change of a counter by a step of a hold.
 *
 * @param bounds to be kept by the value
 * @param held change of the sum of open holds
 * @param holds change of their number
 */
record CounterChange(String counter, long delta, Bounds bounds, long held, long holds) {
  boolean isNone() {
    return delta == 0 && holds == 0;
  }

  Key key() {
    return CounterItems.valueKey(counter);
  }

  Write write() {
    List<Change> changes = new ArrayList<>();
    if (delta != 0) {
      changes.add(new Change.Add(CounterItems.VALUE, delta));
    }
    if (holds != 0) {
      changes.add(new Change.Add(CounterItems.HELD, held));
      changes.add(new Change.Add(CounterItems.HOLDS, holds));
    }
    Condition within =
        delta == 0
            ? Condition.always()
            : CounterItems.within(new Add(counter, delta, bounds, null));
    return new Write.Update(key(), changes, within);
  }

  HoldResult.Rejected rejected(Optional<Item> found) {
    long value = found.map(item -> item.number(CounterItems.VALUE)).orElse(0L);
    Rejection why = Rejection.of(value, delta, bounds);
    // Otherwise the sum of open holds exceeds 64 bits.
    return new HoldResult.Rejected(
        counter, why == null ? Rejection.OVERFLOW : why, OptionalLong.of(value));
  }
}
