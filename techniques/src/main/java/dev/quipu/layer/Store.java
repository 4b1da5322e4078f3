package dev.quipu.layer;

import dev.quipu.Limits;
import dev.quipu.Outcome;
import dev.quipu.Reason;
import dev.quipu.StoreException;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.Atomicity;
import dev.quipu.store.Capability;
import dev.quipu.store.Change;
import dev.quipu.store.Condition;
import dev.quipu.store.Consistency;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.RequestToken;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Finding;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A store as techniques see it: a {@link StoreDriver} with what all drivers share put in front of
 * it. Thread-safe.
 *
 * <ul>
 *   <li>It checks keys, sizes and batches against their limits.
 *   <li>It hides items that have expired; a write under {@link Condition.Absent} takes the place of
 *       an expired item.
 *   <li>It repeats a call that certainly had no effect and may succeed a moment later, and nothing
 *       else: an unknown outcome goes to the technique, which alone knows what to do.
 *   <li>Where the driver lacks {@link Capability#NATIVE_UPDATE}, it reads and stores the whole item
 *       under the condition that nobody else did.
 * </ul>
 */
public final class Store {
  /** Most tokens in one call of {@link #addTokens} or {@link #dropTokens}. */
  public static final int TOKENS_MAX = 100;

  private static final ThreadLocal<@Nullable Shared> SHARED = new ThreadLocal<>();

  private final StoreDriver driver;
  private final StoreProfile profile;
  private final Clock clock;
  private final RandomGenerator random;
  private final RetryPolicy policy;
  private final WriteBarrier barrier = new WriteBarrier();
  private volatile boolean isExpiryPaused;
  private final LongAdder calls = new LongAdder();
  private final LongAdder repeats = new LongAdder();
  private final LongAdder unknowns = new LongAdder();

  /** A store with {@link RetryPolicy#DEFAULT}. */
  public Store(StoreDriver driver, Clock clock) {
    this(driver, clock, Randomness.secure(), RetryPolicy.DEFAULT);
  }

  /** A store whose time and chance are the caller's. */
  public Store(StoreDriver driver, Clock clock, RandomGenerator random, RetryPolicy policy) {
    this.driver = driver;
    this.profile = driver.profile();
    this.clock = clock;
    this.random = random;
    this.policy = policy;
  }

  /** What the driver is able to do. */
  public StoreProfile profile() {
    return profile;
  }

  /** The clock by which items expire. */
  public Clock clock() {
    return clock;
  }

  /** Calls to the driver so far: {@code calls}, of them {@code repeats}, and unknown outcomes. */
  public Statistics statistics() {
    return new Statistics(calls.sum(), repeats.sum(), unknowns.sum());
  }

  /** Counts of calls to the driver. */
  public record Statistics(long calls, long repeats, long unknowns) {}

  /** One item; empty if there is none or it has expired. */
  public Optional<Item> get(Key key, Consistency consistency) {
    return attempt(() -> driver.get(key, consistency)).filter(item -> !item.isExpired(expiryNow()));
  }

  /**
   * Several items as they are at one moment; empty where there is none or it has expired.
   *
   * @param keys different from each other, at most {@link StoreProfile#batchItemsMax}
   * @throws UnsupportedOperationException if the store has no batches
   */
  public List<Optional<Item>> getAll(List<Key> keys) {
    checkBatch(keys);
    Instant now = expiryNow();
    return attempt(() -> driver.getAll(keys)).stream()
        .map(found -> found.filter(item -> !item.isExpired(now)))
        .toList();
  }

  /** One item, atomic, conditional. */
  public WriteResult write(Write write) {
    barrier.requireWritable();
    check(write);
    if (!isNative(write)) {
      return simulate(write);
    }
    return replacingExpired(List.of(write), writes -> driver.write(writes.getFirst()));
  }

  /**
   * Several items, all or nothing.
   *
   * @param token see {@link StoreDriver#writeAll}; needs {@link Capability#TOKEN_BATCH}
   * @throws UnsupportedOperationException if the store has no batches
   */
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    barrier.requireWritable();
    if (token != null && !profile.has(Capability.TOKEN_BATCH)) {
      throw profile.lacks(Capability.TOKEN_BATCH);
    }
    checkBatch(writes.stream().map(Write::key).toList());
    writes.forEach(this::check);
    return replacingExpired(writes, all -> driver.writeAll(all, token));
  }

  /**
   * One page of one partition, less what has expired.
   *
   * @throws UnsupportedOperationException if the store has no order, or only an eventual one and
   *     the scan is strong
   */
  public Page scan(Scan scan) {
    boolean eventually =
        scan.consistency() == Consistency.EVENTUAL && profile.has(Capability.EVENTUAL_SCAN);
    if (!eventually && !profile.has(Capability.ORDERED_SCAN)) {
      throw profile.lacks(Capability.ORDERED_SCAN);
    }
    Page page = attempt(() -> driver.scan(scan));
    Instant now = expiryNow();
    return new Page(
        page.items().stream().filter(item -> !item.isExpired(now)).toList(), page.resumeAt());
  }

  /**
   * All pages of a scan, in order.
   *
   * @throws UnsupportedOperationException if the store has no order
   */
  public void scanAll(Scan scan, Consumer<List<Item>> eachPage) {
    Scan next = scan;
    while (true) {
      Page page = scan(next);
      eachPage.accept(page.items());
      if (page.resumeAt().isEmpty()) {
        return;
      }
      next = next.resumedAt(page.resumeAt().get());
    }
  }

  /**
   * How many items a partition holds within a range, however the scan looks at them; items that
   * have expired are counted as long as they are stored.
   *
   * @throws UnsupportedOperationException if the store has no order
   */
  public long count(Scan scan) {
    if (!profile.has(Capability.ORDERED_SCAN)) {
      throw profile.lacks(Capability.ORDERED_SCAN);
    }
    return attempt(() -> driver.count(scan));
  }

  /**
   * Puts tokens into a set of an item that is changed in no other way; see {@link
   * StoreDriver#addTokens}. Where the store cannot do it by itself, one conditional write a token.
   *
   * @param tokens 1 to {@link #TOKENS_MAX}
   */
  public void addTokens(Key key, String field, Set<String> tokens) {
    changeTokens(
        key,
        tokens,
        () -> driver.addTokens(key, field, tokens),
        token -> new Change.AddToken(field, token));
  }

  /** Takes tokens out of a set; see {@link #addTokens}. */
  public void dropTokens(Key key, String field, Set<String> tokens) {
    changeTokens(
        key,
        tokens,
        () -> driver.dropTokens(key, field, tokens),
        token -> new Change.DropToken(field, token));
  }

  private void changeTokens(
      Key key, Set<String> tokens, Runnable natively, Function<String, Change> change) {
    barrier.requireWritable();
    checkTokens(tokens);
    if (profile.has(Capability.NATIVE_TOKENS)) {
      attemptWrite(() -> {
        natively.run();
        return tokens;
      });
      return;
    }
    for (String token : tokens) {
      write(new Write.Update(key, List.of(change.apply(token)), Condition.always()));
    }
  }

  private static void checkTokens(Set<String> tokens) {
    if (tokens.isEmpty() || tokens.size() > TOKENS_MAX) {
      throw new IllegalArgumentException(
          "there are %d tokens, the limits are 1 and %d".formatted(tokens.size(), TOKENS_MAX));
    }
  }

  /** Atomic operations on named values: the store's own, or made out of conditional writes. */
  public AtomicOperations operations() {
    return driver.operations().orElseGet(() -> new StoredOperations(this));
  }

  /** See {@link StoreDriver#intactSince}. */
  public Instant intactSince() {
    return attempt(driver::intactSince);
  }

  /**
   * Removes items that expired so long ago; see {@link StoreDriver#removeExpired}.
   *
   * @return how many were removed, at most {@code itemsMax}
   */
  public int removeExpired(Duration ago, int itemsMax) {
    if (isExpiryPaused) {
      return 0;
    }
    Instant before = now().minus(ago);
    return attempt(() -> driver.removeExpired(before, itemsMax));
  }

  /** See {@link StoreDriver#inspect}. */
  List<Finding> inspect() {
    return attempt(driver::inspect);
  }

  /** What keeps writes from the store, or makes it reject them. */
  WriteBarrier barrier() {
    return barrier;
  }

  /** See {@link StoreDriver#time}. */
  boolean showsTime() {
    return attempt(driver::time).isPresent();
  }

  /** While this is so, no item counts as expired, and none is removed for it. */
  void pauseExpiry(boolean isPaused) {
    isExpiryPaused = isPaused;
  }

  private Instant expiryNow() {
    return isExpiryPaused ? Instant.MIN : now();
  }

  private boolean isNative(Write write) {
    return !(write instanceof Write.Update update)
        || profile.has(Capability.NATIVE_UPDATE)
        || (profile.has(Capability.NATIVE_ADD) && update.isLoneAdd());
  }

  /** Reads, computes, and stores the whole item if it is still what was read; again if not. */
  private WriteResult simulate(Write write) {
    RetryPolicy.Attempts attempts = policy.begin(clock, random); // of contention, not of failures
    while (true) {
      Optional<Item> found = attempt(() -> driver.get(write.key(), Consistency.STRONG));
      Optional<Item> alive = found.filter(item -> !item.isExpired(expiryNow()));
      if (!(write.applyTo(alive, new Version("")) instanceof Write.Effect.Now now)) {
        return new WriteResult.ConditionFailed(write.key(), alive);
      }
      Condition unchanged = Condition.unchanged(found);
      Item after = now.item().orElseThrow(); // an update always leaves an item
      Write put = new Write.Put(write.key(), after.fields(), after.expiresAt(), unchanged);
      WriteResult result = attemptWrite(() -> driver.write(put));
      if (result instanceof WriteResult.Applied) {
        return result;
      }
      if (!attempts.again()) {
        throw othersFirst(write.key(), attempts);
      }
    }
  }

  /**
   * Writes as if expired items were not there. The driver judges conditions as if they were alive,
   * so a write that meets one is sent again in the form that replaces exactly that item. If it is
   * gone by then, removed or replaced by another client, the write is judged anew: a condition that
   * failed on what is not there would otherwise look like one that failed on an item.
   */
  private WriteResult replacingExpired(
      List<Write> writes, Function<List<Write>, WriteResult> driverCall) {
    RetryPolicy.Attempts attempts = policy.begin(clock, random); // of contention, not of failures
    List<Write> next = writes;
    for (int round = 1; ; round++) {
      List<Write> sent = next;
      WriteResult result = attemptWrite(() -> driverCall.apply(sent));
      if (!(result instanceof WriteResult.ConditionFailed failed)) {
        return result;
      }
      Optional<Item> alive = failed.found().filter(item -> !item.isExpired(expiryNow()));
      int at = indexOf(writes, failed.key());
      Write write = writes.get(at);
      boolean isReplacement = !sent.get(at).equals(write);
      boolean isDecided = alive.isPresent() && !isReplacement;
      if (isDecided || !(isReplacement ? holdsAnew(write, alive) : write.holdsOn(alive))) {
        return new WriteResult.ConditionFailed(failed.key(), alive);
      }
      if (round > writes.size() && !attempts.again()) {
        throw othersFirst(failed.key(), attempts);
      }
      next = new ArrayList<>(sent);
      boolean isExpired = failed.found().isPresent() && alive.isEmpty();
      next.set(at, isExpired ? inPlaceOf(failed.found().get(), write) : write);
    }
  }

  /** Whether a write holds on what is there now that the expired item is not. */
  private static boolean holdsAnew(Write write, Optional<Item> alive) {
    return write.holdsOn(alive);
  }

  /** The same write as if the expired item were not there, if exactly that is there. */
  private static Write inPlaceOf(Item expired, Write write) {
    Condition unchanged = new Condition.VersionIs(expired.version());
    return switch (write.applyTo(Optional.empty(), new Version(""))) {
      case Write.Effect.Unmet unmet -> write; // its condition fails on what is not there
      case Write.Effect.Now now ->
          now.item()
              .<Write>map(
                  item -> new Write.Put(item.key(), item.fields(), item.expiresAt(), unchanged))
              .orElse(new Write.Delete(write.key(), unchanged));
    };
  }

  private static StoreException othersFirst(Key key, RetryPolicy.Attempts attempts) {
    return StoreException.notApplied(
        Reason.THROTTLED,
        "others came first to %s/%s, in %s".formatted(key.partition(), key.sort(), attempts));
  }

  private static int indexOf(List<Write> writes, Key key) {
    for (int i = 0; i < writes.size(); i++) {
      if (writes.get(i).key().equals(key)) {
        return i;
      }
    }
    throw new IllegalStateException("the driver named a key that is not in the batch: " + key);
  }

  private <T> T attemptWrite(Supplier<T> call) {
    try {
      return attempt(call);
    } catch (StoreException e) {
      throw barrier.explained(e);
    }
  }

  private <T> T attempt(Supplier<T> call) {
    RetryPolicy.Attempts attempts = attempts();
    while (true) {
      calls.increment();
      try {
        return call.get();
      } catch (StoreException e) {
        if (e.outcome() == Outcome.UNKNOWN) {
          unknowns.increment();
          throw e;
        }
        if (!e.reason().isTemporary() || !attempts.again()) {
          throw e;
        }
      }
      repeats.increment();
    }
  }

  /**
   * Returns the attempts of a call that is made again, which begins now; within {@link #sharing},
   * those of the whole.
   */
  public RetryPolicy.Attempts attempts() {
    Shared whole = SHARED.get();
    return whole == null || whole.store != this ? policy.begin(clock, random) : whole.attempts;
  }

  private record Shared(Store store, RetryPolicy.Attempts attempts) {}

  /**
   * Makes calls whose repeats all count as one's: attempts of calls within attempts would multiply.
   */
  public <T> T sharing(RetryPolicy.Attempts attempts, Supplier<T> calls) {
    Shared before = SHARED.get();
    SHARED.set(new Shared(this, attempts));
    try {
      return calls.get();
    } finally {
      if (before == null) {
        SHARED.remove();
      } else {
        SHARED.set(before);
      }
    }
  }

  /** The time by which items expire, to the millisecond. */
  public Instant now() {
    return Instant.ofEpochMilli(clock.epochMillis());
  }

  private void checkBatch(List<Key> keys) {
    if (!profile.has(Capability.ATOMIC_BATCH)) {
      throw profile.lacks(Capability.ATOMIC_BATCH);
    }
    if (keys.isEmpty() || keys.size() > profile.batchItemsMax()) {
      throw new IllegalArgumentException(
          "a batch has %d items, the limits of store %s are 1 and %d"
              .formatted(keys.size(), profile.name(), profile.batchItemsMax()));
    }
    Set<Key> seen = new HashSet<>();
    for (Key key : keys) {
      if (!seen.add(key)) {
        throw new IllegalArgumentException("a batch has twice " + key);
      }
      if (profile.atomicity() != Atomicity.STORE
          && !key.partition().equals(keys.getFirst().partition())) {
        throw new IllegalArgumentException(
            "a batch of store %s lies in one partition".formatted(profile.name()));
      }
    }
  }

  private void check(Write write) {
    long bytes = 0;
    switch (write) {
      case Write.Put put -> {
        for (Map.Entry<String, Field> field : put.fields().entrySet()) {
          bytes += Limits.utf8Length(field.getKey()) + bytes(field.getValue());
        }
      }
      case Write.Update update -> {
        for (Change change : update.changes()) {
          bytes += bytes(change);
        }
      }
      case Write.Delete delete -> {
        // it brings nothing
      }
    }
    if (bytes > profile.itemBytesMax()) {
      throw new IllegalArgumentException(
          "a write has %d bytes of fields, the limit of store %s is %d"
              .formatted(bytes, profile.name(), profile.itemBytesMax()));
    }
  }

  private static long bytes(Change change) {
    return Limits.utf8Length(change.field())
        + switch (change) {
          case Change.Add add -> 8L;
          case Change.Put put -> bytes(put.value());
          case Change.AddToken add -> Limits.utf8Length(add.token());
          case Change.DropToken drop -> 0L;
        };
  }

  private static long bytes(Field field) {
    return switch (field) {
      case Field.Number number -> 8;
      case Field.Text text -> Limits.utf8Length(text.value());
      case Field.Tokens tokens -> tokens.values().stream().mapToLong(Limits::utf8Length).sum();
    };
  }
}
