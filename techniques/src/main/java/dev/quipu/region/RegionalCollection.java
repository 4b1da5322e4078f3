package dev.quipu.region;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.Guarantee;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.Uncertainty;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.lock.Locks;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.CounterItems;
import dev.quipu.technique.ItemCollection;
import dev.quipu.technique.Markers;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.time.Randomness;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/*
 * ITEM COLLECTION OVER REGIONS
 *
 * Problem. A collection of changes has no item that two regions write differently, so it stays
 * exact where every write goes everywhere. But merging old changes into a sum, to read less, writes
 * a sum and deletes changes, and these come to other regions at different times: a reader there
 * sees a change twice, or not at all. And two regions that merge the same change count it twice for
 * ever.
 *
 * Stored. As by item-collection: change/ID for each change, written by whatever region is asked.
 * And for each region that ever merged: merged/REGION, written in that region's replica alone:
 * value, the sum of what it merged; folded, the ids of its last merge; step; fence.
 *
 * Protocol.
 *   Add: store the change in the own replica, if there is none. A repeat in another region stores
 *     the same change: it counts once.
 *   Read, here: all merged sums and all changes, but those that a sum names as folded. Everywhere:
 *     the same of all replicas together, of each sum the newest.
 *   Merge, in one region at a time, which holds a lease; a silent region stops it.
 *     1. Write the fence of the lease to the sum of every region, in its replica. Look at all; stop
 *        if one has a later fence. A sum is replaced only as it was seen here.
 *     2. If some sum names folded changes: once that sum has come to all replicas, delete them;
 *        once they are gone from all replicas, empty the list. Not yet: stop, until the next call.
 *     3. Take old changes that are in all replicas, and in one write add them to the own sum and
 *        name them as folded.
 *
 * Why it is right. A reader that has the sum skips the changes that it names, and one that has not
 * has the changes: they are deleted only when all have the sum, and no longer named only when none
 * has the changes. So what any region reads does not move while merges travel: the inaccuracy of
 * merging is 0. What a region reads here lacks what has not arrived, and nothing else. A change
 * that is in all replicas is in no sum, since whoever merged it deleted it; so it is merged once.
 *
 * Crash table.
 *   | broken off after | stored                     | then                          |
 *   | the add's reply  | the change                 | a repeat finds or stores it   |
 *   | 1                | a fence                    | the next merge has a higher   |
 *   | 3                | a sum, and folded changes  | the next merge does step 2    |
 *   A repeat that comes after its change was merged counts AGAIN: merge only what is older than any
 *   repeat. The same id with another amount in two regions that are cut off from each other is one
 *   of the two in the end.
 *
 * Cost. An add: one round trip, one write. A read here: a scan; everywhere: two of each replica. A
 * merge: a scan of each replica, and three calls until its changes are gone.
 *
 * No bounds, and no cancellations: a region that is asked first may not know of a request elsewhere.
 *
 * Source. "Implement resource counters with Amazon DynamoDB", method 6 and global tables.
 */

/** Counts by one item a change, in any region at any time. Thread-safe. */
public final class RegionalCollection implements Technique {
  /** What it promises and costs over regions. */
  public static final TechniqueSpec SPEC =
      ItemCollection.SPEC.promising(Set.of(Guarantee.AT_MOST_ONCE, Guarantee.IDEMPOTENT));

  private static final int FOLDED_MAX = 500;
  private static final Duration LEASE = Duration.ofMinutes(1);

  private final Regions regions;
  private final SortedMap<String, ItemCollection> collections = new TreeMap<>();
  private final Locks locks;

  /** Counts in regions; merging is up to {@link #merge}. */
  public RegionalCollection(Regions regions) {
    this(regions, Randomness.secure());
  }

  /** As {@link #RegionalCollection(Regions)}, with the caller's chance. */
  public RegionalCollection(Regions regions, RandomGenerator random) {
    this.regions = regions;
    for (String region : regions.names()) {
      collections.put(region, new ItemCollection(regions.replica(region), random));
    }
    this.locks = new Locks(regions.replica(regions.initial().getFirst()), random);
  }

  private ItemCollection here() {
    return in(regions.own());
  }

  private ItemCollection in(String region) {
    ItemCollection collection = collections.get(region);
    if (collection == null) {
      throw new IllegalArgumentException("there is no region " + region);
    }
    return collection;
  }

  @Override
  public TechniqueSpec spec() {
    return SPEC;
  }

  /**
   * Adds, once, in the own region.
   *
   * @throws UnsupportedOperationException if {@code add} has bounds
   */
  @Override
  public AddResult add(Add add) {
    return here().add(add);
  }

  /**
   * The sum of what has come to the own region, or the nearest number that has 64 bits; empty if
   * nothing has. Asks no other region.
   */
  public Optional<Long> readHere(String counter) {
    Regions.checkCounter(counter);
    CollectionRows seen = undisturbed(counter, () -> look(regions.own(), counter));
    return seen.isEmpty() ? Optional.empty() : Optional.of(CounterItems.narrow(seen.value()));
  }

  /**
   * The sum of all that any region has: exact when all answer and nothing is added meanwhile. With
   * a silent region nothing limits what it may have counted.
   */
  @Override
  public Optional<Reading> read(String counter) {
    Regions.checkCounter(counter);
    return undisturbed(counter, () -> readOnce(counter));
  }

  private Optional<Optional<Reading>> readOnce(String counter) {
    Optional<SortedMap<String, CollectionRows>> before = lookAll(counter);
    Optional<SortedMap<String, CollectionRows>> after = before.flatMap(all -> lookAll(counter));
    if (after.isEmpty() || !before.get().keySet().equals(after.get().keySet())) {
      return Optional.empty();
    }
    CollectionRows first = together(before.get());
    CollectionRows last = together(after.get());
    if (!first.sums().equals(last.sums())) {
      return Optional.empty();
    }
    List<String> silent = new ArrayList<>(regions.names());
    silent.removeAll(after.get().keySet());
    boolean isNew = last.isEmpty() && silent.isEmpty();
    return Optional.of(isNew ? Optional.empty() : Optional.of(reading(first, last, silent)));
  }

  /** The first of some looks between whose calls nobody merged. */
  private <T> T undisturbed(String counter, Supplier<Optional<T>> look) {
    RetryPolicy.Attempts attempts = regions.here().attempts();
    do {
      Optional<T> seen = look.get();
      if (seen.isPresent()) {
        return seen.get();
      }
    } while (attempts.again());
    throw new NotAppliedException(
        Reason.THROTTLED,
        "counter %s is merged faster than it is read: %s".formatted(counter, attempts));
  }

  private static CollectionRows together(SortedMap<String, CollectionRows> all) {
    return all.values().stream().reduce(CollectionRows::with).orElseThrow();
  }

  private static Reading reading(CollectionRows first, CollectionRows last, List<String> silent) {
    BigInteger value = last.value();
    if (!silent.isEmpty()) {
      List<Uncertainty> uncertainties =
          silent.stream()
              .map(region ->
                  new Uncertainty(Uncertainty.Cause.SILENT_REGION, region, Long.MAX_VALUE))
              .toList();
      return new Reading(CounterItems.narrow(value), Long.MIN_VALUE, Long.MAX_VALUE, uncertainties);
    }
    SortedMap<String, Item> since = last.open();
    since.keySet().removeAll(first.changes().keySet());
    BigInteger up = BigInteger.ZERO;
    BigInteger down = BigInteger.ZERO;
    for (Item change : since.values()) {
      BigInteger added = BigInteger.valueOf(change.number(Markers.ADDED));
      up = up.add(added.max(BigInteger.ZERO));
      down = down.add(added.min(BigInteger.ZERO));
    }
    return up.equals(down)
        ? CounterItems.reading(value)
        : new Reading(
            CounterItems.narrow(value),
            CounterItems.narrow(value.subtract(up)),
            CounterItems.narrow(value.subtract(down)),
            List.of(
                new Uncertainty(
                    Uncertainty.Cause.MOVING, "", CounterItems.narrow(up.subtract(down)))));
  }

  private Optional<CollectionRows> look(String region, String counter) {
    return CollectionRows.read(regions.replica(region), in(region), counter);
  }

  /** Of each region that answers; empty if a merge came between. */
  private Optional<SortedMap<String, CollectionRows>> lookAll(String counter) {
    SortedMap<String, CollectionRows> all = new TreeMap<>();
    for (String region : regions.names()) {
      Optional<Optional<CollectionRows>> asked = regions.ask(region, () -> look(region, counter));
      if (asked.isPresent()) {
        if (asked.get().isEmpty()) {
          return Optional.empty();
        }
        all.put(region, asked.get().get());
      }
    }
    return Optional.of(all);
  }

  /**
   * One step of merging, if no other region merges: call it now and then.
   *
   * @param window changes younger than this stay: longer than any repeat may take
   * @return how many changes were merged by this call
   * @throws QuipuException if a region is silent: merging waits for it
   */
  public int merge(String counter, Duration window) {
    Regions.checkCounter(counter);
    Optional<Locks.Lease> lease = locks.acquire("merge/" + counter, LEASE);
    if (lease.isEmpty()) {
      return 0;
    }
    try {
      return merge(counter, window, lease.get().fence());
    } finally {
      locks.release(lease.get());
    }
  }

  private int merge(String counter, Duration window, long fence) {
    for (String region : regions.names()) {
      if (!ask(region, store -> fence(store, CollectionRows.sumKey(counter, region), fence))) {
        return 0; // somebody has a later lease
      }
    }
    Optional<SortedMap<String, CollectionRows>> looked = lookAll(counter);
    if (looked.isEmpty()) {
      return 0; // somebody merges
    }
    SortedMap<String, CollectionRows> all = looked.get();
    if (all.size() < regions.names().size()) {
      throw isSilent(regions.names().stream().filter(name -> !all.containsKey(name)).toList());
    }
    if (all.entrySet().stream()
        .anyMatch(each -> each.getValue().number(each.getKey(), CollectionRows.FENCE) != fence)) {
      return 0; // somebody wrote a later fence meanwhile, and may have merged
    }
    for (Map.Entry<String, CollectionRows> each : all.entrySet()) {
      String region = each.getKey();
      Set<String> folded = each.getValue().folded(region);
      if (!folded.isEmpty() && !isCleared(counter, region, folded, all)) {
        return 0;
      }
    }
    return fold(counter, window, all);
  }

  private boolean ask(String region, Predicate<Store> question) {
    return regions
        .ask(region, () -> question.test(regions.replica(region)))
        .orElseThrow(() -> isSilent(List.of(region)));
  }

  private static QuipuException isSilent(List<String> silent) {
    return new NotAppliedException(
        Reason.UNAVAILABLE, "merging waits for regions that do not answer: " + silent);
  }

  private static boolean fence(Store store, Key sum, long fence) {
    Optional<Item> found = store.get(sum, Consistency.STRONG);
    if (found.map(item -> item.number(CollectionRows.FENCE)).orElse(0L) > fence) {
      return false;
    }
    Write write =
        new Write.Update(
            sum,
            List.of(new Change.Put(CollectionRows.FENCE, new Field.Number(fence))),
            Condition.unchanged(found));
    return store.write(write) instanceof WriteResult.Applied;
  }

  /** Step 2 for one sum; whether its list is empty now. */
  private boolean isCleared(
      String counter, String region, Set<String> folded, Map<String, CollectionRows> all) {
    if (all.values().stream()
            .mapToLong(each -> each.number(region, CollectionRows.STEP))
            .distinct()
            .count()
        > 1) {
      return false; // the sum is still on its way
    }
    if (all.values().stream().anyMatch(each -> each.hasAny(folded))) {
      for (String change : folded) {
        Key key = new Key(CounterItems.partition(counter), change);
        regions.here().write(new Write.Delete(key, Condition.always()));
      }
      return false; // the deletes are on their way
    }
    return ask(region, store -> next(store, all, counter, region, BigInteger.ZERO, Set.of()));
  }

  /** Writes the next step of a sum, unless somebody else has. */
  private static boolean next(
      Store store,
      Map<String, CollectionRows> all,
      String counter,
      String region,
      BigInteger more,
      Set<String> folded) {
    CollectionRows seen = all.get(region);
    Item sum = seen == null ? null : seen.sums().get(region);
    if (sum == null) {
      return false; // no fence was written: this cannot be
    }
    Map<String, Field> fields = new HashMap<>(sum.fields());
    BigInteger value = more.add(BigInteger.valueOf(sum.number(CounterItems.VALUE)));
    if (value.bitLength() >= Long.SIZE) {
      return false; // the changes stay: the number that they would go into has 64 bits
    }
    fields.put(CounterItems.VALUE, new Field.Number(value.longValue()));
    fields.put(CollectionRows.FOLDED, new Field.Tokens(folded));
    fields.put(CollectionRows.STEP, new Field.Number(sum.number(CollectionRows.STEP) + 1));
    Condition unchanged = new Condition.VersionIs(sum.version());
    Write write =
        new Write.Put(CollectionRows.sumKey(counter, region), fields, Optional.empty(), unchanged);
    return store.write(write) instanceof WriteResult.Applied;
  }

  private int fold(String counter, Duration window, SortedMap<String, CollectionRows> all) {
    CollectionRows here = all.get(regions.own());
    if (here == null) {
      return 0;
    }
    long until = regions.here().clock().epochMillis() - window.toMillis();
    Set<String> folded = new HashSet<>();
    BigInteger sum = BigInteger.ZERO;
    for (Map.Entry<String, Item> each : here.changes().entrySet()) {
      Item change = each.getValue();
      long added = change.number(Markers.ADDED);
      boolean isEverywhere =
          all.values().stream()
              .map(seen -> seen.changes().get(each.getKey()))
              .allMatch(other -> other != null && other.number(Markers.ADDED) == added);
      boolean isOld =
          change.number(ItemCollection.AT) <= until && !ItemCollection.isCancellation(change);
      if (isOld && isEverywhere && folded.size() < FOLDED_MAX) {
        folded.add(each.getKey());
        sum = sum.add(BigInteger.valueOf(added));
      }
    }
    if (folded.isEmpty()) {
      return 0;
    }
    return next(regions.here(), all, counter, regions.own(), sum, folded) ? folded.size() : 0;
  }

  /** Counters with what all regions together have of each. */
  @Override
  public CounterPage list(String prefix, String after, int limit) {
    return new CounterItems(regions.here()).list(prefix, after, limit, this::read);
  }

  /**
   * Whether any region has the request.
   *
   * @throws QuipuException if none has, and one is silent
   */
  @Override
  public RequestOutcome outcome(String counter, RequestId id) {
    List<String> silent = new ArrayList<>();
    for (String region : regions.names()) {
      Optional<RequestOutcome> there = regions.ask(region, () -> in(region).outcome(counter, id));
      if (there.isPresent() && !(there.get() instanceof RequestOutcome.NotSeen)) {
        return there.get();
      }
      if (there.isEmpty()) {
        silent.add(region);
      }
    }
    if (!silent.isEmpty()) {
      throw new NotAppliedException(
          Reason.UNAVAILABLE, "these regions do not answer, and one may have it: " + silent);
    }
    return new RequestOutcome.NotSeen();
  }

  /**
   * Never.
   *
   * @throws UnsupportedOperationException always; {@link RegionalCounters} can
   */
  @Override
  public RequestOutcome cancel(String counter, RequestId id) {
    throw new UnsupportedOperationException(
        "an item collection over regions has no cancellations: another region may be counting the request"
            + " at the same time; regional counters can");
  }
}
