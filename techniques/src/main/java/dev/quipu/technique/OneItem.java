package dev.quipu.technique;

import dev.quipu.CounterPage;
import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.SetResult;
import dev.quipu.layer.Backoff;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * A technique that keeps the number of a counter in one item: reads, lists, sets and deletes it.
 *
 * <p>Each set or delete replaces the item that was read, and leaves a tag of its own in it: after a
 * lost reply the tag shows whether it was applied, unless another set or delete followed. All other
 * fields stay. A deleted counter keeps its item without the number, so that a delayed write cannot
 * bring it back.
 */
abstract class OneItem implements Technique {
  private static final String TAG = "set";
  private static final int ROUNDS_MAX = 200;

  final Store store;
  final CounterItems items;
  final RandomGenerator random;

  /** Throws if the technique does not work on {@code store}. */
  OneItem(TechniqueSpec spec, Store store, RandomGenerator random) {
    spec.requireWorksOn(store.profile());
    this.store = store;
    this.items = new CounterItems(store);
    this.random = random;
  }

  @Override
  public Optional<Reading> read(String counter) {
    return items.read(counter);
  }

  @Override
  public CounterPage list(String prefix, String after, int limit) {
    return items.list(prefix, after, limit);
  }

  @Override
  public SetResult set(String counter, long value, OptionalLong ifValue) {
    OptionalLong next = OptionalLong.of(value);
    return ifValue.isPresent()
        ? replace(counter, next, ifValue)
        : IdempotentRetry.result(
            store, "set of " + counter, () -> replace(counter, next, OptionalLong.empty()));
  }

  @Override
  public void delete(String counter) {
    IdempotentRetry.result(
        store,
        "deletion of " + counter,
        () -> replace(counter, OptionalLong.empty(), OptionalLong.empty()));
  }

  private SetResult replace(String counter, OptionalLong next, OptionalLong ifValue) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    Key key = CounterItems.valueKey(counter);
    return untilStored(
        counter,
        () -> {
          Optional<Item> found = store.get(key);
          OptionalLong value = CounterItems.number(found);
          if (ifValue.isPresent() && value.orElse(0) != ifValue.getAsLong()) {
            return Optional.of(new SetResult.Mismatch(value));
          }
          if (next.isEmpty() && value.isEmpty()) {
            return Optional.of(new SetResult.Done(0)); // already deleted
          }
          if (next.isPresent()) {
            items.enlist(counter);
          }
          return put(key, found, next) == ConditionalPut.Result.STORED
              ? Optional.of(new SetResult.Done(next.orElse(0)))
              : Optional.empty();
        });
  }

  /** Makes rounds until one has a result, with a pause after each that another writer overtook. */
  final <T> T untilStored(String counter, Supplier<Optional<T>> round) {
    for (int done = 0; done < ROUNDS_MAX; done++) {
      Optional<T> result = round.get();
      if (result.isPresent()) {
        return result.get();
      }
      Backoff.pause(store.clock(), random, done);
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
