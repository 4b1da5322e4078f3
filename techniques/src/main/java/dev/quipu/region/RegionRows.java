package dev.quipu.region;

import dev.quipu.Bounds;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.technique.CounterItems;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The rows that one region has written for one counter: its cells, the transfers that it gave and
 * got, and its take-overs of retired regions. {@link RegionalCounters} describes the items.
 *
 * <p>Sums that only grow exceed 64 bits: they have two fields, of which the one with {@code -high}
 * counts units of 2^62.
 */
record RegionRows(String region, SortedMap<String, Item> items) {
  static final String UP = "up";
  static final String DOWN = "down";
  static final String PLAN = "plan";
  static final String CELL = "cell/";
  static final String GAVE = "gave/";
  static final String GOT = "got/";
  static final String TAKEN = "left/";
  static final String REQUEST = "request/";
  static final String FROZEN_UP = "up/";
  static final String FROZEN_DOWN = "down/";
  private static final String HIGH = "-high";
  private static final int LIMB_BITS = 62;
  private static final long LIMB = 1L << LIMB_BITS;

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

    /** Returns all rights that exist when the counter is 0; empty if it has no such bound. */
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

  /** Reads the rows of a region from a replica, its own or another's. */
  static RegionRows read(Store replica, String counter, String region) {
    SortedMap<String, Item> items = new TreeMap<>();
    Scan scan = Scan.range(partition(counter, region), "", REQUEST);
    replica.scanAll(scan, page -> page.forEach(item -> items.put(item.key().sort(), item)));
    return new RegionRows(region, items);
  }

  private List<Item> of(String prefix) {
    return items.entrySet().stream()
        .filter(each -> each.getKey().startsWith(prefix))
        .map(Map.Entry::getValue)
        .toList();
  }

  /** Returns a sum that only grows, of any size. */
  static BigInteger wide(Item item, String field) {
    return BigInteger.valueOf(item.number(field + HIGH))
        .shiftLeft(LIMB_BITS)
        .add(BigInteger.valueOf(item.number(field)));
  }

  /** Returns the changes that set such a sum. */
  static List<Change> put(String field, BigInteger sum) {
    BigInteger high = sum.shiftRight(LIMB_BITS);
    long low = sum.subtract(high.shiftLeft(LIMB_BITS)).longValueExact();
    return List.of(
        new Change.Put(field, new Field.Number(low)),
        new Change.Put(field + HIGH, new Field.Number(high.longValueExact())));
  }

  /**
   * Returns the changes that add to such a sum.
   *
   * @param size at most 2^63, which is negative
   */
  static List<Change> plus(String field, long size) {
    long high = size >>> LIMB_BITS;
    Change low = new Change.Add(field, size & (LIMB - 1));
    return high == 0 ? List.of(low) : List.of(low, new Change.Add(field + HIGH, high));
  }

  /** Returns whether {@link #plus} would overflow without a {@link #carry}. */
  static boolean isFull(Item item, String field, long size) {
    return item.number(field) > Long.MAX_VALUE - (size & (LIMB - 1));
  }

  /**
   * Returns the write that carries from the lower of the two fields into the higher one; the sum is
   * unchanged, and repeats are safe.
   */
  static Write carry(Key key, String field) {
    return new Write.Update(
        key,
        List.of(new Change.Add(field, -LIMB), new Change.Add(field + HIGH, 1)),
        new Condition.Within(field, 0, Long.MAX_VALUE));
  }

  private BigInteger sum(String prefix, String field) {
    return of(prefix).stream()
        .map(item -> wide(item, field))
        .reduce(BigInteger.ZERO, BigInteger::add);
  }

  /** Returns the sum of all positive adds. Never falls. */
  BigInteger up() {
    return sum(CELL, UP);
  }

  /** Returns the sum of all negative adds. Never falls. */
  BigInteger down() {
    return sum(CELL, DOWN);
  }

  /** Returns the sum of all adds. */
  BigInteger net() {
    return up().subtract(down());
  }

  /** Returns the rights that the region can use by itself, in its existing cells. */
  long rights(Right right) {
    BigInteger all = BigInteger.ZERO;
    for (Item cell : of(CELL)) {
      all = all.add(BigInteger.valueOf(cell.number(right.field())));
    }
    return CounterItems.narrow(all);
  }

  /** Returns all rights that it ever gave to another region. Never falls. */
  BigInteger gave(Right right, String to) {
    return number(GAVE + to, right.field());
  }

  /** Returns all rights that it ever gave. */
  BigInteger gave(Right right) {
    return sum(GAVE, right.field());
  }

  /**
   * Returns all rights that it ever got from another region, and added to its cells. Never falls.
   */
  BigInteger got(Right right, String from) {
    return number(GOT + from, right.field());
  }

  /** Returns the rights that it took over from retired regions. */
  BigInteger taken(Right right) {
    return sum(TAKEN, right.field());
  }

  /**
   * The recorded count of a retired region, as far as it was known when the region was retired.
   *
   * @param up sum of its positive adds
   * @param down sum of its negative adds
   */
  record Frozen(BigInteger up, BigInteger down) {
    BigInteger net() {
      return up.subtract(down);
    }

    Frozen newest(Frozen other) {
      return new Frozen(up.max(other.up), down.max(other.down));
    }
  }

  /** Returns the retired regions whose sums are recorded here. */
  SortedMap<String, Frozen> frozen() {
    SortedMap<String, Frozen> frozen = new TreeMap<>();
    for (Item item : of(TAKEN)) {
      for (String field : item.fields().keySet()) {
        if (field.startsWith(FROZEN_UP)) {
          String region = field.substring(FROZEN_UP.length());
          BigInteger up = new BigInteger(item.text(field).orElseThrow());
          BigInteger down = new BigInteger(item.text(FROZEN_DOWN + region).orElseThrow());
          frozen.put(region, new Frozen(up, down));
        }
      }
    }
    return frozen;
  }

  /** Returns the newer of each item: sums never fall. */
  RegionRows newest(RegionRows other) {
    SortedMap<String, Item> newest = new TreeMap<>(items);
    other.items.forEach(
        (sort, item) -> newest.merge(sort, item, (a, b) -> age(a).compareTo(age(b)) >= 0 ? a : b));
    return new RegionRows(region, newest);
  }

  private static BigInteger age(Item item) {
    boolean isCell = item.key().sort().startsWith(CELL);
    return isCell
        ? wide(item, UP).add(wide(item, DOWN))
        : wide(item, Right.LOWER.field()).add(wide(item, Right.RAISE.field()));
  }

  private BigInteger number(String sort, String field) {
    Item item = items.get(sort);
    return item == null ? BigInteger.ZERO : wide(item, field);
  }

  /** Returns the regions with which it had transfers. */
  List<String> others(String prefix) {
    return of(prefix).stream().map(item -> item.key().sort().substring(prefix.length())).toList();
  }

  /** Returns whether its first cell exists, with its share of the bounds. */
  boolean isFounded() {
    return items.containsKey(CELL + 0);
  }

  Optional<Item> item(String sort) {
    return Optional.ofNullable(items.get(sort));
  }

  /** Returns the cells, from the one with the most rights. */
  List<Item> richestFirst(Right right) {
    List<Item> cells = new ArrayList<>(of(CELL));
    cells.sort(Comparator.comparingLong((Item cell) -> cell.number(right.field())).reversed());
    return cells;
  }
}
