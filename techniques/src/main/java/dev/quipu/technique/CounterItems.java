package dev.quipu.technique;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.CounterPage;
import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.Rejection;
import dev.quipu.Uncertainty;
import dev.quipu.cache.LruMap;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Stores and lists counters for techniques that keep one number per counter.
 *
 * <p>Stored: the number in {@code counter/NAME}, {@code value}; and, written before the counter's
 * first add, an empty item in {@link CounterNames the directory of names}. Stores without scans
 * have no such item, and no listing.
 */
public final class CounterItems {
  public static final String VALUE = Item.VALUE;

  /** Field with the signed sum of the open holds on the counter. */
  public static final String HELD = "held";

  /** Field with the number of open holds on the counter. */
  public static final String HOLDS = "holds";

  /** Prefix of the names of the counters that verifications of a technique leave. */
  public static final String VERIFICATION = "quipu-verify/";

  private static final String VERIFICATION_END = "quipu-verify0"; // the first text after all
  private static final int LISTED_MAX = 100_000;

  private final Store store;
  private final LruMap<String, Boolean> listed = new LruMap<>(LISTED_MAX);

  public CounterItems(Store store) {
    this.store = store;
  }

  public static Key valueKey(String counter) {
    return new Key(partition(counter), VALUE);
  }

  public static String partition(String counter) {
    return "counter/" + counter;
  }

  /** Ensures that a listing finds the counter. */
  public void enlist(String counter) {
    if (!store.profile().has(Capability.ORDERED_SCAN) || listed.get(counter) != null) {
      return;
    }
    Write entry = new Write.Put(CounterNames.key(counter), Map.of(), new Condition.Absent());
    IdempotentRetry.prepared(store, counter, "its name", () -> store.write(entry));
    listed.put(counter, true); // an evicted name is written again, without effect
  }

  /** Enlists a counter again, on a store that has lost its data. */
  public void enlistAgain(String counter) {
    listed.remove(counter);
    enlist(counter);
  }

  /**
   * Returns the sum of two parts of a counter.
   *
   * @throws QuipuException if it exceeds 64 bits
   */
  public static long plus(String counter, long sum, long part) {
    try {
      return Math.addExact(sum, part);
    } catch (ArithmeticException e) {
      throw new NotAppliedException(
          Reason.INVALID,
          "the sum of counter %s has more than 64 bits; add the opposite, or edit a part of it"
              .formatted(counter),
          e);
    }
  }

  /** Returns the nearest 64-bit number. */
  public static long narrow(BigInteger sum) {
    return sum.bitLength() < Long.SIZE
        ? sum.longValue()
        : sum.signum() < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
  }

  /** Returns an exact reading of a sum or, beyond 64 bits, one of the nearest 64-bit number. */
  public static Reading reading(BigInteger sum) {
    long nearest = narrow(sum);
    return sum.bitLength() < Long.SIZE
        ? Reading.exact(nearest)
        : new Reading(
            nearest,
            nearest,
            nearest,
            List.of(new Uncertainty(Uncertainty.Cause.OVERFLOW, "", Long.MAX_VALUE)));
  }

  /** Returns the condition on the number after {@code add}. */
  public static Condition within(Add add) {
    Bounds bounds = add.bounds();
    if (bounds.isNone()) {
      return new Condition.Always();
    }
    return new Condition.Within(
        VALUE,
        bounds.isFloorCheckedBy(add.delta()) ? bounds.floor() : Long.MIN_VALUE,
        bounds.isCeilingCheckedBy(add.delta()) ? bounds.ceiling() : Long.MAX_VALUE);
  }

  /** Returns why {@code add} could not be applied to the item that was found. */
  public static AddResult.Rejected rejected(Add add, Optional<Item> found) {
    long value = found.map(item -> item.number(VALUE)).orElse(0L);
    Rejection why = Rejection.of(value, add.delta(), add.bounds());
    if (why == null) {
      throw new IllegalStateException(
          "the store rejected %s at %d, although the result is within bounds"
              .formatted(add, value));
    }
    return new AddResult.Rejected(why, value);
  }

  /**
   * Returns the number after a write, or after a batch whose last write it is; empty if unknown.
   */
  public static OptionalLong valueAfter(WriteResult.Applied applied) {
    return applied
        .after()
        .map(item -> OptionalLong.of(item.number(VALUE)))
        .orElse(OptionalLong.empty());
  }

  /** Returns the number in an item; empty if nothing was ever added, or the counter was deleted. */
  static OptionalLong number(Optional<Item> item) {
    return item.isPresent() && item.get().fields().containsKey(VALUE)
        ? OptionalLong.of(item.get().number(VALUE))
        : OptionalLong.empty();
  }

  public Optional<Reading> read(String counter) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    OptionalLong number = number(store.get(valueKey(counter)));
    return number.isPresent() ? Optional.of(Reading.exact(number.getAsLong())) : Optional.empty();
  }

  /** Returns a page of counters that have one number each, which are read in batches. */
  public CounterPage list(String prefix, String after, int limit) {
    return listAll(prefix, after, limit, this::readAll);
  }

  /** Returns a page of counters, each read by {@code reader}. */
  public CounterPage list(
      String prefix, String after, int limit, Function<String, Optional<Reading>> reader) {
    return listAll(prefix, after, limit, names -> names.stream().map(reader).toList());
  }

  private List<Optional<Reading>> readAll(List<String> counters) {
    return store.getEach(counters.stream().map(CounterItems::valueKey).toList()).stream()
        .map(item -> number(item).stream().mapToObj(Reading::exact).findFirst())
        .toList();
  }

  private CounterPage listAll(
      String prefix,
      String after,
      int limit,
      Function<List<String>, List<Optional<Reading>>> reader) {
    Limits.checkPage(limit, Limits.PAGE_COUNTERS_MAX);
    // The first text after `after`: the space is the lowest character of a name.
    String from = Key.ORDER.compare(after, prefix) < 0 ? prefix : after + " ";
    CounterNames names = new CounterNames(store, from, limit + 1);
    List<CounterPage.Entry> found = new ArrayList<>();
    while (true) {
      List<String> next = names.next(prefix, limit + 1 - found.size()); // one shows the next page
      if (next.isEmpty()) {
        return new CounterPage(found, Optional.empty());
      }
      List<Optional<Reading>> readings = reader.apply(next); // empty if never added to, or deleted
      for (int i = 0; i < next.size(); i++) {
        if (readings.get(i).isPresent() && found.size() == limit) {
          return new CounterPage(found, Optional.of(found.getLast().name()));
        }
        String name = next.get(i);
        readings.get(i).ifPresent(value -> found.add(new CounterPage.Entry(name, value)));
      }
    }
  }

  /**
   * Returns whether a store holds a counter, except those of verifications; false if unknown, on a
   * store without scans.
   */
  public static boolean areIn(Store store) {
    return CounterNames.areIn(store, "", Optional.of(VERIFICATION))
        || CounterNames.areIn(store, VERIFICATION_END, Optional.empty());
  }

  /** Returns the names of all counters of a store. */
  public static List<String> names(Store store) {
    List<String> names = new ArrayList<>();
    forEachName(store, names::add);
    return names;
  }

  /** Passes on the names of all counters of a store, ordered. */
  static void forEachName(Store store, Consumer<String> name) {
    CounterNames names = new CounterNames(store, "", Scan.ITEMS_MAX);
    for (List<String> next = names.next("", Scan.ITEMS_MAX);
        !next.isEmpty();
        next = names.next("", Scan.ITEMS_MAX)) {
      next.forEach(name);
    }
  }
}
