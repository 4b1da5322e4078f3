package dev.quipu.layer;

import dev.quipu.QuipuException;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The view of a store that techniques use: a {@link StoreDriver} under layers for the concerns that
 * all drivers share. Thread-safe.
 *
 * <p>From the outside: {@link WriteBarrier}, {@link ValidationLayer}, {@link EmulationLayer},
 * {@link ExpiryLayer}, {@link RetryLayer}.
 */
public final class Store {
  /** Maximum number of tokens in one call of {@link #addTokens} or {@link #dropTokens}. */
  public static final int TOKENS_MAX = 100;

  private final StoreProfile profile;
  private final Clock clock;
  private final WriteBarrier barrier;
  private final ExpiryLayer expiry;
  private final RetryLayer retry;

  /** Creates a store with {@link RetryPolicy#DEFAULT}. */
  public Store(StoreDriver driver, Clock clock) {
    this(driver, clock, Randomness.secure(), RetryPolicy.DEFAULT);
  }

  /** Creates a store with the given clock and source of randomness. */
  public Store(StoreDriver driver, Clock clock, RandomGenerator random, RetryPolicy policy) {
    this.profile = driver.profile();
    this.clock = clock;
    this.retry = new RetryLayer(driver, clock, random, policy);
    this.expiry = new ExpiryLayer(retry, clock);
    EmulationLayer emulation = new EmulationLayer(expiry, profile);
    this.barrier = new WriteBarrier(new ValidationLayer(emulation, profile));
  }

  /** Returns the capabilities and limits of the driver. */
  public StoreProfile profile() {
    return profile;
  }

  /** Returns the clock by which items expire. */
  public Clock clock() {
    return clock;
  }

  /** Returns the numbers of calls to the driver so far. */
  public Statistics statistics() {
    return retry.statistics();
  }

  /**
   * Counts of calls to the driver.
   *
   * @param calls all calls
   * @param repeats calls sent again because the one before certainly had no effect
   * @param unknowns calls with an unknown outcome
   * @param retries further attempts for any reason: no effect, an unknown outcome, contention
   */
  public record Statistics(long calls, long repeats, long unknowns, long retries) {}

  /** See {@link StoreDriver#measures}. */
  public Map<StoreDriver.Measure, Long> measures() {
    return barrier.measures();
  }

  /** Reports the calls to the driver to an observer from now on, in addition to others. */
  public void observe(Observer observer) {
    retry.observe(observer);
  }

  /** Receives calls to the driver, on their threads; must neither block nor throw. */
  @FunctionalInterface
  public interface Observer {
    /**
     * A call has ended.
     *
     * @param failure null if it has a definite result, which includes a failed condition
     */
    void called(boolean isWrite, @Nullable QuipuException failure, long nanos);
  }

  /** Returns an item by a strong read; empty if it is missing or expired. */
  public Optional<Item> get(Key key) {
    return get(key, Consistency.STRONG);
  }

  /** Returns an item; empty if it is missing or expired. */
  public Optional<Item> get(Key key, Consistency consistency) {
    return barrier.get(key, consistency);
  }

  /**
   * Returns several items as a consistent snapshot; empty where an item is missing or expired.
   *
   * @param keys distinct, at most {@link StoreProfile#batchItemsMax}
   * @throws UnsupportedOperationException if the store has no batches
   */
  public List<Optional<Item>> getAll(List<Key> keys) {
    return barrier.getAll(keys);
  }

  /**
   * Returns several items, each by a strong read of its own: not a snapshot. It takes one call for
   * {@link StoreProfile#batchItemsMax} keys on a store with batches over all items, and one for
   * each key on others.
   *
   * @param keys distinct
   */
  public List<Optional<Item>> getEach(List<Key> keys) {
    if (!profile.has(Capability.ATOMIC_BATCH) || profile.atomicity() != Atomicity.STORE) {
      return keys.stream().map(this::get).toList();
    }
    List<Optional<Item>> found = new ArrayList<>(keys.size());
    for (int from = 0; from < keys.size(); from += profile.batchItemsMax()) {
      int to = Math.min(from + profile.batchItemsMax(), keys.size());
      found.addAll(barrier.getEach(keys.subList(from, to)));
    }
    return found;
  }

  /** Applies a conditional write to one item, atomically. */
  public WriteResult write(Write write) {
    return barrier.write(write);
  }

  /**
   * Applies several writes, all or none.
   *
   * @param token see {@link BatchDriver#writeAll}; needs {@link Capability#TOKEN_BATCH}
   * @throws UnsupportedOperationException if the store has no batches
   */
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    return barrier.writeAll(writes, token);
  }

  /**
   * Returns one page of one partition, without expired items.
   *
   * @throws UnsupportedOperationException if the store has no scan, or only an eventual one and the
   *     scan is strong
   */
  public Page scan(Scan scan) {
    return barrier.scan(scan);
  }

  /**
   * Returns the names of partitions that begin with a prefix, in {@link Key#ORDER}.
   *
   * @param after only names after this one; empty for all
   * @param namesMax maximum number of names, 1 to {@link Scan#ITEMS_MAX}
   * @throws UnsupportedOperationException if the store does not have its partitions in order
   */
  public List<String> partitions(String prefix, String after, int namesMax) {
    return barrier.partitions(prefix, after, namesMax);
  }

  /**
   * Passes all pages of a scan to {@code eachPage}, in order.
   *
   * @throws UnsupportedOperationException if the store has no scan
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

  /** Returns the number of items in a range; see {@link ScanDriver#count}. */
  public long count(Scan scan) {
    return barrier.count(scan);
  }

  /**
   * Adds tokens to a set of an item that is changed in no other way; see {@link
   * StoreDriver#addTokens}. On a store without native support, one conditional write per token.
   *
   * @param tokens 1 to {@link #TOKENS_MAX}
   */
  public void addTokens(Key key, String field, Set<String> tokens) {
    barrier.addTokens(key, field, tokens);
  }

  /** Removes tokens from a set; see {@link #addTokens}. */
  public void dropTokens(Key key, String field, Set<String> tokens) {
    barrier.dropTokens(key, field, tokens);
  }

  /**
   * Returns atomic operations on named values: the store's native ones, or an implementation by
   * conditional writes.
   */
  public AtomicOperations operations() {
    return barrier.operations().orElseGet(() -> new StoredOperations(this));
  }

  /** See {@link StoreDriver#intactSince}. */
  public Instant intactSince() {
    return barrier.intactSince();
  }

  /**
   * Removes items whose expiry is at least {@code ago} in the past; see {@link
   * StoreDriver#removeExpired}.
   *
   * @return the number of removed items, at most {@code itemsMax}
   */
  public int removeExpired(Duration ago, int itemsMax) {
    return barrier.removeExpired(now().minus(ago), itemsMax);
  }

  /** Returns the layer that rejects writes, and records why the store itself rejects them. */
  WriteBarrier barrier() {
    return barrier;
  }

  /** See {@link ExpiryLayer#pause}. */
  void pauseExpiry(boolean isPaused) {
    expiry.pause(isPaused);
  }

  /** Begins the attempts of a call; within {@link #sharing}, returns the shared ones. */
  public RetryPolicy.Attempts attempts() {
    return retry.attempts();
  }

  /** Runs calls that share their attempts, which would multiply otherwise. */
  public <T> T sharing(RetryPolicy.Attempts attempts, Supplier<T> calls) {
    return retry.sharing(attempts, calls);
  }

  /** Returns the current time of the clock by which items expire, in whole milliseconds. */
  public Instant now() {
    return expiry.now();
  }
}
