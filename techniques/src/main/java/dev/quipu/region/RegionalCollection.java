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

/**
 * Stores one item per change, in any region at any time. Thread-safe.
 *
 * <pre>{@code
 * ITEM COLLECTION OVER REGIONS
 *
 * Problem. In a collection of changes, no two regions write the same item differently, so it stays
 * exact if every write is replicated to every region. But to make reads cheaper, old changes must
 * be merged into a sum, which writes the sum and deletes the changes. These writes reach other
 * regions at different times, so a reader there sees a change twice, or not at all. And if two
 * regions merge the same change, it counts twice permanently.
 *
 * Stored. As in item-collection, change/ID for each change, written by the region that receives it.
 * And for each region that ever merged, merged/REGION, written only in that region's replica:
 * value, the sum of its merged changes; folded, the ids of its last merge; step, the number of its
 * steps; and fence, the last fencing token.
 *
 * Protocol.
 *   Add: store the change in the local replica, if it does not exist. A repeat in another region
 *     stores the same change, which counts exactly once.
 *   Local read: sum up all merged sums and all changes, except those that a sum lists as folded.
 *     Global read: the same over all replicas together, with the newest version of each sum.
 *   Merge, in one region at a time, which holds a lease; a region that does not respond blocks it:
 *     1. Write the fencing token of the lease to the sum of every region, in its replica. Read all
 *        replicas; stop if one has a later token. A sum is replaced only if it is unchanged since
 *        then.
 *     2. If some sum lists folded changes: when that sum has reached all replicas, delete the
 *        changes; when they are gone from all replicas, empty the list. Until then, stop, and
 *        continue in the next call.
 *     3. Select old changes that are in all replicas. In one write, add them to the local sum and
 *        list them as folded.
 *
 * Why it is correct. A reader that has the sum skips the changes that it lists. A reader without
 * the sum still has the changes, since they are deleted only when all replicas have the sum, and
 * removed from the list only when no replica has them. So the replication of a merge does not
 * change what any region reads: merging adds no inaccuracy. A local read lacks only changes that
 * have not arrived yet. A change that is in all replicas is in no sum, since the region that merged
 * it has deleted it; so it is merged exactly once.
 *
 * Crash table.
 *   | crash after     | stored                    | then                           |
 *   | the add's reply | the change                | a repeat finds or stores it    |
 *   | 1               | a fencing token           | a later merge has a higher one |
 *   | 3               | a sum, and folded changes | the next merge executes step 2 |
 *   A repeat that arrives after its change was merged counts AGAIN: merge only changes that are
 *   older than any repeat can be. If the same id is used with different amounts in two partitioned
 *   regions, one of the two amounts remains.
 *
 * Cost. An add takes one round trip and one write. A local read scans the local replica; a global
 * read scans each replica twice. A merge scans each replica, and takes three calls until its
 * changes are gone.
 *
 * Bounds and cancellations are not supported: a region may not know a request of another region.
 *
 * Source. "Implement resource counters with Amazon DynamoDB", method 6 and global tables.
 * }</pre>
 */
public final class RegionalCollection implements Technique {
  /** Its guarantees and costs over regions. */
  public static final TechniqueSpec SPEC =
      ItemCollection.SPEC.promising(Set.of(Guarantee.AT_MOST_ONCE, Guarantee.IDEMPOTENT));

  private static final TechniqueSpec MERGED =
      SPEC.promising(Set.of(Guarantee.AT_MOST_ONCE, Guarantee.IDEMPOTENT_WITHIN_WINDOW));

  private static final int FOLDED_MAX = 500;
  private static final Duration LEASE = Duration.ofMinutes(1);

  private final Regions regions;
  private final SortedMap<String, ItemCollection> collections = new TreeMap<>();
  private final Locks locks;
  private final Optional<Duration> window;

  /** Creates the technique; merging is done by {@link #merge}. */
  public RegionalCollection(Regions regions) {
    this(regions, Randomness.secure());
  }

  /** Creates the technique with the given source of randomness. */
  public RegionalCollection(Regions regions, RandomGenerator random) {
    this(regions, random, Optional.empty());
  }

  /**
   * Creates the technique.
   *
   * @param window how long changes stay, at least, before {@link Merges} merges them; empty to
   *     merge none
   */
  public RegionalCollection(Regions regions, RandomGenerator random, Optional<Duration> window) {
    this.regions = regions;
    this.window = window;
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
      throw new IllegalArgumentException("unknown region " + region);
    }
    return collection;
  }

  @Override
  public TechniqueSpec spec() {
    return window.isEmpty() ? SPEC : MERGED;
  }

  Regions regions() {
    return regions;
  }

  Optional<Duration> window() {
    return window;
  }

  /**
   * Adds exactly once, in the local region.
   *
   * @throws UnsupportedOperationException if {@code add} has bounds
   */
  @Override
  public AddResult add(Add add) {
    return here().add(add);
  }

  /**
   * Returns the sum of the changes that have reached the local region, clamped to 64 bits; empty if
   * there are none. Does not contact other regions.
   */
  public Optional<Long> readHere(String counter) {
    Regions.checkCounter(counter);
    CollectionRows seen = undisturbed(counter, () -> look(regions.own(), counter));
    return seen.isEmpty() ? Optional.empty() : Optional.of(CounterItems.narrow(seen.value()));
  }

  /**
   * Returns the sum of the changes of all regions: exact if all answer and nothing is added
   * concurrently. With a region that does not respond there is no limit to its uncounted changes.
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

  /** Returns the first of several reads during which no merge happened. */
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
        "gave up after %s: counter %s was merged during each read".formatted(attempts, counter));
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

  /** Returns the rows of each region that answers; empty if a merge intervened. */
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
   * Makes one step of merging, unless another region merges: call it periodically.
   *
   * @param window minimum age of merged changes: longer than any repeat may take
   * @return the number of changes that this call merged
   * @throws QuipuException if a region does not respond: merging waits for it
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

  /** Returns whether the local replica has changes to merge, or a merge that is not complete. */
  boolean isDue(String counter, Duration age) {
    Optional<CollectionRows> seen = look(regions.own(), counter);
    long until = regions.here().clock().epochMillis() - age.toMillis();
    return seen.isEmpty()
        || !seen.get().folded().isEmpty()
        || seen.get().changes().values().stream().anyMatch(change -> isOld(change, until));
  }

  private static boolean isOld(Item change, long until) {
    return change.number(ItemCollection.AT) <= until && !ItemCollection.isCancellation(change);
  }

  private int merge(String counter, Duration window, long fence) {
    for (String region : regions.names()) {
      if (!ask(region, store -> fence(store, CollectionRows.sumKey(counter, region), fence))) {
        return 0; // another region has a later lease
      }
    }
    Optional<SortedMap<String, CollectionRows>> looked = lookAll(counter);
    if (looked.isEmpty()) {
      return 0; // another region is merging
    }
    SortedMap<String, CollectionRows> all = looked.get();
    if (all.size() < regions.names().size()) {
      throw isSilent(regions.names().stream().filter(name -> !all.containsKey(name)).toList());
    }
    if (all.entrySet().stream()
        .anyMatch(each -> each.getValue().number(each.getKey(), CollectionRows.FENCE) != fence)) {
      return 0; // another region wrote a later token, and may have merged
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
        Reason.UNAVAILABLE, "merging waits for regions that do not respond: " + silent);
  }

  private static boolean fence(Store store, Key sum, long fence) {
    Optional<Item> found = store.get(sum);
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

  /** Makes step 2 of the protocol for one sum; returns whether its list is empty now. */
  private boolean isCleared(
      String counter, String region, Set<String> folded, Map<String, CollectionRows> all) {
    if (all.values().stream()
            .mapToLong(each -> each.number(region, CollectionRows.STEP))
            .distinct()
            .count()
        > 1) {
      return false; // the sum is not replicated yet
    }
    if (all.values().stream().anyMatch(each -> each.hasAny(folded))) {
      for (String change : folded) {
        Key key = new Key(CounterItems.partition(counter), change);
        regions.here().write(new Write.Delete(key, Condition.always()));
      }
      return false; // the deletes are not replicated yet
    }
    return ask(region, store -> next(store, all, counter, region, BigInteger.ZERO, Set.of()));
  }

  /** Writes the next step of a sum, unless it was changed by another process. */
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
      return false; // unreachable: a token was written before
    }
    Map<String, Field> fields = new HashMap<>(sum.fields());
    BigInteger value = more.add(BigInteger.valueOf(sum.number(CounterItems.VALUE)));
    if (value.bitLength() >= Long.SIZE) {
      return false; // the changes stay: the sum would overflow 64 bits
    }
    fields.put(CounterItems.VALUE, new Field.Number(value.longValue()));
    fields.put(CollectionRows.FOLDED, new Field.Tokens(folded));
    fields.put(CollectionRows.STEP, new Field.Number(sum.number(CollectionRows.STEP) + 1));
    Condition unchanged = new Condition.VersionIs(sum.version());
    Write write = new Write.Put(CollectionRows.sumKey(counter, region), fields, unchanged);
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
      if (isOld(change, until) && isEverywhere && folded.size() < FOLDED_MAX) {
        folded.add(each.getKey());
        sum = sum.add(BigInteger.valueOf(added));
      }
    }
    if (folded.isEmpty()) {
      return 0;
    }
    return next(regions.here(), all, counter, regions.own(), sum, folded) ? folded.size() : 0;
  }

  /** Returns counters with their sums over all regions. */
  @Override
  public CounterPage list(String prefix, String after, int limit) {
    return new CounterItems(regions.here()).list(prefix, after, limit, this::read);
  }

  /**
   * Returns whether any region has the request.
   *
   * @throws QuipuException if none has, and one does not respond
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
          Reason.UNAVAILABLE, "these regions do not respond, and one may have it: " + silent);
    }
    return new RequestOutcome.NotSeen();
  }

  /**
   * Not supported.
   *
   * @throws UnsupportedOperationException always; use {@link RegionalCounters}
   */
  @Override
  public RequestOutcome cancel(String counter, RequestId id) {
    throw new UnsupportedOperationException(
        "an item collection over regions cannot cancel requests: another region may be"
            + " counting the request at the same time; use regional counters");
  }
}
