package dev.quipu.testkit.store;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.quipu.layer.Store;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** An open, empty store, and helpers for the contract's tests. */
interface StoreFixture {
  /** The field that most tests write. */
  String N = Item.VALUE;

  /** Returns the store under test, as techniques use it. */
  Store store();

  /** Returns the driver under test. */
  StoreDriver driver();

  /** Returns the clock by which items expire. */
  ManualClock clock();

  default Optional<Item> get(Key key) {
    return store().get(key, Consistency.STRONG);
  }

  /** Returns the item under {@code sort}, which must exist. */
  default Item item(String sort) {
    return get(key(sort)).orElseThrow();
  }

  default WriteResult put(String sort, long value, Condition condition) {
    return store().write(number(key(sort), value).when(condition));
  }

  default WriteResult put(String sort, Map<String, Field> fields, Condition condition) {
    return store().write(new Write.Put(key(sort), fields, Optional.empty(), condition));
  }

  default WriteResult add(String sort, long delta, Condition condition) {
    return update(sort, List.of(new Change.Add(N, delta)), condition);
  }

  default WriteResult update(String sort, List<Change> changes, Condition condition) {
    return store().write(new Write.Update(key(sort), changes, condition));
  }

  default WriteResult delete(String sort, Condition condition) {
    return store().write(new Write.Delete(key(sort), condition));
  }

  /** Returns a write of an item that expires a minute from now. */
  default Write expiring(String sort, long value) {
    Instant soon = Instant.ofEpochMilli(clock().epochMillis()).plusSeconds(60);
    return new Write.Put(
        key(sort), Map.of(N, number(value)), Optional.of(soon), Condition.always());
  }

  static Write number(Key key, long value) {
    return new Write.Put(key, Map.of(N, number(value)), Optional.empty(), Condition.always());
  }

  static Field number(long value) {
    return new Field.Number(value);
  }

  static Key key(String sort) {
    return new Key("p", sort);
  }

  static WriteResult.Applied applied(WriteResult result) {
    return assertInstanceOf(WriteResult.Applied.class, result);
  }

  static WriteResult.ConditionFailed unmet(WriteResult result) {
    return assertInstanceOf(WriteResult.ConditionFailed.class, result);
  }
}
