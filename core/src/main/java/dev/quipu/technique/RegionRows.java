package dev.quipu.technique;

import dev.quipu.Bounds;
import dev.quipu.RequestId;
import dev.quipu.store.Consistency;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Store;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What one region has written of one counter: its cells, what it gave and got, and whose heir it
 * is. {@link RegionalCounters} tells what each item holds.
 */
record RegionRows(String region, SortedMap<String, Item> items) {
  static final String UP = "up";
  static final String DOWN = "down";
  static final String PLAN = "plan";
  static final String CELL = "cell/";
  static final String GAVE = "gave/";
  static final String GOT = "got/";
  static final String HEIR = "heir/";
  static final String REQUEST = "request/";

  /** A right: to lower the counter, or to raise it. */
  enum Right {
    LOWER("lower"),
    RAISE("raise");

    private final String field;

    Right(String field) {
      this.field = field;
    }

    String field() {
      return field;
    }

    static Right of(long delta) {
      return delta < 0 ? LOWER : RAISE;
    }

    /** All of it that there is when the counter is 0; empty if it has no such bound. */
    Optional<Long> atZero(Bounds bounds) {
      boolean isNone =
          this == LOWER ? bounds.floor() == Long.MIN_VALUE : bounds.ceiling() == Long.MAX_VALUE;
      return isNone
          ? Optional.empty()
          : Optional.of(this == LOWER ? -bounds.floor() : bounds.ceiling());
    }
  }

  private static String partition(String counter, String region) {
    return CounterItems.partition(counter) + "#region-" + region;
  }

  static Key cell(String counter, String region, int number) {
    return key(counter, region, CELL + number);
  }

  static Key request(String counter, String region, RequestId id) {
    return key(counter, region, REQUEST + id.bits());
  }

  static Key key(String counter, String region, String sort) {
    return new Key(partition(counter, region), sort);
  }

  /** The rows of a region as a replica has them, its own or another's. */
  static RegionRows read(Store replica, String counter, String region) {
    SortedMap<String, Item> items = new TreeMap<>();
    Scan scan =
        new Scan(
            partition(counter, region),
            "",
            Optional.of(REQUEST),
            false,
            Scan.ITEMS_MAX,
            Consistency.STRONG);
    replica.scanAll(scan, page -> page.forEach(item -> items.put(item.key().sort(), item)));
    return new RegionRows(region, items);
  }

  private List<Item> of(String prefix) {
    return items.entrySet().stream()
        .filter(each -> each.getKey().startsWith(prefix))
        .map(Map.Entry::getValue)
        .toList();
  }

  private long sum(String prefix, String field) {
    long sum = 0;
    for (Item item : of(prefix)) {
      sum = CounterItems.plus(region, sum, item.number(field));
    }
    return sum;
  }

  /** All that was ever added, of what went up. Never falls. */
  long up() {
    return sum(CELL, UP) + sum(HEIR, UP);
  }

  /** All that was ever added, of what went down. Never falls. */
  long down() {
    return sum(CELL, DOWN) + sum(HEIR, DOWN);
  }

  /** What it may still do by itself, as far as its cells were made. */
  long rights(Right right) {
    return sum(CELL, right.field());
  }

  /** All that it ever gave to another. Never falls. */
  long gave(Right right, String to) {
    return number(GAVE + to, right.field());
  }

  /** All that it ever gave. */
  long gave(Right right) {
    return sum(GAVE, right.field());
  }

  /** All that it ever got from another, and has taken to its cells. Never falls. */
  long got(Right right, String from) {
    return number(GOT + from, right.field());
  }

  /** Rights that it took over from retired regions. */
  long inherited(Right right) {
    return sum(HEIR, right.field());
  }

  /** What its own adds left of rights: each way takes of the one kind, and makes of the other. */
  long usable(Right right) {
    long added = sum(CELL, UP) - sum(CELL, DOWN);
    return right == Right.LOWER ? added : -added;
  }

  /** Of each item the newer one: sums never fall. */
  RegionRows newest(RegionRows other) {
    SortedMap<String, Item> newest = new TreeMap<>(items);
    other.items.forEach((sort, item) -> newest.merge(sort, item, RegionRows::newer));
    return new RegionRows(region, newest);
  }

  private static Item newer(Item one, Item other) {
    return age(one) >= age(other) ? one : other;
  }

  private static long age(Item item) {
    boolean isCell = item.key().sort().startsWith(CELL);
    return isCell
        ? item.number(UP) + item.number(DOWN)
        : item.number(Right.LOWER.field()) + item.number(Right.RAISE.field());
  }

  private long number(String sort, String field) {
    Item item = items.get(sort);
    return item == null ? 0 : item.number(field);
  }

  /** The regions whose counts and rights this one has taken over, or which it dealt with. */
  List<String> others(String prefix) {
    return of(prefix).stream().map(item -> item.key().sort().substring(prefix.length())).toList();
  }

  /** Whether its first cell was made, with its share of the bounds. */
  boolean isFounded() {
    return items.containsKey(CELL + 0);
  }

  Optional<Item> item(String sort) {
    return Optional.ofNullable(items.get(sort));
  }

  /** The cells, from the one with most of a right. */
  List<Item> richestFirst(Right right) {
    List<Item> cells = new ArrayList<>(of(CELL));
    cells.sort(Comparator.comparingLong((Item cell) -> cell.number(right.field())).reversed());
    return cells;
  }
}
