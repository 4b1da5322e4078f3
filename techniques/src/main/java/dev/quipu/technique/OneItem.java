package dev.quipu.technique;

import dev.quipu.CounterPage;
import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.OutcomeUnknownException;
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
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * A technique that keeps the number of a counter in one item: reads, lists, sets and deletes it.
 *
 * <p>Each set or delete replaces the item that was read, and leaves a tag of its own in it: after a
 * lost reply the tag shows whether it was applied. If another set or delete followed, the outcome
 * is unknown: a repeat could be applied a second time, and remove adds that followed. All other
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
    return replace("set of ", counter, OptionalLong.of(value), ifValue);
  }

  @Override
  public void delete(String counter) {
    replace("deletion of ", counter, OptionalLong.empty(), OptionalLong.empty());
  }

  private SetResult replace(String what, String counter, OptionalLong next, OptionalLong ifValue) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    Replacement replacement = new Replacement(counter, next, ifValue);
    SetResult result =
        IdempotentRetry.result(
            store, what + counter, () -> untilStored(counter, replacement::round));
    if (replacement.isOvertaken) {
      throw new OutcomeUnknownException(
          Reason.UNAVAILABLE,
          "no definite answer for %s%s: a reply was lost, and another set or deletion followed"
              .formatted(what, counter),
          null);
    }
    return result;
  }

  /** One set or delete with all its attempts, which leave the same tag: it is applied once. */
  private final class Replacement {
    private final String counter;
    private final Key key;
    private final OptionalLong next;
    private final OptionalLong ifValue;
    private final String tag = Long.toHexString(random.nextLong());

    /** The tags of the items that attempts without a known outcome were to replace. */
    private final Set<Optional<String>> before = new HashSet<>();

    /** Whether another set or delete has replaced the item, so that the tag shows nothing. */
    private boolean isOvertaken;

    private Replacement(String counter, OptionalLong next, OptionalLong ifValue) {
      this.counter = counter;
      this.key = CounterItems.valueKey(counter);
      this.next = next;
      this.ifValue = ifValue;
    }

    private Optional<SetResult> round() {
      Optional<Item> found = store.get(key);
      boolean isApplied = tag(found).equals(Optional.of(tag)); // by an earlier attempt
      isOvertaken = !isApplied && !before.isEmpty() && !before.equals(Set.of(tag(found)));
      if (isApplied || isOvertaken) {
        return Optional.of(new SetResult.Done(next.orElse(0)));
      }
      OptionalLong value = CounterItems.number(found);
      if (ifValue.isPresent() && value.orElse(0) != ifValue.getAsLong()) {
        return Optional.of(new SetResult.Mismatch(value));
      }
      if (next.isEmpty() && value.isEmpty()) {
        return Optional.of(new SetResult.Done(0)); // already deleted
      }
      long holds = found.map(item -> item.number(CounterItems.HOLDS)).orElse(0L);
      if (next.isEmpty() && holds > 0) {
        throw new NotAppliedException(
            Reason.HELD,
            "counter %s has %d open holds; settle or release them, then delete it"
                .formatted(counter, holds));
      }
      if (next.isPresent()) {
        items.enlist(counter);
      }
      try {
        return put(key, found, next, tag) == ConditionalPut.Result.STORED
            ? Optional.of(new SetResult.Done(next.orElse(0)))
            : Optional.empty();
      } catch (OutcomeUnknownException e) {
        before.add(tag(found));
        throw e;
      }
    }
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

  private ConditionalPut.Result put(Key key, Optional<Item> found, OptionalLong next, String tag) {
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
