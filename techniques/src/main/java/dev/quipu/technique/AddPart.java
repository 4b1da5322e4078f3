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
 * What one add does to the number of its own counter, and to other items in the same step. A whole
 * add is all on its own number; that of a shard may take some of its amount from others.
 *
 * @param value the item with the own number
 * @param delta what is added to the own number; may be 0, or go the other way
 * @param condition what must hold of the item with the own number
 * @param beside writes to other items; with any, the store must have batches over all of them
 * @param isWhole whether the own number takes it all, within the bounds of the add
 */
public record AddPart(
    Key value, long delta, Condition condition, List<Write> beside, boolean isWhole) {
  /** Copies the list. */
  public AddPart {
    beside = List.copyOf(beside);
  }

  /** A technique that can put an add on several items. */
  public interface Shardable extends Technique {
    /**
     * Adds, once. An add that does not fit is {@link AddResult.Rejected}; only for a whole add does
     * the rejection name the right bound.
     */
    AddResult add(Add add, AddPart part);

    /**
     * Returns whether request ids are kept in items other than that of the number: then those may
     * stay where they are while the number moves.
     */
    default boolean keepsIdsApart() {
      return false;
    }

    @Override
    default AddResult add(Add add) {
      return add(add, whole(add));
    }
  }

  /** All on its own number. */
  static AddPart whole(Add add) {
    return new AddPart(
        CounterItems.valueKey(add.counter()),
        add.delta(),
        CounterItems.within(add),
        List.of(),
        true);
  }

  /** The own number's change. */
  Change.Add change() {
    return new Change.Add(CounterItems.VALUE, delta);
  }

  /** Whether the own number's item takes it. */
  boolean fits(Key key, Optional<Item> found) {
    return new Write.Update(key, List.of(change()), condition).holdsOn(found);
  }

  /** Writes the item with the own number, and those beside, in one step. */
  WriteResult write(Store store, Write own) {
    return beside.isEmpty() ? store.write(own) : store.writeAll(with(List.of(own)), null);
  }

  /** These writes and those beside. */
  List<Write> with(List<Write> own) {
    List<Write> all = new ArrayList<>(own);
    all.addAll(beside);
    return all;
  }

  /** Returns the own number after a write of it alone; empty if there were writes beside. */
  OptionalLong valueAfter(WriteResult.Applied applied) {
    return beside.isEmpty() ? CounterItems.valueAfter(applied) : OptionalLong.empty();
  }

  /** The answer to an add that did not fit. */
  AddResult.Rejected rejected(Add add, Optional<Item> found) {
    return isWhole
        ? CounterItems.rejected(add, found)
        : new AddResult.Rejected(
            add.delta() < 0 ? Rejection.FLOOR : Rejection.CEILING,
            found.map(item -> item.number(CounterItems.VALUE)).orElse(0L));
  }
}
