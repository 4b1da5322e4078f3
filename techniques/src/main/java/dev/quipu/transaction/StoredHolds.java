package dev.quipu.transaction;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Counters;
import dev.quipu.HoldReading;
import dev.quipu.HoldReading.State;
import dev.quipu.HoldRequest;
import dev.quipu.HoldRequest.Excess;
import dev.quipu.HoldRequest.Late;
import dev.quipu.HoldResult;
import dev.quipu.Holds;
import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.Settlement;
import dev.quipu.layer.Backoff;
import dev.quipu.layer.Store;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.CounterItems;
import dev.quipu.technique.IdempotentRetry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds on the counters of a technique that keeps each in one item. Thread-safe. At least one
 * process on the store must run a {@link HoldSweeper}.
 *
 * <pre>{@code
 * HOLDS
 *
 * Problem. An amount is to be reserved now, and its use is known later: a budget for a call whose
 * cost is known when it ends, or seats in a cart. The process that reserved it may die before it
 * settles, every reply may be lost, and a settlement may come too late. Amounts must neither leak
 * nor be returned twice, and no more may be given away than there is.
 *
 * Stored. The numbers of the counters are those of the technique, so adds, transactions and holds
 * combine and keep each other's bounds. A hold takes effect at once: the numbers include it.
 *   transaction/ID, request      the hold: its state, and per counter the delta, the bounds and
 *                                what was kept; its expiry, its policies, the call that placed it
 *                                and the call that changed it last
 *   counter/NAME, value          the number, and in the same item the signed sum and the number of
 *                                the open holds on it
 *   holds/counter/NAME, ID       one entry per counter of each open hold, with its bounds
 *   holds/expiry/BUCKET, TIME/ID one entry per open hold; 16 buckets share the load
 *
 * Protocol. Every step is one batch over the hold, its counters and its entries, which is applied
 * as a whole or not at all.
 *   1. Place: if the id is unused, store the open hold; add to each counter, within its bounds, and
 *      to its sum and number of holds; store the entries. If the id is used, the hold has the same
 *      content (replayed) or another (conflict).
 *   2. Settle, release: read the hold. If it is open, store its new state on condition that nothing
 *      has changed it since; add to each counter what is returned; subtract the hold from the sum
 *      and the number; delete the entries. If it has ended in the same way, the call is a replay;
 *      in another way, the result says how.
 *   3. Extend: as 2, with a new expiry, which replaces the entry by expiry.
 *   4. Expiry: a sweeper in each process scans the entries by expiry every 2 seconds, reads each
 *      hold that is due, and ends it as in 2. A call on a due hold does the same before anything
 *      else.
 *   5. Settle late, if the hold allows it: after the expiry, add what was used within the bounds,
 *      and mark the hold as settled, late.
 *   If the condition on the hold fails, another call was faster: read it again. If the outcome of a
 *   batch is unknown, repeat from the read; the call that is noted in the hold shows whether the
 *   batch was applied.
 *
 * Why it is correct. A hold goes from open to exactly one of settled, released and expired, since
 * each of these batches is conditional on the very version that was read, and versions never recur.
 * What is added to and subtracted from the counters changes in the same batch as the state. So each
 * hold is counted once and returned once, and a counter that was funded with F has, at any moment,
 * F plus what settled holds kept plus what open holds reserve. That condition is also the fence of
 * sweepers: one that was paused for any time, or is one of several, finds another version, and
 * changes nothing. Nothing about a hold is kept in the memory of a process.
 *
 * Crash table. "Repeat" is the same call, by any process.
 *   | fault             | place             | settle, release    | extend        | expiry     |
 *   | before the write  | nothing           | open               | old expiry    | next round |
 *   | request lost      | nothing           | open               | old expiry    | next round |
 *   | reply lost        | held; replayed    | ended; replayed    | extended      | expired    |
 *   | request late      | one copy counts   | one copy counts    | one copy      | one copy   |
 *   | process dies      | nothing, or held  | ended, or open     | old or new    | by another |
 *   |                   | until the expiry  | until the expiry   | expiry        | process    |
 *   | sweeper pauses    | no effect         | close a due hold   | closes a due  | by another |
 *   |                   |                   | first, themselves  | hold first    | one, once  |
 *   | clock jumps ahead | expires early     | late: the policy   | from that time| early, once|
 *   | clock jumps back  | expires late      | in time for longer | from that time| late, once |
 *   | store restarts    | as before the restart, if the store is durable                      |
 *   The clock is that of the store where it has one (PostgreSQL, Redis), otherwise that of each
 *   server. A jump changes when a hold expires, never how often.
 *   A rejection that follows an unknown outcome is itself unknown, since a late copy may still be
 *   applied: repeat, or cancel the id.
 *
 * Cost, for a hold over n counters. Place: one round trip, a batch of 2n + 2 writes. Settle or
 * release: two round trips, a read and a batch of 2n + 2 writes. Extend: a read and a batch of 3.
 * A closed hold leaves one item, which is kept as long as the technique keeps request ids. The
 * balance of a counter reads all its open holds for their bounds, 1,000 in each request. A sweeper
 * makes 16 scans per round: every 2 seconds in a process that has placed or seen a hold, every 16
 * seconds in others.
 *
 * Limits. (B - 2) / 2 counters, where B is the limit of writes in a batch: 49 on DynamoDB, Redis,
 * PostgreSQL and Datastore, 11 on App Engine. The store must have batches over all items and scans.
 * Techniques that keep a counter in several items, and shards and regions, are rejected. A counter
 * with open holds is not deleted; on the engine, one that expires takes with it what holds reserve
 * on it. A set replaces the value, and what holds return is added to the new one. An expired hold
 * whose return would exceed 64 bits stays open until the counter has room: a store logs a warning,
 * the engine extends the hold by a minute. All counters of a hold compete with other writers for
 * their items, like adds.
 *
 * Assumption. All holds on a counter have one sign: negative with a floor, or positive with a
 * ceiling. A hold takes effect at once, so one that adds to a balance can be spent before it is
 * settled, and its release, which has no bounds, may then overdraw.
 * }</pre>
 */
public final class StoredHolds implements Holds {
  private static final Logger LOGGER = LoggerFactory.getLogger(StoredHolds.class);
  private static final int ROUNDS_MAX = 200;
  private static final String EXPIRY = "expiry"; // no id of a call

  private final Store store;
  private final CounterItems counters;
  private final HoldIndex index;
  private final OpenHolds open;
  private final RandomGenerator random;
  private final Optional<Duration> keep;
  private volatile boolean areUsed;

  /**
   * Creates holds on the counters of a store.
   *
   * @throws UnsupportedOperationException if the store or the technique does not support them,
   *     naming those that do
   */
  public StoredHolds(Counters counters, Store store, RandomGenerator random) {
    Support.require("holds", true, counters, store.profile());
    this.store = store;
    this.counters = new CounterItems(store);
    this.index = new HoldIndex(store);
    this.open = new OpenHolds(store, index);
    this.random = random;
    this.keep = Support.retention(counters);
  }

  /** A step of a call: its result, or empty if another call changed the hold first. */
  private interface Step {
    Optional<HoldResult> take(Stored.Held hold, String call);
  }

  // ---- placing

  @Override
  public HoldResult place(HoldRequest request) {
    requireFits(request.adds());
    areUsed = true;
    request.adds().forEach(add -> counters.enlist(add.counter()));
    String call = newCall();
    String options =
        "hold %d %s %s".formatted(request.ttl().toMillis(), request.late(), request.excess());
    String content = Part.digest(request.adds(), options);
    return definite("hold " + request.id(), () -> place(request, content, call));
  }

  private void requireFits(List<Add> adds) {
    int items = store.profile().batchItemsMax();
    int most = (items - 2) / 2;
    if (adds.size() > most) {
      throw new IllegalArgumentException(
          ("adds has %d entries; a hold on store %s may have %d, since each takes two of the %d"
                  + " items of a batch")
              .formatted(adds.size(), store.profile().name(), most, items));
    }
    for (Add add : adds) {
      if (add.delta() == Long.MIN_VALUE) {
        throw new IllegalArgumentException(
            "delta of %s is %d; a hold must be at least %d, so that it can be returned"
                .formatted(add.counter(), add.delta(), -Long.MAX_VALUE));
      }
    }
  }

  private HoldResult place(HoldRequest request, String content, String call) {
    long expires = store.now().plus(request.ttl()).toEpochMilli();
    Stored.Held hold = Stored.Held.placed(request, content, call, expires);
    List<CounterChange> changes = new ArrayList<>();
    for (Part part : hold.parts()) {
      changes.add(new CounterChange(part.counter(), part.delta(), part.bounds(), part.delta(), 1));
    }
    List<Write> batch = new ArrayList<>();
    batch.add(hold.put(Stored.unused(), Optional.empty()));
    changes.forEach(change -> batch.add(change.write()));
    HoldIndex.addTo(batch, hold);
    return switch (store.writeAll(batch, null)) {
      case WriteResult.Applied applied -> done(hold, false);
      case WriteResult.ConditionFailed failed when isOf(hold, failed) ->
          known(Stored.of(hold.id(), failed.found().orElseThrow()), content, call);
      case WriteResult.ConditionFailed failed -> rejected(changes, failed);
    };
  }

  private HoldResult known(Stored stored, String content, String call) {
    return switch (stored) {
      case Stored.Canceled canceled ->
          new HoldResult.Rejected("", Rejection.CANCELED, OptionalLong.empty());
      case Stored.Held hold when hold.content().equals(content) ->
          repeated(latest(hold.id()).orElse(hold), call);
      case Stored.Held other -> new HoldResult.Conflict();
      case Stored.Committed committed -> new HoldResult.Conflict();
    };
  }

  /** Returns the result of a repeat: a replay, unless this call placed the hold, which is open. */
  private static HoldResult repeated(Stored.Held hold, String call) {
    return done(hold, !hold.isOpen() || !hold.call().equals(call));
  }

  // ---- ending and extending

  @Override
  public HoldResult settle(RequestId id, Settlement settlement) {
    return change("settlement", id, (hold, call) -> settle(hold, settlement, call));
  }

  private Optional<HoldResult> settle(Stored.Held hold, Settlement settlement, String call) {
    long[] kept = settlement.deltasFor(hold.reading());
    if (hold.state() == State.SETTLED && hold.kept(kept)) {
      return Optional.of(done(hold, true));
    }
    boolean isLate = hold.state() == State.EXPIRED && hold.late() == Late.APPLY;
    if (!hold.isOpen() && !isLate) {
      return Optional.of(new HoldResult.Closed(hold.reading()));
    }
    for (int i = 0; i < kept.length && hold.excess() == Excess.REJECT; i++) {
      Part part = hold.parts().get(i);
      if (Settlement.exceeds(kept[i], part.delta())) {
        return Optional.of(new HoldResult.Exceeded(part.counter(), part.delta()));
      }
    }
    return end(hold, State.SETTLED, kept, call);
  }

  @Override
  public HoldResult release(RequestId id) {
    return change("release", id, this::release);
  }

  private Optional<HoldResult> release(Stored.Held hold, String call) {
    if (hold.state() == State.RELEASED) {
      return Optional.of(done(hold, true));
    }
    return hold.isOpen()
        ? end(hold, State.RELEASED, new long[hold.parts().size()], call)
        : Optional.of(new HoldResult.Closed(hold.reading()));
  }

  @Override
  public HoldResult extend(RequestId id, Duration ttl) {
    HoldRequest.checkTtl(ttl);
    return change("extension", id, (hold, call) -> extend(hold, ttl, call));
  }

  private Optional<HoldResult> extend(Stored.Held hold, Duration ttl, String call) {
    if (!hold.isOpen()) {
      return Optional.of(new HoldResult.Closed(hold.reading()));
    }
    Stored.Held next = hold.extended(store.now().plus(ttl).toEpochMilli(), call);
    List<Write> batch = new ArrayList<>();
    batch.add(next.put(hold.unchanged(), Optional.empty()));
    if (next.expiresMillis() != hold.expiresMillis()) {
      HoldIndex.removeExpiry(batch, hold);
      HoldIndex.addExpiry(batch, next);
    }
    return switch (store.writeAll(batch, null)) {
      case WriteResult.Applied applied -> Optional.of(done(next, false));
      case WriteResult.ConditionFailed failed -> Optional.empty();
    };
  }

  /** Makes a call until it has a result; the hold is never due when it is passed to the step. */
  private HoldResult change(String what, RequestId id, Step step) {
    String call = newCall();
    return definite(
        what + " of hold " + id,
        () -> {
          for (int done = 0; done < ROUNDS_MAX; done++) {
            Optional<Stored.Held> found = latest(id);
            if (found.isEmpty()) {
              return new HoldResult.NotFound();
            }
            Stored.Held hold = found.get();
            Optional<HoldResult> result =
                hold.changedBy().equals(call) // by an earlier attempt
                    ? Optional.of(done(hold, false))
                    : step.take(hold, call);
            if (result.isPresent()) {
              return result.get();
            }
            Backoff.pause(store.clock(), random, done);
          }
          throw contended(id);
        });
  }

  /**
   * Ends an open hold, or settles an expired one.
   *
   * @param kept what stays added, by counter
   * @return empty if another call changed the hold first
   */
  private Optional<HoldResult> end(Stored.Held hold, State state, long[] kept, String call) {
    List<Part> parts = new ArrayList<>();
    List<CounterChange> changes = new ArrayList<>();
    for (int i = 0; i < kept.length; i++) {
      Part part = hold.parts().get(i);
      parts.add(part.withResult(kept[i]));
      long delta = hold.isOpen() ? kept[i] - part.delta() : kept[i];
      // What is returned may pass the bounds of the hold: it was there before.
      boolean isTaken = delta != 0 && (delta < 0) == (part.delta() < 0);
      Bounds bounds = isTaken ? part.bounds() : Bounds.none();
      CounterChange change =
          hold.isOpen()
              ? new CounterChange(part.counter(), delta, bounds, -part.delta(), -1)
              : new CounterChange(part.counter(), delta, bounds, 0, 0);
      if (!change.isNone()) {
        changes.add(change);
      }
    }
    Stored.Held ended = hold.ended(state, parts, call);
    List<Write> batch = new ArrayList<>();
    batch.add(ended.put(hold.unchanged(), keep.map(time -> store.now().plus(time))));
    changes.forEach(change -> batch.add(change.write()));
    if (hold.isOpen()) {
      HoldIndex.removeFrom(batch, hold);
    }
    return switch (store.writeAll(batch, null)) {
      case WriteResult.Applied applied -> Optional.of(done(ended, false));
      case WriteResult.ConditionFailed failed when isOf(hold, failed) -> Optional.empty();
      case WriteResult.ConditionFailed failed -> Optional.of(rejected(changes, failed));
    };
  }

  // ---- expiry

  /**
   * Releases all holds whose time to live has ended. Any number of processes may do so at the same
   * time: each hold is released once.
   *
   * @return the number of holds that this call released
   */
  public long releaseExpired() {
    return releaseExpired(0, 1);
  }

  /**
   * Releases one of several parts of these holds. The parts may be released in parallel; several
   * processes begin at different places, so that they do not compete for the same holds.
   *
   * @param part 0 to {@code parts} - 1
   */
  long releaseExpired(int part, int parts) {
    int buckets = HoldIndex.BUCKETS / parts;
    int first = random.nextInt(buckets);
    long released = 0;
    for (int i = 0; i < buckets; i++) {
      released += releaseExpired(part + parts * ((first + i) % buckets));
    }
    return released;
  }

  private long releaseExpired(int bucket) {
    long[] released = {0};
    index.forEachDue(
        bucket,
        store.now(),
        id -> {
          areUsed = true;
          try {
            Optional<Stored.Held> hold = held(id);
            boolean isDue = hold.isPresent() && hold.get().isDue(store.now());
            released[0] += isDue && expire(hold.get()) ? 1 : 0;
          } catch (NotAppliedException e) {
            if (e.reason().isTemporary()) {
              throw e; // the others would fail too
            }
            LOGGER.warn("Expired hold not released; will retry: id={} cause={}", id, e.toString());
          }
        });
    return released[0];
  }

  /** Returns whether a hold was placed or seen here. */
  boolean areUsed() {
    return areUsed;
  }

  /** Releases an expired hold; returns false if another call changed it first. */
  private boolean expire(Stored.Held hold) {
    Optional<HoldResult> result = end(hold, State.EXPIRED, new long[hold.parts().size()], EXPIRY);
    if (result.isPresent() && result.get() instanceof HoldResult.Rejected rejected) {
      throw new NotAppliedException(
          Reason.REJECTED,
          "hold %s has expired, and cannot be returned to %s: %s. Add to this counter first"
              .formatted(hold.id(), rejected.counter(), rejected.why()));
    }
    return result.isPresent();
  }

  /** Returns a hold after its expiry, if that has passed. */
  private Optional<Stored.Held> latest(RequestId id) {
    for (int done = 0; done < ROUNDS_MAX; done++) {
      Optional<Stored.Held> hold = held(id);
      if (hold.isEmpty() || !hold.get().isDue(store.now())) {
        return hold;
      }
      expire(hold.get());
    }
    throw contended(id);
  }

  private Optional<Stored.Held> held(RequestId id) {
    return store.get(Stored.key(id)).flatMap(item -> Stored.held(id, item));
  }

  // ---- reading

  @Override
  public Optional<HoldReading> find(RequestId id) {
    return IdempotentRetry.result(store, "hold " + id, () -> readable(id))
        .map(Stored.Held::reading);
  }

  /** Returns a hold; one that cannot be returned at its expiry is still open. */
  private Optional<Stored.Held> readable(RequestId id) {
    try {
      return latest(id);
    } catch (NotAppliedException e) {
      if (e.reason() != Reason.REJECTED) {
        throw e;
      }
      return held(id);
    }
  }

  @Override
  public List<HoldReading> list(String counter, @Nullable RequestId after, int limit) {
    return open.list(counter, after, limit);
  }

  @Override
  public Optional<Balance> balance(String counter) {
    return open.balance(counter);
  }

  // ---- writes

  private static HoldResult rejected(
      List<CounterChange> changes, WriteResult.ConditionFailed failed) {
    return changes.stream()
        .filter(change -> change.key().equals(failed.key()))
        .findFirst()
        .orElseThrow()
        .rejected(failed.found());
  }

  private static boolean isOf(Stored.Held hold, WriteResult.ConditionFailed failed) {
    return failed.key().equals(Stored.key(hold.id()));
  }

  private static HoldResult.Done done(Stored.Held hold, boolean isReplayed) {
    return new HoldResult.Done(hold.reading(), isReplayed);
  }

  private String newCall() {
    return RequestId.random(random).text();
  }

  /** Returns the first result that stays definite if a lost attempt still arrives. */
  private HoldResult definite(String what, Supplier<HoldResult> once) {
    return IdempotentRetry.result(
        store,
        what,
        once,
        result ->
            result instanceof HoldResult.Rejected rejected && rejected.why() != Rejection.CANCELED);
  }

  private static NotAppliedException contended(RequestId id) {
    return Stored.key(id).contended(ROUNDS_MAX + " attempts");
  }
}
