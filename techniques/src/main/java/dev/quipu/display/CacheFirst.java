package dev.quipu.display;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Counters;
import dev.quipu.ItemResult;
import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
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
import dev.quipu.store.StoreDriver.Consistency;
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

/*
 * A VIEW COUNTER IN A CACHE
 *
 * Problem. Every view counts and is shown at once, and there are more of them than the database can
 * take. A cache can; but it forgets, and a database that is written now and then must neither miss
 * nor count twice what the cache had.
 *
 * Stored. In the cache one number a counter, under a key that is never used again: the views since
 * it began. In the durable store the counter itself, and one item ({@link CachedCount}) that names
 * that key, and tells the counter when the number began (base), how much of the number the counter
 * has (flushed), and how many views may have gone with numbers before it (lossMax).
 *
 * Protocol of a view.
 *   1. incr the number. The item was read before and is remembered.
 *   2. A miss, or a number that was below what was flushed of it: the cache has lost it. Read the
 *      item. It names another number: go to 1 with that.
 *   3. The number is lost, or there never was one. Read the counter; store a new item by cas, with
 *      a new key, not yet filled; if the old one was filled, lossMax grows by M. Somebody was
 *      faster: go to 2.
 *   4. add the new number, 0, to the cache; then mark the item as filled, by cas. Go to 1.
 *   5. Who finds an item that is not filled waits for whoever fills it, and after a second does 3.
 *   6. The number is M or more beyond what was flushed: flush before answering.
 *
 * Protocol of a reader. The number, with base and lossMax. The cache is away: read the item anew,
 * since another process may have replaced the number that this one remembers, and lossMax with it;
 * then the counter, to which lossMax and M views may come.
 *
 * Protocol of a flush, by whoever: the write-back every few seconds, or a view.
 *   1. Read the item and the number.
 *   2. Add to the counter what the number has beyond flushed, under the id KEY/flushed. A repeat,
 *      or a flush by another from the same point, adds nothing and tells what was added there.
 *   3. Move flushed on by that, by cas.
 *
 * Why it is right. A number begins once, by one add of one process: a seed that is late finds
 * nobody who reads its key. A view is an incr, so none is lost to a race. What was flushed and what
 * was not is told apart by the id, since from each point at most one add is applied; so it makes
 * no difference how often, by how many or how late a flush is done. A view that was answered is
 * within M of what the counter has, by step 6, so a number that is lost takes at most M answered
 * views with it, and lossMax grows by M before a new number can be seen. So at every moment
 * base + flushed <= true views <= base + number + lossMax.
 *
 * Assumptions. All processes have the same M. A number that the cache has lost is gone, or below
 * what was flushed of it: a cache that brings back a later one, as a replica that was behind does
 * when it takes over, has lost views of which no reader learns, M at most. None about time: it
 * makes no difference how late a write is or how long a process stands still, but for what follows.
 *
 * Crash table.
 *   | broken off after  | stored                     | then                                     |
 *   | view 3            | an item that is not filled | 5: another takes over after a second     |
 *   | view 4, add       | a number, not filled       | 5: whoever sees it marks it as filled    |
 *   | flush 2           | the counter has it         | the next flush hears so, and moves on    |
 *   | reply to incr     | the view counted           | unknown: not repeated                    |
 *   | the cache is lost | all but M views or fewer   | 3: lossMax tells                         |
 *
 * What it does not promise. A view has no id: one whose reply was lost may have counted. A flush
 * that was paused for longer than the technique of the counter remembers ids counts twice.
 *
 * Cost. One round trip to the cache a view, and one flush for every M of them or every few seconds:
 * a read, an add and a write. Nothing is kept but the item.
 *
 * Source. "Atomic operations and counters in memcached", view counter.
 */

/**
 * Counts views in a cache and carries them to a durable counter. What a cache loses is at most
 * {@code unflushedMax} views a counter each time, and readers are told.
 */
public final class CacheFirst implements DisplayCounters {
  /** Most views that a counter may have in the cache only, unless told otherwise. */
  public static final long UNFLUSHED_DEFAULT = 1_000;

  /** Largest that this may be set to. */
  public static final long UNFLUSHED_MAX = 1_000_000;

  private static final Duration FILL_WAIT = Duration.ofSeconds(1);
  private static final int ROUNDS_MAX = 1_000;
  private static final int LOSSES_MAX = 8; // in one call
  private static final int FLUSHES_MAX = 8; // in one call
  private static final int FLUSHED_TOGETHER = 50; // by one read of the cache

  private final AtomicOperations cache;
  private final Store durable;
  private final Counters counters;
  private final long unflushedMax;
  private final RandomGenerator random;
  private final RecentCounts known = new RecentCounts();

  /**
   * Views in {@code cache}, and durable in {@code counters}.
   *
   * @param durable where the items that tell of the cache are kept: the store of the counters
   * @param unflushedMax most views of a counter that are in the cache only, 1 to {@link
   *     #UNFLUSHED_MAX}
   * @throws IllegalArgumentException if the counters keep no request ids, or the store has no
   *     ordered scan, or the number is outside its limits
   */
  public CacheFirst(AtomicOperations cache, Store durable, Counters counters, long unflushedMax) {
    this(cache, durable, counters, unflushedMax, Randomness.secure());
  }

  /** As the other, with the caller's chance. */
  public CacheFirst(
      AtomicOperations cache,
      Store durable,
      Counters counters,
      long unflushedMax,
      RandomGenerator random) {
    if (unflushedMax < 1 || unflushedMax > UNFLUSHED_MAX) {
      throw new IllegalArgumentException(
          "unflushedMax is %d, the limits are 1 and %d".formatted(unflushedMax, UNFLUSHED_MAX));
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
          "a view that is counted in the cache first keeps no request id; durable first does");
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
    throw new NotAppliedException(Reason.UNAVAILABLE, "the cache loses " + name + " at once");
  }

  /** What goes wrong here goes wrong before the view is counted. */
  private static <T> T notCounted(Supplier<T> step) {
    try {
      return step.get();
    } catch (QuipuException e) {
      throw QuipuException.of(Outcome.NOT_APPLIED, e.reason(), "not counted: " + e.getMessage(), e);
    }
  }

  /** Returns when this view is within M of what the durable counter has. */
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
      return durably(name, 0); // nothing is in the cache, or ever was
    }
    try {
      return fromCache(count);
    } catch (QuipuException e) { // the cache is away: what it has, if it still has it, is within M
      return durably(name, latest(count).lossMax() + unflushedMax);
    }
  }

  /** What is stored now: what is remembered may be of a number that is lost. */
  private CachedCount latest(CachedCount remembered) {
    return stored(remembered.name()).orElse(remembered);
  }

  private Optional<DisplayReading> fromCache(CachedCount found) {
    CachedCount count = found;
    for (int loss = 0; loss < LOSSES_MAX; loss++) {
      if (!count.filled()) {
        return durably(count.name(), count.lossMax()); // no view was counted in it so far
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
        Reason.UNAVAILABLE, "the cache loses " + count.name() + " at once");
  }

  /**
   * What the durable counter tells.
   *
   * @param more how much more it may be
   */
  private Optional<DisplayReading> durably(String name, long more) {
    Optional<Reading> read = counters.read(name);
    if (read.isEmpty() && more > 0) {
      read = Optional.of(Reading.exact(0)); // all views so far may be in the cache
    }
    return read.map(
        each -> new DisplayReading(each.value(), each.low(), each.high() + more, durable.now()));
  }

  /**
   * Carries to the durable counters what they do not have yet: one round of a {@link WriteBack}.
   * Safe to repeat, and to do in several processes.
   *
   * @throws QuipuException if it was not done for all; the next round goes on
   */
  public void writeBack() {
    writeBack(Runnable::run);
  }

  /** The same, several at a time. */
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
        continue; // lost; the next view or reader sees to it
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
        failure = failure == null ? e : failure; // the others move on
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** What the add from this point has added: this one, or another's that was first. */
  private static long added(Add add, AddResult result) {
    return switch (result) {
      case AddResult.Applied applied -> applied.added();
      case AddResult.Replayed replayed -> replayed.added();
      case AddResult.Conflict conflict -> conflict.added();
      case AddResult.Rejected rejected ->
          throw new NotAppliedException(
              Reason.INVALID,
              "the durable counter %s takes no more: %s".formatted(add.counter(), rejected.why()));
    };
  }

  private void moveOn(CachedCount count, long added) {
    if (durable.write(count.nowFlushed(added)) instanceof WriteResult.Applied applied) {
      applied.after().map(CachedCount::of).ifPresent(known::put);
    } else {
      known.forget(count);
    }
  }

  /** The number that is in use, filled, as far as is known. */
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
    throw new NotAppliedException(Reason.THROTTLED, "others keep coming first to " + name);
  }

  /** After a miss: a new number in place of this one, unless somebody has seen to it. */
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

  /** Protocol 3 and 4. Whoever was faster, or whatever came of it, is seen by who loads next. */
  private void begin(String name, @Nullable CachedCount before, long lost) {
    long base = counters.read(name).map(Reading::value).orElse(0L);
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
    return durable.get(CachedCount.key(name), Consistency.STRONG).map(CachedCount::of);
  }

  private static long number(CachedCount count, AtomicOperations.Value cached) {
    return cached
        .number()
        .orElseThrow(() ->
            new NotAppliedException(
                Reason.CORRUPT, "what the cache has for %s is no number".formatted(count.name())));
  }
}
