package dev.quipu.region;

import dev.quipu.layer.Store;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.technique.CounterItems;
import dev.quipu.technique.ItemCollection;
import java.math.BigInteger;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The rows of a counter in one replica, where any region may write changes.
 *
 * @param sums the sum of merged changes of each region, by region
 * @param changes the stored changes, merged or not, by sort key
 * @param base the value of the counter before it was counted in regions
 */
record CollectionRows(SortedMap<String, Item> sums, SortedMap<String, Item> changes, long base) {
  private static final String MERGED = "merged/";
  private static final String MERGED_END = "merged0"; // the first text after all of them
  static final String FOLDED = "folded";
  static final String STEP = "step";
  static final String FENCE = "fence";

  /** Reads the rows of a counter; empty if a merge intervened between the reads. */
  static Optional<CollectionRows> read(Store replica, ItemCollection collection, String counter) {
    SortedMap<String, Item> sums = sums(replica, counter);
    SortedMap<String, Item> changes = new TreeMap<>();
    for (Item change : collection.changes(counter)) {
      changes.put(change.key().sort(), change);
    }
    long base =
        replica
            .get(ItemCollection.baseKey(counter))
            .map(item -> item.number(CounterItems.VALUE))
            .orElse(0L);
    return sums.equals(sums(replica, counter))
        ? Optional.of(new CollectionRows(sums, changes, base))
        : Optional.empty();
  }

  private static SortedMap<String, Item> sums(Store replica, String counter) {
    SortedMap<String, Item> sums = new TreeMap<>();
    replica.scanAll(
        Scan.range(CounterItems.partition(counter), MERGED, MERGED_END),
        page -> page.forEach(item -> sums.put(item.key().sort().substring(MERGED.length()), item)));
    return sums;
  }

  static Key sumKey(String counter, String region) {
    return new Key(CounterItems.partition(counter), MERGED + region);
  }

  Set<String> folded() {
    Set<String> folded = new HashSet<>();
    sums.values().forEach(sum -> folded.addAll(sum.tokens(FOLDED)));
    return folded;
  }

  /** Returns a field of a region's sum; 0 if there is none. */
  long number(String region, String field) {
    Item sum = sums.get(region);
    return sum == null ? 0 : sum.number(field);
  }

  Set<String> folded(String region) {
    Item sum = sums.get(region);
    return sum == null ? Set.of() : sum.tokens(FOLDED);
  }

  /** Returns the changes that count in addition to the sums. */
  SortedMap<String, Item> open() {
    SortedMap<String, Item> open = new TreeMap<>(changes);
    open.keySet().removeAll(folded());
    return open;
  }

  BigInteger value() {
    BigInteger value = ItemCollection.sum(open().values()).add(BigInteger.valueOf(base));
    for (Item sum : sums.values()) {
      value = value.add(BigInteger.valueOf(sum.number(CounterItems.VALUE)));
    }
    return value;
  }

  /** Returns the union of both, with the newer of each sum. */
  CollectionRows with(CollectionRows other) {
    SortedMap<String, Item> newest = new TreeMap<>(sums);
    other.sums.forEach((region, sum) ->
        newest.merge(region, sum, (a, b) -> a.number(STEP) >= b.number(STEP) ? a : b));
    SortedMap<String, Item> all = new TreeMap<>(other.changes);
    all.putAll(changes);
    return new CollectionRows(newest, all, Math.max(base, other.base));
  }

  boolean hasAny(Set<String> some) {
    return changes.keySet().stream().anyMatch(some::contains);
  }

  boolean isEmpty() {
    return changes.isEmpty()
        && base == 0
        && sums.values().stream().allMatch(sum -> sum.number(STEP) == 0);
  }
}
