package dev.quipu.display;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Counters;
import dev.quipu.ItemResult;
import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.Backoff;
import dev.quipu.layer.Store;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.Item;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.Techniques;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Counts views in a cache and flushes them to a durable counter. Each loss of the cache costs at
 * most {@code unflushedMax} views per counter, and readings account for it.
 *
 * <pre>{@code
 * A VIEW COUNTER IN A CACHE (WRITE-BEHIND)
 *
 * Problem. Every view counts and is visible immediately, and there are more views than the database
 * can write. A cache can handle them, but it loses data; and the periodic writes to the database
 * must neither miss views in the cache nor count them twice.
 *
 * Stored. The cache holds one number per counter, under a key that is never reused: the views since
 * the number was created. The durable store holds the counter itself, and one item (CachedCount)
 * with that key, the value of the counter when the number was created (base), the part of the
 * number that has been flushed to the counter (flushed), and the maximum number of views that may
 * have been lost with earlier numbers (lossMax). M is the maximum number of views of a counter that
 * are only in the cache.
 *
 * Protocol of a view.
 *   1. incr the number. The item was read before, and is kept in memory.
 *   2. On a miss, or if the result is not above flushed, the cache has lost the number. Read the
 *      item. If it names another number, go to 1 with that number.
 *   3. The number is lost, or never existed. Read the counter, and store a new item with cas: it
 *      has a new key, and is not marked as filled. If the old item was marked as filled, add M to
 *      lossMax. If another process was faster, go to 2.
 *   4. add the new number, 0, to the cache; then mark the item as filled, with cas. Go to 1.
 *   5. A process that finds an item that is not marked as filled waits until it is. If the number
 *      is in the cache, it marks the item itself; after a second it executes step 3.
 *   6. If the number is M or more above flushed, flush before replying.
 *
 * Protocol of a reader. The value is base plus the number, and lossMax is part of its uncertainty.
 * If the cache is unavailable, read the item again, since another process may have replaced the
 * number that this one knows, and lossMax with it; the value is then that of the counter, and the
 * actual number of views is higher by up to lossMax plus M.
 *
 * Protocol of a flush, by the periodic write-back or by a view.
 *   1. Read the item and the number.
 *   2. Add the part of the number above flushed to the counter, under the request id KEY/flushed. A
 *      repeat, or a flush by another process from the same point, adds nothing and returns the
 *      amount that was added.
 *   3. Add that amount to flushed, with cas.
 *
 * Why it is correct. A number is created exactly once, by one add of one process: a delayed add
 * creates a number under a key that is no longer read. A view is an incr, so concurrent views are
 * never lost. The request id separates flushed from unflushed views, since at most one add is
 * applied from each point; so a flush may be repeated, concurrent or delayed. By step 6, at most M
 * acknowledged views are not yet in the counter, so at most M of them are lost with a number, and
 * lossMax grows by M before a new number becomes visible. So at every moment
 * base + flushed <= actual views <= base + number + lossMax.
 *
 * Assumptions. All processes use the same M. A number that the cache has lost is missing, or below
 * flushed: if the cache returns to an earlier state that is not below flushed, as a lagging replica
 * does on failover, up to M views are lost silently. There are no assumptions about the delay of
 * writes or pauses of processes, except the one under Limits.
 *
 * Crash table.
 *   | crash after       | stored                     | then                                    |
 *   | view 3            | an item that is not filled | 5: another takes over after a second    |
 *   | view 4, add       | a number, not filled       | 5: whoever finds it marks it as filled  |
 *   | flush 2           | the counter has it         | the next flush is replayed, and goes on |
 *   | reply to incr     | the view counted           | unknown: not repeated                   |
 *   | the cache is lost | all but up to M views      | 3: lossMax covers them                  |
 *
 * Limits. A view has no request id: if its reply was lost, it may have counted. A flush that is
 * paused for longer than the technique of the counter remembers request ids counts twice.
 *
 * Cost. A view takes one round trip to the cache. A flush takes a read, an add and a write; it is
 * made after M views, or every few seconds. Besides what the durable counter itself keeps, one item
 * per counter is kept.
 *
 * Source. "Atomic operations and counters in memcached", view counter.
 * }</pre>
 */
public final class CacheFirst implements DisplayCounters {
  /** Default of the most views of a counter that are only in the cache. */
  public static final long UNFLUSHED_DEFAULT = 1_000;

  /** Upper limit of that option. */
  public static final long UNFLUSHED_MAX = 1_000_000;

  private static final Duration FILL_WAIT = Duration.ofSeconds(1);
  private static final int ROUNDS_MAX = 1_000;
  private static final int LOSSES_MAX = 8; // per call
  private static final int FLUSHES_MAX = 8; // per call
  private static final int FLUSHED_TOGETHER = 50; // per read of the cache

  private final AtomicOperations cache;
  private final Store durable;
  private final Counters counters;
  private final long unflushedMax;
  private final RandomGenerator random;
  private final RecentCounts known = new RecentCounts();

  /**
   * Counts views in {@code cache}, and flushes them to {@code counters}.
   *
   * @param durable the store of the counters, which also holds the items that describe the cache
   * @param unflushedMax maximum number of views of a counter that are only in the cache, 1 to
   *     {@link #UNFLUSHED_MAX}
   * @throws IllegalArgumentException if the counters do not support request ids, or the store has
   *     no ordered scan, or the number is outside its limits
   */
  public CacheFirst(AtomicOperations cache, Store durable, Counters counters, long unflushedMax) {
    this(cache, durable, counters, unflushedMax, Randomness.secure());
  }

  /** Creates a counter with the given source of randomness. */
  public CacheFirst(
      AtomicOperations cache,
      Store durable,
      Counters counters,
      long unflushedMax,
      RandomGenerator random) {
    if (unflushedMax < 1 || unflushedMax > UNFLUSHED_MAX) {
      throw new IllegalArgumentException(
          "unflushedMax is %d; it must be from 1 to %d".formatted(unflushedMax, UNFLUSHED_MAX));
    }
    if (!counters.remembersIds()) {
      throw new IllegalArgumentException(Techniques.keepsNoIds(counters.technique()).getMessage());
    }
    durable.profile().require(Capability.ORDERED_SCAN);
    this.cache = cache;
    this.durable = durable;
    this.counters = counters;
    this.unflushedMax = unflushedMax;
    this.random = random;
  }

  @Override
  public OptionalLong view(String name, Optional<RequestId> id) {
    Limits.checkText("name", name, Limits.NAME_BYTES_MAX);
    if (id.isPresent()) {
      throw new UnsupportedOperationException(
          "request ids are not supported by cache-first; use durable-first");
    }
    for (int loss = 0; loss < LOSSES_MAX; loss++) {
      CachedCount count = notCounted(() -> current(name));
      OptionalLong number = cache.incr(count.cacheKey(), 1);
      if (number.isPresent() && number.getAsLong() > count.flushed()) {
        if (number.getAsLong() - count.flushed() >= unflushedMax) {
          flushBeforeAnswer(count, number.getAsLong());
        }
        return OptionalLong.of(count.base() + number.getAsLong());
      }
      notCounted(() -> replaceLost(count));
    }
    throw new NotAppliedException(Reason.UNAVAILABLE, "the cache loses " + name + " immediately");
  }

  /** Runs a step before the view is counted, whose failure means that it was not counted. */
  private static <T> T notCounted(Supplier<T> step) {
    try {
      return step.get();
    } catch (QuipuException e) {
      throw new NotAppliedException(e.reason(), "not counted: " + e.getMessage(), e);
    }
  }

  /** Returns when this view is within M of the durable counter. */
  private void flushBeforeAnswer(CachedCount count, long number) {
    boolean done;
    try {
      done = known.alone(count.name(), () -> isWithinMax(count, number));
    } catch (QuipuException e) {
      throw new OutcomeUnknownException(
          e.reason(), "counted in the cache, and may be lost with it: " + e.getMessage(), e);
    }
    if (!done) {
      throw new OutcomeUnknownException(
          Reason.UNAVAILABLE, "counted in a cache that has lost " + count.name(), null);
    }
  }

  private boolean isWithinMax(CachedCount count, long number) {
    @Nullable CachedCount now = known.get(count.name());
    for (int round = 0; round < FLUSHES_MAX; round++) {
      if (now != null && now.token().equals(count.token())) {
        if (number - now.flushed() < unflushedMax) {
          known.put(now);
          return true;
        }
        flush(List.of(now));
      }
      now = stored(count.name()).orElse(null);
    }
    return false;
  }

  @Override
  public Optional<DisplayReading> read(String name) {
    Limits.checkText("name", name, Limits.NAME_BYTES_MAX);
    @Nullable CachedCount count = known.get(name);
    if (count == null) {
      count = stored(name).orElse(null);
    }
    if (count == null) {
      return durably(name, 0); // nothing is or was in the cache
    }
    try {
      return fromCache(count);
    } catch (QuipuException e) { // the cache is unavailable: it has at most M views
      return durably(name, latest(count).lossMax() + unflushedMax);
    }
  }

  /** Returns the stored item: the remembered one may be of a lost number. */
  private CachedCount latest(CachedCount remembered) {
    return stored(remembered.name()).orElse(remembered);
  }

  private Optional<DisplayReading> fromCache(CachedCount found) {
    CachedCount count = found;
    for (int loss = 0; loss < LOSSES_MAX; loss++) {
      if (!count.filled()) {
        return durably(count.name(), count.lossMax()); // no view was counted in it yet
      }
      Optional<AtomicOperations.Value> cached = cache.get(count.cacheKey());
      if (cached.isPresent() && number(count, cached.get()) >= count.flushed()) {
        long value = count.base() + number(count, cached.get());
        return Optional.of(
            new DisplayReading(
                value, count.base() + count.flushed(), value + count.lossMax(), durable.now()));
      }
      count = replaceLost(count);
    }
    throw new NotAppliedException(
        Reason.UNAVAILABLE, "the cache loses " + count.name() + " immediately");
  }

  /** Reads a durable counter; rejects a decimal, since the cache counts integers. */
  private Optional<Reading> integer(String name) {
    Optional<Reading> read = counters.read(name);
    if (read.isPresent() && read.get().scale() != 0) {
      throw new IllegalArgumentException(
          "counter %s has the scale %d, and the cache shows integers only; show it without a cache"
              .formatted(name, read.get().scale()));
    }
    return read;
  }

  /**
   * Returns the reading of the durable counter.
   *
   * @param more how much higher the actual value may be
   */
  private Optional<DisplayReading> durably(String name, long more) {
    Optional<Reading> read = integer(name);
    if (read.isEmpty() && more > 0) {
      read = Optional.of(Reading.exact(0)); // all views so far may be in the cache
    }
    return read.map(
        each -> new DisplayReading(each.value(), each.low(), each.high() + more, durable.now()));
  }

  /**
   * Flushes unflushed views to the durable counters: one round of a {@link WriteBack}. Idempotent,
   * and safe in several processes.
   *
   * @throws QuipuException if it failed for some counters; the next round continues
   */
  public void writeBack() {
    writeBack(Runnable::run);
  }

  /** Flushes several counters at a time. */
  void writeBack(Executor executor) {
    List<CompletableFuture<Void>> running = new ArrayList<>();
    for (String partition : CachedCount.PARTITIONS) {
      durable.scanAll(
          Scan.all(partition),
          items -> {
            for (int from = 0; from < items.size(); from += FLUSHED_TOGETHER) {
              int until = Math.min(items.size(), from + FLUSHED_TOGETHER);
              List<Item> some = items.subList(from, until);
              running.add(
                  CompletableFuture.runAsync(
                      () -> flush(some.stream().map(CachedCount::of).toList()), executor));
            }
          });
    }
    try {
      CompletableFuture.allOf(running.toArray(CompletableFuture[]::new)).join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException failed ? failed : e;
    }
  }

  private void flush(List<CachedCount> all) {
    List<CachedCount> counts = all.stream().filter(CachedCount::filled).toList();
    List<Optional<AtomicOperations.Value>> numbers =
        cache.getAll(counts.stream().map(CachedCount::cacheKey).toList());
    List<CachedCount> flushed = new ArrayList<>();
    List<Add> adds = new ArrayList<>();
    for (int i = 0; i < counts.size(); i++) {
      CachedCount count = counts.get(i);
      if (numbers.get(i).isEmpty()) {
        continue; // lost; the next view or reader replaces it
      }
      long number = number(count, numbers.get(i).get());
      if (number > count.flushed()) {
        flushed.add(count);
        adds.add(new Add(count.name(), number - count.flushed(), count.flush()));
      }
    }
    @Nullable RuntimeException failure = null;
    List<ItemResult> results = counters.addAll(adds);
    for (int i = 0; i < results.size(); i++) {
      try {
        moveOn(flushed.get(i), added(adds.get(i), results.get(i).result()));
      } catch (RuntimeException e) {
        failure = failure == null ? e : failure; // the other counters continue
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * Returns what the add from this point has added: this one, or an earlier one of another process.
   */
  private static long added(Add add, AddResult result) {
    return switch (result) {
      case AddResult.Applied applied -> applied.added();
      case AddResult.Replayed replayed -> replayed.added();
      case AddResult.Conflict conflict -> conflict.added();
      case AddResult.Rejected rejected ->
          throw new NotAppliedException(
              Reason.INVALID,
              "durable counter %s rejects the flush: %s".formatted(add.counter(), rejected.why()));
    };
  }

  private void moveOn(CachedCount count, long added) {
    if (durable.write(count.nowFlushed(added)) instanceof WriteResult.Applied applied) {
      applied.after().map(CachedCount::of).ifPresent(known::put);
    } else {
      known.forget(count);
    }
  }

  /** Returns the current number, filled, as far as is known. */
  private CachedCount current(String name) {
    CachedCount here = known.get(name);
    return here != null ? here : known.alone(name, () -> load(name));
  }

  private CachedCount load(String name) {
    CachedCount here = known.get(name);
    if (here != null) {
      return here; // another thread was faster
    }
    long start = durable.clock().nanoTime();
    for (int round = 0; round < ROUNDS_MAX; round++) {
      @Nullable CachedCount count = stored(name).orElse(null);
      if (count != null && count.filled()) {
        return known.put(count);
      }
      boolean late = durable.clock().nanoTime() - start > FILL_WAIT.toNanos();
      if (count == null || late) {
        begin(name, count, 0);
      } else if (cache.get(count.cacheKey()).isPresent()) {
        durable.write(count.nowFilled());
      } else {
        Backoff.pause(durable.clock(), random, round);
      }
    }
    throw new NotAppliedException(Reason.THROTTLED, "gave up: contention on counter " + name);
  }

  /** Replaces a number after a miss, unless another process already has. */
  private CachedCount replaceLost(CachedCount lost) {
    return known.alone(
        lost.name(),
        () -> {
          known.forget(lost);
          @Nullable CachedCount now = stored(lost.name()).orElse(null);
          if (now != null && now.token().equals(lost.token())) {
            begin(lost.name(), now, unflushedMax);
          }
          return load(lost.name());
        });
  }

  /**
   * Makes steps 3 and 4 of the protocol. Whether this or another process succeeded, the next load
   * sees the result.
   */
  private void begin(String name, @Nullable CachedCount before, long lost) {
    long base = integer(name).map(Reading::value).orElse(0L);
    long lossMax = (before == null ? 0 : before.lossMax()) + lost;
    Optional<Item> found = Optional.ofNullable(before).map(CachedCount::item);
    String token = RequestId.random(random).bits();
    Write begin = CachedCount.begin(name, token, base, lossMax, found);
    if (durable.write(begin) instanceof WriteResult.Applied applied) {
      CachedCount count = CachedCount.of(applied.after().orElseThrow());
      cache.add(count.cacheKey(), "0", Optional.empty());
      durable.write(count.nowFilled());
    }
  }

  private Optional<CachedCount> stored(String name) {
    return durable.get(CachedCount.key(name)).map(CachedCount::of);
  }

  private static long number(CachedCount count, AtomicOperations.Value cached) {
    return cached
        .number()
        .orElseThrow(() ->
            new NotAppliedException(
                Reason.CORRUPT, "malformed number in the cache for %s".formatted(count.name())));
  }
}
