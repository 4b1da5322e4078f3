package dev.quipu.technique;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Rejection;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The writes of one add: to the number of its counter, and to other items in the same step. A whole
 * add changes only its own number; an add to a shard may take a part of its amount from other
 * shards.
 *
 * @param value the key of the item with the number
 * @param delta the amount added to the number; may be 0, or have the opposite sign
 * @param condition the condition on the item with the number
 * @param beside writes to other items; unless empty, the store must support batches over all of
 *     them
 * @param isWhole whether the whole amount is added to the number, within the bounds of the add
 */
public record AddPart(
    Key value, long delta, Condition condition, List<Write> beside, boolean isWhole) {
  /** Copies the list. */
  public AddPart {
    beside = List.copyOf(beside);
  }

  /** A technique that can divide an add over several items. */
  public interface Shardable extends Technique {
    /**
     * Adds exactly once. An add that does not fit is {@link AddResult.Rejected}; only for a whole
     * add does the rejection name the right bound.
     */
    AddResult add(Add add, AddPart part);

    /**
     * Returns whether request ids are stored in items other than that of the number, so that they
     * stay in place when the number is moved.
     */
    default boolean keepsIdsApart() {
      return false;
    }

    @Override
    default AddResult add(Add add) {
      return add(add, whole(add));
    }
  }

  /** Returns the part that adds the whole amount to the number. */
  static AddPart whole(Add add) {
    return new AddPart(
        CounterItems.valueKey(add.counter()),
        add.delta(),
        CounterItems.within(add),
        List.of(),
        true);
  }

  /** Returns the change of the number. */
  Change.Add change() {
    return new Change.Add(CounterItems.VALUE, delta);
  }

  /** Returns whether the condition holds on the item with the number. */
  boolean fits(Key key, Optional<Item> found) {
    return new Write.Update(key, List.of(change()), condition).holdsOn(found);
  }

  /** Writes the item with the number, and the other items, atomically. */
  WriteResult write(Store store, Write own) {
    return beside.isEmpty() ? store.write(own) : store.writeAll(with(List.of(own)), null);
  }

  /** Returns these writes, followed by those to other items. */
  List<Write> with(List<Write> own) {
    List<Write> all = new ArrayList<>(own);
    all.addAll(beside);
    return all;
  }

  /** Returns the number after the write; empty if other items were written too. */
  OptionalLong valueAfter(WriteResult.Applied applied) {
    return beside.isEmpty() ? CounterItems.valueAfter(applied) : OptionalLong.empty();
  }

  /** Returns the rejection of an add that did not fit. */
  AddResult.Rejected rejected(Add add, Optional<Item> found) {
    return isWhole
        ? CounterItems.rejected(add, found)
        : new AddResult.Rejected(
            add.delta() < 0 ? Rejection.FLOOR : Rejection.CEILING,
            found.map(item -> item.number(CounterItems.VALUE)).orElse(0L));
  }
}
