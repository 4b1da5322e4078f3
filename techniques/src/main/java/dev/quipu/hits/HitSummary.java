package dev.quipu.hits;

import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.technique.CounterItems;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The summary of the hits of a counter: one item, which changes as a whole.
 *
 * @param item as it was read; empty if there is none
 * @param count the sum of all hits until {@code end}
 * @param end the last millisecond whose hits are in {@code count}; -1 for none
 * @param base the part of {@code count} whose hits have been swept
 * @param settledEnd an {@code end} that was stored long enough ago for every reader to know it
 * @param nextEnd the next {@code settledEnd}, after some time; not later than {@code end}
 * @param nextAt a moment, in milliseconds, at which {@code nextEnd} was found in the store; not the
 *     one at which a process attempted to store it, which may be much earlier
 * @param sweeping the items of hits that are in {@code base}, and perhaps not deleted yet: "h" or
 *     "a", and the sort
 */
record HitSummary(
    Optional<Item> item,
    long count,
    long end,
    long base,
    long settledEnd,
    long nextEnd,
    long nextAt,
    Set<String> sweeping) {
  private static final String SORT = "summary";
  private static final String END = "end";
  private static final String BASE = "base";
  private static final String SETTLED_END = "settled-end";
  private static final String NEXT_END = "next-end";
  private static final String NEXT_AT = "next-at";
  private static final String SWEEPING = "sweeping";

  static HitSummary read(Store store, String counter, Consistency consistency) {
    Optional<Item> found = store.get(key(counter), consistency);
    return found
        .map(item ->
            new HitSummary(
                found,
                item.number(Item.VALUE),
                item.number(END),
                item.number(BASE),
                item.number(SETTLED_END),
                item.number(NEXT_END),
                item.number(NEXT_AT),
                item.tokens(SWEEPING)))
        .orElse(new HitSummary(found, 0, -1, 0, -1, -1, -1, Set.of()));
  }

  private static Key key(String counter) {
    return new Key(CounterItems.partition(counter), SORT);
  }

  /** Returns a summary of all hits until a moment; nothing is being swept. */
  HitSummary until(long moment, long sum) {
    return new HitSummary(item, sum, moment, base, settledEnd, nextEnd, nextAt, Set.of());
  }

  /**
   * Returns this summary with {@code settledEnd} and {@code nextEnd} advanced, if due.
   *
   * @param readMillis a moment after it was read, at which its {@code end} was stored
   */
  HitSummary marked(long readMillis, long settleMillis) {
    return isNextSettled(readMillis, settleMillis) && nextEnd < end
        ? new HitSummary(item, count, end, base, nextEnd, end, readMillis, sweeping)
        : this;
  }

  /** Returns the last millisecond whose hits no reader needs. */
  long sweepableEnd(long now, long settleMillis) {
    return isNextSettled(now, settleMillis) ? nextEnd : settledEnd;
  }

  private boolean isNextSettled(long now, long settleMillis) {
    return nextAt <= now - settleMillis;
  }

  /** Returns this summary with other hits being swept. */
  HitSummary sweeping(Set<String> items, long amount, String counter) {
    long swept = CounterItems.plus(counter, base, amount);
    return new HitSummary(item, count, end, swept, settledEnd, nextEnd, nextAt, items);
  }

  /** Returns the write that replaces the stored summary, if it is unchanged. */
  Write put(String counter) {
    Map<String, Field> fields = new HashMap<>();
    fields.put(Item.VALUE, new Field.Number(count));
    fields.put(END, new Field.Number(end));
    fields.put(BASE, new Field.Number(base));
    fields.put(SETTLED_END, new Field.Number(settledEnd));
    fields.put(NEXT_END, new Field.Number(nextEnd));
    fields.put(NEXT_AT, new Field.Number(nextAt));
    fields.put(SWEEPING, new Field.Tokens(sweeping));
    return new Write.Put(key(counter), fields, Condition.unchanged(item));
  }
}
