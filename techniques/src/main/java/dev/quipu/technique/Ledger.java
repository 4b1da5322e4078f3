package dev.quipu.technique;

import dev.quipu.store.Item;
import dev.quipu.technique.ItemCollection.LedgerEntry;
import dev.quipu.technique.ItemCollection.LedgerPage;
import dev.quipu.technique.ItemCollection.Place;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** Selects a page of changes ordered by time, from all changes in any order. */
final class Ledger {
  static final Comparator<LedgerEntry> BY_TIME =
      Comparator.comparing(LedgerEntry::at).thenComparing(LedgerEntry::id);

  private final Optional<LedgerEntry> after;
  private final int limit;
  private final TreeSet<LedgerEntry> first = new TreeSet<>(BY_TIME);

  Ledger(Optional<Place> after, int limit) {
    this.after =
        after.map(place -> new LedgerEntry(place.id(), 0, place.at(), Optional.empty(), 0));
    this.limit = limit;
  }

  static LedgerEntry entry(Item change) {
    return new LedgerEntry(
        change.key().sort().substring(ItemCollection.CHANGE.length()),
        change.number(Markers.ADDED),
        Instant.ofEpochMilli(change.number(ItemCollection.AT)),
        Markers.reason(change),
        0);
  }

  void add(Item change) {
    LedgerEntry entry = entry(change);
    boolean follows = after.isEmpty() || BY_TIME.compare(entry, after.get()) > 0;
    if (follows && !ItemCollection.isCancellation(change)) {
      first.add(entry);
      if (first.size() > limit + 1) {
        first.pollLast();
      }
    }
  }

  LedgerPage page() {
    boolean hasMore = first.size() > limit;
    return new LedgerPage(List.copyOf(first).subList(0, Math.min(limit, first.size())), hasMore);
  }
}
