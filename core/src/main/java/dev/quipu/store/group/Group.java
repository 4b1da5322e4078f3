package dev.quipu.store.group;

import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Adds to one number, executed in this order. Their markers have different keys.
 *
 * @param key of the number
 */
public record Group(Key key, List<Member> members) {
  private static final Version NEVER_STORED = new Version("-"); // an intermediate state of a group

  /** Copies the list. */
  public Group {
    members = List.copyOf(members);
  }

  /** Returns the markers in order of key. */
  public List<Write.Put> markers() {
    return members.stream()
        .flatMap(each -> each.marker().stream())
        .sorted(Comparator.comparing(Write::key))
        .toList();
  }

  /** Returns the keys of the markers that are not in this set. */
  public List<Key> markersOutside(Set<Key> stored) {
    return members.stream()
        .flatMap(each -> each.markerKey().stream())
        .filter(each -> !stored.contains(each))
        .toList();
  }

  /** Returns the sum of all members; empty if they cannot be expressed as one add. */
  public Optional<Sum> sum() {
    return sum(members);
  }

  /**
   * Returns the sum of the members that have no marker or one in this set; empty if there are none,
   * or they cannot be expressed as one add.
   */
  public Optional<Sum> sum(Set<Key> stored) {
    return sum(members.stream().filter(each -> each.isIn(stored)).toList());
  }

  private static Optional<Sum> sum(List<Member> members) {
    Optional<Sum> sum = Optional.empty();
    for (Member each : members) {
      sum = sum.isEmpty() ? Optional.of(each.sum()) : sum.get().then(each.sum());
      if (sum.isEmpty()) {
        return sum; // a subset may overflow 64 bits, though all of them do not
      }
    }
    return sum;
  }

  /**
   * Returns the results of a transaction that stored new markers, and added the sum of the members
   * that have no marker or a new one.
   *
   * @param stored the markers that did not exist
   * @param after the item after the add; if empty, nothing was stored
   * @param existing the markers that existed, as far as they were found
   * @return for each member its result; empty if it must be executed separately
   */
  public List<Optional<WriteResult>> results(
      Set<Key> stored, Optional<Item> after, Map<Key, Item> existing) {
    List<Optional<WriteResult>> results = new ArrayList<>(members.size());
    long value =
        after.isEmpty()
            ? 0
            : after.get().number(Item.VALUE) - sum(stored).map(Sum::delta).orElse(0L);
    for (Member each : members) {
      if (!each.isIn(stored)) {
        results.add(each.markerKey().map(existing::get).map(Group::exists));
      } else if (after.isEmpty()) {
        results.add(Optional.empty());
      } else {
        value += each.sum().delta();
        results.add(Optional.of(new WriteResult.Applied(Optional.of(at(after.get(), value)))));
      }
    }
    return results;
  }

  /** Returns the result of a member whose marker exists. */
  private static WriteResult exists(Item marker) {
    return new WriteResult.ConditionFailed(marker.key(), Optional.of(marker));
  }

  /** Returns the item with an intermediate value of the group. */
  public static Item at(Item last, long value) {
    if (last.number(Item.VALUE) == value) {
      return last;
    }
    Map<String, Field> fields = new HashMap<>(last.fields());
    fields.put(Item.VALUE, new Field.Number(value));
    return new Item(last.key(), fields, NEVER_STORED, last.expiresAt());
  }
}
