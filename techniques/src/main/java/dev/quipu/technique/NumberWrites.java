package dev.quipu.technique;

import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.SetResult;
import dev.quipu.layer.Backoff;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Randomness;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;

/**
 * Sets and deletes the number of a counter, for techniques that keep it in one item.
 *
 * <p>Each write replaces the item that was read, and leaves a tag of its own in it: after a lost
 * reply the tag shows whether it was applied, unless another set or delete followed. All other
 * fields stay. A deleted counter keeps its item without the number, so that a delayed write cannot
 * bring it back.
 */
final class NumberWrites {
  private static final String TAG = "set";
  private static final int ROUNDS_MAX = 200;

  private final Store store;
  private final CounterItems items;
  private final RandomGenerator random;

  NumberWrites(Store store, CounterItems items) {
    this(store, items, Randomness.secure());
  }

  NumberWrites(Store store, CounterItems items, RandomGenerator random) {
    this.store = store;
    this.items = items;
    this.random = random;
  }

  /** Sets the number; see {@link dev.quipu.Counters#set}. */
  SetResult set(String counter, long value, OptionalLong ifValue) {
    OptionalLong next = OptionalLong.of(value);
    return ifValue.isPresent()
        ? replace(counter, next, ifValue)
        : IdempotentRetry.result(
            store, "set of " + counter, () -> replace(counter, next, OptionalLong.empty()));
  }

  /** Removes the number; see {@link dev.quipu.Counters#delete}. */
  void delete(String counter) {
    IdempotentRetry.result(
        store,
        "deletion of " + counter,
        () -> replace(counter, OptionalLong.empty(), OptionalLong.empty()));
  }

  private SetResult replace(String counter, OptionalLong next, OptionalLong ifValue) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    Key key = CounterItems.valueKey(counter);
    for (int round = 0; round < ROUNDS_MAX; round++) {
      Optional<Item> found = store.get(key, Consistency.STRONG);
      OptionalLong value = CounterItems.number(found);
      if (ifValue.isPresent() && value.orElse(0) != ifValue.getAsLong()) {
        return new SetResult.Mismatch(value);
      }
      if (next.isEmpty() && value.isEmpty()) {
        return new SetResult.Done(0); // already deleted
      }
      if (next.isPresent()) {
        items.enlist(counter);
      }
      if (put(key, found, next) == ConditionalPut.Result.STORED) {
        return new SetResult.Done(next.orElse(0));
      }
      Backoff.pause(store.clock(), random, round);
    }
    throw new NotAppliedException(
        Reason.THROTTLED,
        "gave up after %d attempts: contention on counter %s".formatted(ROUNDS_MAX, counter));
  }

  private ConditionalPut.Result put(Key key, Optional<Item> found, OptionalLong next) {
    String tag = Long.toHexString(random.nextLong());
    Map<String, Field> fields = new HashMap<>(found.map(Item::fields).orElse(Map.of()));
    fields.put(TAG, new Field.Text(tag));
    fields.remove(CounterItems.VALUE);
    next.ifPresent(value -> fields.put(CounterItems.VALUE, new Field.Number(value)));
    Write write =
        new Write.Put(key, fields, found.flatMap(Item::expiresAt), Condition.unchanged(found));
    return new ConditionalPut(store, key, found) {
      @Override
      WriteResult send() {
        return store.write(write);
      }

      @Override
      boolean isApplied(Optional<Item> now) {
        return tag(now).equals(Optional.of(tag));
      }

      @Override
      boolean isOvertaken(Optional<Item> now) {
        return tag(now).equals(tag(found)); // adds keep the tag
      }
    }.run();
  }

  private static Optional<String> tag(Optional<Item> item) {
    return item.flatMap(each -> each.text(TAG));
  }
}
