package dev.quipu.hits;

import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.technique.CounterItems;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The hits of {@link HitLog}, ordered by time.
 *
 * <p>Stored: a hit of 1 in {@code hits/NAME}, without fields, so that the store can count it;
 * another amount in {@code amounts/NAME}, in the field {@code value}. A hit of 1 that was edited is
 * in both: its amount has {@code rest} 1, and the difference to 1. The sort of both is {@code
 * MILLIS/ID}.
 */
final class Hits {
  private static final String ONES = "hits/";
  private static final String AMOUNTS = "amounts/";
  private static final String REST = "rest";
  private static final String TIME = "%015d";

  private final Store store;

  /**
   * The sum of some hits.
   *
   * @param hits number of items
   * @param low the sum of the negative amounts
   * @param high the sum of the positive amounts
   */
  record Sum(long hits, long low, long high) {
    static final Sum NONE = new Sum(0, 0, 0);

    Sum plus(String counter, long items, long amount) {
      return new Sum(
          hits + items,
          CounterItems.plus(counter, low, Math.min(0, amount)),
          CounterItems.plus(counter, high, Math.max(0, amount)));
    }

    long total(String counter) {
      return CounterItems.plus(counter, low, high);
    }
  }

  /** One item of a hit, and its amount. */
  record Part(Key key, long amount) {}

  Hits(Store store) {
    this.store = store;
  }

  /** Returns the time of the store's clock, in milliseconds. */
  static long now(Store store) {
    return Math.max(0, store.clock().epochMillis());
  }

  static String sort(long millis, String id) {
    return TIME.formatted(millis) + "/" + id;
  }

  static Key one(String counter, String sort) {
    return new Key(ONES + counter, sort);
  }

  static Key amount(String counter, String sort) {
    return new Key(AMOUNTS + counter, sort);
  }

  /**
   * Returns the write of a hit, which is the same for each repeat. It has no effect if the hit is
   * stored, so that a delayed one does not undo an edit.
   */
  static Write put(String counter, String sort, long amount) {
    return amount == 1
        ? new Write.Put(one(counter, sort), Map.of(), ifNew())
        : putAmount(counter, sort, amount, ifNew());
  }

  private static Condition ifNew() {
    return new Condition.Absent();
  }

  static Write putAmount(String counter, String sort, long amount, Condition condition) {
    Map<String, Field> fields = Map.of(Item.VALUE, new Field.Number(amount));
    return new Write.Put(amount(counter, sort), fields, condition);
  }

  /**
   * Returns the write of a new amount: of the hit, or, if it is stored as a hit of 1, of the rest.
   */
  static Write edited(
      String counter, String sort, long amount, boolean isOne, Condition condition) {
    if (!isOne) {
      return putAmount(counter, sort, amount, condition);
    }
    Map<String, Field> fields =
        Map.of(Item.VALUE, new Field.Number(amount - 1), REST, new Field.Number(1));
    return new Write.Put(amount(counter, sort), fields, condition);
  }

  /** Returns whether an amount is what was added to a hit of 1, a separate item. */
  static boolean isRest(Item amount) {
    return amount.number(REST) == 1;
  }

  /**
   * Returns the sum of all hits of {@code (after, until]}, in milliseconds; from the first if
   * {@code after} is -1. Amounts are read first: a hit of 1 that is edited concurrently must not be
   * missed in both reads.
   */
  Sum sum(String counter, long after, long until, Consistency consistency) {
    List<Sum> sums = new ArrayList<>(List.of(Sum.NONE));
    amounts(
        counter,
        after,
        until,
        consistency,
        each -> sums.set(0, sums.getFirst().plus(counter, 1, each.number(Item.VALUE))));
    long ones = store.count(range(ONES + counter, after, until, consistency));
    return sums.getFirst().plus(counter, ones, ones);
  }

  private void amounts(
      String counter, long after, long until, Consistency consistency, Consumer<Item> each) {
    store.scanAll(range(AMOUNTS + counter, after, until, consistency), page -> page.forEach(each));
  }

  private static Scan range(String partition, long after, long until, Consistency consistency) {
    String from = after < 0 ? "" : TIME.formatted(after + 1);
    Optional<String> end =
        until == Long.MAX_VALUE ? Optional.empty() : Optional.of(TIME.formatted(until + 1));
    return new Scan(partition, from, end, false, Scan.ITEMS_MAX, consistency);
  }

  /** Returns the items of the oldest hits until a moment, at most {@code most} of each kind. */
  List<Part> oldest(String counter, long until, int most) {
    List<Part> parts = new ArrayList<>();
    for (String kind : List.of(ONES, AMOUNTS)) {
      Scan some = range(kind + counter, -1, until, Consistency.STRONG).withPages(most);
      for (Item item : store.scan(some).items()) {
        parts.add(new Part(item.key(), kind.equals(ONES) ? 1 : item.number(Item.VALUE)));
      }
    }
    return parts;
  }

  /** Returns the items of all hits of {@code (after, until]}. */
  List<Part> all(String counter, long after, long until) {
    List<Part> parts = new ArrayList<>();
    store.scanAll(
        range(ONES + counter, after, until, Consistency.STRONG),
        page -> page.forEach(item -> parts.add(new Part(item.key(), 1))));
    amounts(
        counter,
        after,
        until,
        Consistency.STRONG,
        item -> parts.add(new Part(item.key(), item.number(Item.VALUE))));
    return parts;
  }

  /** Returns the hits of some items, ordered by time, without those that were edited to 0. */
  static List<HitLog.Hit> merged(List<Part> parts) {
    TreeMap<String, Long> amounts = new TreeMap<>(Key.ORDER);
    parts.forEach(part -> amounts.merge(part.key().sort(), part.amount(), Long::sum));
    List<HitLog.Hit> found = new ArrayList<>();
    amounts.forEach((sort, amount) -> {
      int slash = sort.indexOf('/');
      Instant at = Instant.ofEpochMilli(Long.parseLong(sort.substring(0, slash)));
      if (amount != 0) {
        found.add(new HitLog.Hit(at, sort.substring(slash + 1), amount));
      }
    });
    return found;
  }

  /**
   * Returns a page of hits.
   *
   * @param from the sort at which it begins; empty for the first
   * @param limit maximum number of hits
   */
  HitLog.HitPage page(String counter, String from, int limit) {
    List<Part> parts = new ArrayList<>();
    Optional<String> border = Optional.empty(); // before it, both kinds have been read
    for (String kind : List.of(AMOUNTS, ONES)) {
      Scan scan = Scan.all(kind + counter).withPages(limit);
      Scan.Page page = store.scan(from.isEmpty() ? scan : scan.resumedAt(from));
      for (Item item : page.items()) {
        parts.add(new Part(item.key(), kind.equals(ONES) ? 1 : item.number(Item.VALUE)));
      }
      Optional<String> next = page.resumeAt();
      border = Stream.concat(border.stream(), next.stream()).min(Key.ORDER);
    }
    List<HitLog.Hit> found = merged(border.map(end -> before(parts, end)).orElse(parts));
    if (found.size() <= limit) {
      return new HitLog.HitPage(found, border);
    }
    HitLog.Hit next = found.get(limit);
    return new HitLog.HitPage(
        List.copyOf(found.subList(0, limit)),
        Optional.of(sort(next.at().toEpochMilli(), next.id())));
  }

  private static List<Part> before(List<Part> parts, String border) {
    return parts.stream().filter(part -> Key.ORDER.compare(part.key().sort(), border) < 0).toList();
  }
}
