package dev.quipu.technique;

import dev.quipu.layer.Store;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Capability;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;

/**
 * The directory of the names of counters: an empty item {@code counters/N}, {@code NAME} for each,
 * where N is a digest of the name, so that new names do not meet the write limit of one partition.
 * An instance lists names once, from a first one on, by merging the partitions. Not thread-safe.
 */
final class CounterNames {
  /** Number of partitions. Fixed, since it determines where a name is found. */
  static final int PARTITIONS = 8;

  private static final int DIGEST_BITS = Integer.numberOfTrailingZeros(PARTITIONS);

  /** The partitions that have names left, that with the next name first; none of them is empty. */
  private final PriorityQueue<Cursor> cursors =
      new PriorityQueue<>(Comparator.comparing(cursor -> cursor.names.getFirst(), Key.ORDER));

  private final Store store;

  /**
   * Begins a listing.
   *
   * @param from the first name, inclusive
   * @param expected number of names that the caller expects to need, at least 1
   */
  CounterNames(Store store, String from, int expected) {
    this.store = store;
    // An even share; with a quarter more, a second scan of a partition is rare.
    int share = expected / PARTITIONS;
    int ofPage = Math.min(Math.min(expected, Scan.ITEMS_MAX), share + share / 4 + 4);
    for (int i = 0; i < PARTITIONS; i++) {
      advance(new Cursor(Scan.all(partition(i)).resumedAt(from).withPages(ofPage)));
    }
  }

  /** Returns where a name is stored. */
  static Key key(String name) {
    int mixed = name.hashCode() * 0x9E3779B9; // its highest bits depend on all bits of the hash
    return new Key(partition(mixed >>> (Integer.SIZE - DIGEST_BITS)), name);
  }

  private static String partition(int number) {
    return "counters/" + number;
  }

  /** Returns whether a store has names in a range; false if unknown, on a store without scans. */
  static boolean areIn(Store store, String from, Optional<String> until) {
    boolean isOrdered = store.profile().has(Capability.ORDERED_SCAN);
    if (!isOrdered && !store.profile().has(Capability.EVENTUAL_SCAN)) {
      return false;
    }
    Consistency consistency = isOrdered ? Consistency.STRONG : Consistency.EVENTUAL;
    for (int i = 0; i < PARTITIONS; i++) {
      Scan first = new Scan(partition(i), from, until, false, 1, consistency);
      if (!store.scan(first).items().isEmpty()) {
        return true;
      }
    }
    return false;
  }

  /** Returns the next names that begin with a prefix, in order; none at the end of these. */
  List<String> next(String prefix, int namesMax) {
    List<String> found = new ArrayList<>();
    while (found.size() < namesMax
        && !cursors.isEmpty()
        && cursors.element().names.getFirst().startsWith(prefix)) {
      Cursor first = cursors.remove();
      found.add(first.names.removeFirst());
      advance(first);
    }
    return found;
  }

  /** Scans on until the cursor has a name; drops it if there is none. */
  private void advance(Cursor cursor) {
    while (cursor.names.isEmpty() && cursor.rest.isPresent()) {
      Scan scan = cursor.rest.get();
      Page page = store.scan(scan);
      page.items().forEach(item -> cursor.names.add(item.key().sort()));
      cursor.rest = page.resumeAt().map(scan::resumedAt);
    }
    if (!cursor.names.isEmpty()) {
      cursors.add(cursor);
    }
  }

  /** The names of one partition that were scanned but not returned, and the rest of its scan. */
  private static final class Cursor {
    private final Deque<String> names = new ArrayDeque<>();
    private Optional<Scan> rest;

    private Cursor(Scan scan) {
      this.rest = Optional.of(scan);
    }
  }
}
