package dev.quipu.technique;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.Guarantee;
import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.cache.LruMap;
import dev.quipu.layer.Backoff;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.TechniqueSpec.Cost;
import dev.quipu.time.Randomness;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Stores one item per change: adds never contend, at the cost of reads. Thread-safe.
 *
 * <pre>{@code
 * ITEM COLLECTION
 *
 * Problem. If a counter is a single item, all its writers contend for that item, and it does not
 * show the changes that led to its value.
 *
 * Stored. The partition of the counter holds one item for each change, under the id of its request,
 * with the amount and the time. It also holds a base: the sum of the changes that were folded into
 * it, and the number of compactions.
 *
 * Protocol.
 *   Add: store the change, if no change exists under the id.
 *     1. If one exists and describes the same request, the request was applied before, and the add
 *        is replayed. If it describes a different request, the result is a conflict; if it is a
 *        cancellation, the request is rejected.
 *     2. If the outcome is unknown, store the change again. It is the same item.
 *   Read:
 *     1. Read the base.
 *     2. Scan all changes.
 *     3. Read the base again. If a compaction intervened, go to 1.
 *     4. The value is the sum of the base and all changes.
 *   Compact, for changes older than a given window: in one transaction, delete some of them, each
 *   on condition that it is still the one that was read, and add their sum to the base. After every
 *   50,000 changes, scan those that are left, and pause for as long as that took, so that readers
 *   complete in the meantime.
 *   List, a page in order of time: scan all changes, and keep the first that follow the previous
 *   page. A change has the time of its writer's clock.
 *
 * Why it is correct. Changes are separate items, so none overwrites another. At every moment, a
 * change is either an item or part of the base; a reader that might have seen it as both or as
 * neither detects that the base has changed. If several compactors select the same change, one of
 * them deletes it, and the transactions of the others fail.
 *
 * Crash table.
 *   | crash               | stored               | a repeat                      |
 *   | before the add      | nothing              | counts exactly once           |
 *   | reply lost          | the change           | finds it: counts exactly once |
 *   | within a compaction | all of it or nothing | another compaction continues  |
 *   A repeat after its change was folded counts AGAIN: fold only changes that are older than any
 *   repeat can be.
 *
 * Cost. An add takes one round trip and one write, and leaves one item. A read scans all changes
 * since the last compaction, and so does each page of a list: counters should be compacted
 * periodically (Compactions; a server does so), which requires a store with transactions. A recent
 * value, with its age, is free.
 *
 * Bounds are not supported, since there is no single number to check. But a threshold can be
 * observed (Thresholds; --threshold): when a read or a compaction finds the value on its other
 * side, a listener is called, at least once, under one id. What returns in between is not noticed.
 *
 * A sum outside the range of 64 bits is returned as the nearest 64-bit number, with the
 * uncertainty "overflow"; changes with which the base would overflow are not folded.
 *
 * Source. "Implement resource counters with Amazon DynamoDB", method 6.
 * }</pre>
 */
public final class ItemCollection implements Attributed {
  /** The requirements, guarantees and costs, as long as nothing is compacted. */
  public static final TechniqueSpec SPEC =
      new TechniqueSpec(
          "item-collection",
          "One item per change; a read sums them up, a compaction folds the old ones.",
          "an add repeated under its id counts exactly once; the repeat is replayed",
          Set.of(Capability.STRONG_READ, Capability.ORDERED_SCAN),
          Atomicity.ITEM,
          Set.of(Guarantee.AT_MOST_ONCE, Guarantee.IDEMPOTENT, Guarantee.LINEARIZABLE_READ),
          new Cost(1, 1, 1),
          new Cost(3, 0, 0),
          "Implement resource counters with Amazon DynamoDB, method 6");

  private static final TechniqueSpec COMPACTED =
      SPEC.promising(
          Set.of(
              Guarantee.AT_MOST_ONCE,
              Guarantee.IDEMPOTENT_WITHIN_WINDOW,
              Guarantee.LINEARIZABLE_READ));

  static final String CHANGE = "change/";
  private static final String CHANGES_END = "change0"; // the first text after all changes
  private static final String BASE = "base";
  private static final String FOLDED = "folded";
  public static final String AT = "at";
  private static final int READS_MAX = 50;

  /** Changes that one compaction folds before it pauses for readers. */
  private static final int FOLDED_AT_ONCE_MAX = 50_000;

  /** Maximum number of changes in a page of a list. */
  public static final int PAGE_CHANGES_MAX = 1_000;

  private static final int REMEMBERED_MAX = 100_000;

  private final Store store;
  private final CounterItems items;
  private final Markers changes;
  private final RandomGenerator random;
  private final Optional<Duration> window;
  private volatile @Nullable BiConsumer<String, Reading> observer;
  private final LruMap<String, Remembered> remembered = new LruMap<>(REMEMBERED_MAX);

  /**
   * One change.
   *
   * @param id the bits of its request id, in hexadecimal
   * @param reason why it was made, if the caller gave a reason
   */
  public record LedgerEntry(
      String id, long added, Instant at, Optional<String> reason, int scale) {}

  /**
   * The place of a change in the order of time; a page follows it.
   *
   * @param id the bits of its request id, in hexadecimal
   */
  public record Place(Instant at, String id) {}

  /** Some changes, and whether others follow the last of them. */
  public record LedgerPage(List<LedgerEntry> changes, boolean hasMore) {}

  /**
   * The earlier value of a counter.
   *
   * @param age its maximum age
   */
  public record Aged(Reading reading, Duration age) {}

  private record Remembered(Reading reading, long nanos) {}

  /**
   * Creates the technique on {@code store}.
   *
   * @throws IllegalArgumentException if the store lacks a capability that {@link #SPEC} requires
   */
  public ItemCollection(Store store) {
    this(store, Randomness.secure());
  }

  /** Creates the technique with the given source of randomness. */
  public ItemCollection(Store store, RandomGenerator random) {
    this(store, random, Optional.empty());
  }

  /**
   * Creates the technique.
   *
   * @param window how long changes stay, at least, before {@link #compactAll} folds them; empty to
   *     fold none
   */
  public ItemCollection(Store store, RandomGenerator random, Optional<Duration> window) {
    SPEC.requireWorksOn(store.profile());
    this.window = store.profile().has(Capability.ATOMIC_BATCH) ? window : Optional.empty();
    this.store = store;
    this.items = new CounterItems(store);
    this.changes = new Markers(store, CHANGE);
    this.random = random;
  }

  @Override
  public TechniqueSpec spec() {
    return window.isEmpty() ? SPEC : COMPACTED;
  }

  /** Passes each value that is read, and with {@link #compactAll} all values, to an observer. */
  public void observe(BiConsumer<String, Reading> next) {
    observer = next;
  }

  /** Returns how long changes stay, at least; empty if forever. */
  public Optional<Duration> window() {
    return window;
  }

  /**
   * Adds exactly once.
   *
   * @throws UnsupportedOperationException if {@code add} has bounds
   */
  @Override
  public AddResult add(Add add) {
    return store(add, Map.of());
  }

  /**
   * Adds exactly once, and stores the reason in the change: the order, the customer, the message.
   *
   * @param reason 1 to {@link Limits#REASON_BYTES_MAX} bytes of UTF-8; in a repeat, the first
   *     reason is kept
   */
  public AddResult add(Add add, String reason) {
    return store(add, Markers.why(reason));
  }

  @Override
  public AddResult add(Add add, Map<String, String> attributes) {
    return store(add, Markers.fields(attributes));
  }

  @Override
  public Map<String, String> attributes(String counter, RequestId id) {
    return changes.attributes(counter, id);
  }

  private AddResult store(Add add, Map<String, Field> why) {
    if (!add.bounds().isNone()) {
      throw Techniques.keepsNoBounds(SPEC);
    }
    RequestId given = add.id();
    RequestId id = given == null ? RequestId.random(random) : given;
    items.enlist(add.counter());
    String call = Long.toHexString(random.nextLong());
    Map<String, Field> more = new HashMap<>(why);
    more.put(AT, new Field.Number(store.clock().epochMillis()));
    Write write = changes.put(add, id, call, more, Optional.empty());
    return IdempotentRetry.answer(
        store,
        "request " + id,
        () ->
            switch (store.write(write)) {
              case WriteResult.Applied applied ->
                  new AddResult.Applied(add.delta(), OptionalLong.empty());
              case WriteResult.ConditionFailed failed ->
                  Markers.answer(add, failed.found().orElseThrow(), call);
            });
  }

  @Override
  public Optional<Reading> read(String counter) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    for (int attempt = 0; attempt < READS_MAX; attempt++) {
      Optional<Item> before = base(counter);
      BigInteger[] sum = {BigInteger.valueOf(number(before, CounterItems.VALUE))};
      boolean[] isNew = {before.isEmpty()};
      scan(
          counter,
          page -> {
            sum[0] = sum[0].add(sum(page));
            isNew[0] &= page.stream().allMatch(ItemCollection::isCancellation);
          });
      if (number(before, FOLDED) == number(base(counter), FOLDED)) {
        return isNew[0] ? Optional.empty() : Optional.of(observed(counter, sum[0]));
      }
      Backoff.pause(store.clock(), random, attempt);
    }
    throw new NotAppliedException(
        Reason.THROTTLED,
        "gave up after %d attempts: counter %s was compacted during each read"
            .formatted(READS_MAX, counter));
  }

  /**
   * Returns the value, or a recent one, which saves the scan that a read costs.
   *
   * @param ageMax the maximum age; the result has the actual age. Later adds of this process may be
   *     missing
   */
  public Optional<Aged> read(String counter, Duration ageMax) {
    long now = store.clock().nanoTime();
    Remembered last = remembered.get(counter);
    if (last != null && now - last.nanos <= ageMax.toNanos()) {
      return Optional.of(new Aged(last.reading, Duration.ofNanos(now - last.nanos)));
    }
    Optional<Reading> read = read(counter);
    read.ifPresent(reading -> remembered.put(counter, new Remembered(reading, now)));
    Duration age = Duration.ofNanos(store.clock().nanoTime() - now);
    return read.map(reading -> new Aged(reading, age));
  }

  private Reading observed(String counter, BigInteger sum) {
    Reading reading = CounterItems.reading(sum);
    BiConsumer<String, Reading> known = observer;
    if (known != null) {
      known.accept(counter, reading);
    }
    return reading;
  }

  /** The sum of changes, whose parts may exceed 64 bits. */
  public static BigInteger sum(Collection<Item> changes) {
    return changes.stream()
        .map(change -> BigInteger.valueOf(change.number(Markers.ADDED)))
        .reduce(BigInteger.ZERO, BigInteger::add);
  }

  public static boolean isCancellation(Item change) {
    return change.number(Markers.ADDED) == 0;
  }

  public static Key baseKey(String counter) {
    return new Key(CounterItems.partition(counter), BASE);
  }

  private Optional<Item> base(String counter) {
    return store.get(baseKey(counter));
  }

  private static long number(Optional<Item> base, String field) {
    return base.map(item -> item.number(field)).orElse(0L);
  }

  public List<Item> changes(String counter) {
    List<Item> found = new ArrayList<>();
    scan(counter, found::addAll);
    return found;
  }

  private void scan(String counter, Consumer<List<Item>> page) {
    store.scanAll(Scan.range(CounterItems.partition(counter), CHANGE, CHANGES_END), page);
  }

  /** Returns the changes that are not folded, ordered by time. */
  public List<LedgerEntry> ledger(String counter) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    return changes(counter).stream()
        .filter(change -> !isCancellation(change))
        .map(Ledger::entry)
        .sorted(Ledger.BY_TIME)
        .toList();
  }

  /**
   * Returns a page of the changes that are not folded, ordered by time. It costs a scan of all of
   * them, and memory for one page.
   *
   * @param after the last change of the previous page
   * @param limit 1 to {@link #PAGE_CHANGES_MAX}
   */
  public LedgerPage ledger(String counter, Optional<Place> after, int limit) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    Limits.checkPage(limit, PAGE_CHANGES_MAX);
    Ledger page = new Ledger(after, limit);
    scan(counter, changes -> changes.forEach(page::add));
    return page.page();
  }

  /**
   * Folds changes into the base. Compactors may run concurrently.
   *
   * @param window changes younger than this stay, so that their repeats are recognized
   * @return the number of changes that this call folded
   * @throws UnsupportedOperationException if the store has no transactions
   * @throws QuipuException if the outcome of a transaction is unknown; repeating the call is safe
   */
  public int compact(String counter, Duration window) {
    return compact(counter, window, () -> true);
  }

  private int compact(String counter, Duration window, BooleanSupplier goesOn) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    long until = store.clock().epochMillis() - window.toMillis();
    int folded = 0;
    while (true) {
      long start = store.clock().nanoTime();
      List<Item> old = new ArrayList<>();
      scan(
          counter,
          page ->
              page.stream()
                  .filter(change -> !isCancellation(change) && change.number(AT) <= until)
                  .limit(FOLDED_AT_ONCE_MAX - old.size())
                  .forEach(old::add));
      if (folded > 0 && !isAwaited(Duration.ofNanos(store.clock().nanoTime() - start))) {
        return folded;
      }
      int now = foldAll(counter, old);
      folded += now;
      if (old.size() < FOLDED_AT_ONCE_MAX || now == 0 || !goesOn.getAsBoolean()) {
        return folded;
      }
    }
  }

  /** Pauses, so that readers complete; returns false if the thread was interrupted. */
  private boolean isAwaited(Duration pause) {
    try {
      store.clock().sleep(pause);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private int foldAll(String counter, List<Item> old) {
    int folded = 0;
    int most = Math.max(1, store.profile().batchItemsMax() - 1); // the base takes one place
    for (int from = 0; from < old.size(); from += most) {
      folded += fold(counter, old.subList(from, Math.min(from + most, old.size())));
    }
    return folded;
  }

  /**
   * Folds the changes of all counters that are older than the window of this technique; a counter
   * that fails is passed to {@code failed}, and the others continue.
   *
   * @param goesOn false to end early
   * @return the number of changes that this call folded
   */
  public long compactAll(BooleanSupplier goesOn, BiConsumer<String, QuipuException> failed) {
    long[] folded = {0};
    window.ifPresent(age ->
        CounterItems.forEachName(
            store,
            counter -> {
              try {
                if (goesOn.getAsBoolean()) {
                  folded[0] += compact(counter, age, goesOn);
                  if (observer != null) {
                    read(counter);
                  }
                }
              } catch (QuipuException e) {
                failed.accept(counter, e);
              }
            }));
    return folded[0];
  }

  private int fold(String counter, List<Item> old) {
    BigInteger sum = sum(old);
    if (sum.bitLength() >= Long.SIZE) {
      return 0; // they stay: the base would exceed 64 bits
    }
    List<Write> batch = new ArrayList<>();
    for (Item change : old) {
      batch.add(new Write.Delete(change.key(), new Condition.VersionIs(change.version())));
    }
    batch.add(
        new Write.Update(
            baseKey(counter),
            List.of(new Change.Add(CounterItems.VALUE, sum.longValue()), new Change.Add(FOLDED, 1)),
            Condition.always()));
    return store.writeAll(batch, null) instanceof WriteResult.Applied ? old.size() : 0;
  }

  @Override
  public CounterPage list(String prefix, String after, int limit) {
    return items.list(prefix, after, limit, this::read);
  }

  @Override
  public RequestOutcome outcome(String counter, RequestId id) {
    return changes.outcome(counter, id);
  }

  @Override
  public RequestOutcome cancel(String counter, RequestId id) {
    return changes.cancel(counter, id, Optional.empty());
  }
}
