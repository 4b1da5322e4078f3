package dev.quipu.hits;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.Guarantee;
import dev.quipu.Limits;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.layer.Store;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.CounterItems;
import dev.quipu.technique.IdempotentRetry;
import dev.quipu.technique.Markers;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.time.Randomness;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores one item per hit, and a summary of the older hits. Thread-safe.
 *
 * <pre>{@code
 * HIT LOG
 *
 * Problem. The store has neither atomic adds nor transactions, and returns stale reads. In
 * addition, a log of all adds is wanted, with sums that do not require reading all of it.
 *
 * Stored.
 *   Each hit is an item, sorted by the time at which it was requested, and its id. Hits of 1 are
 *   empty items, so that the store can count them; others hold their amount.
 *   A summary holds the sum of all hits until a moment (count, end), and of those that have been
 *   swept (base, sweeping).
 *   A request with an id leaves a marker with the time at which it was requested.
 *   A list names the counters that may have hits to be rolled up or swept.
 *
 * Protocol.
 *   Add:
 *     1. If the request has an id, store the marker, if it does not exist. If it exists, it
 *        describes either the same request, and then the time of the marker is used, or a different
 *        one, which is a conflict.
 *     2. Store the hit, if it is not stored. If the outcome is unknown, repeat this step. It is the
 *        same item.
 *     3. If the hit is so old by now that a summary may have passed it, roll up before replying.
 *        The same applies to a repeat that found the hit stored, since the first attempt may have
 *        crashed. Store that summary even if it is unchanged, so that an earlier one that is
 *        delayed fails.
 *   Read:
 *     1. Read the summary.
 *     2. Sum up the hits after its end.
 *     3. If that took longer than half the settle time, go to 1.
 *     4. If there were many hits, roll up.
 *   Roll up, for the interval from the last end to the moment until which hits have settled:
 *     1. Read the summary. Delete the hits that it lists as being swept.
 *     2. Sum up all stored hits until the new end. That sum plus the base is the new count.
 *     3. Store the summary, if the stored one is unchanged, and if the new end is later or the
 *        count differs. If there is nothing new, check that the stored one is still the same.
 *   Sweep:
 *     1. Read the summary. Delete the hits that it lists as being swept.
 *     2. Select some of the oldest hits, which no reader needs and no request can repeat. Store the
 *        summary with their sum in the base and their names in the list, if the stored one is
 *        unchanged.
 *     3. Delete these hits.
 *   Hits that no reader needs are determined as follows: each stored summary holds the end of the
 *   previous one, and a time that was read after that one was stored, however long that took. When
 *   the settle time has passed since that time, every reader knows that end.
 *   Edit: store the new amount, if the hit is unchanged; 0 deletes the hit. Then continue as in
 *     step 3 of an add. A hit that may be swept at any time is edited in the same way; if it is not
 *     stored any more after the roll up, the outcome is unknown.
 *   Add a hit older than the window: store it, in one attempt and without an id. Then roll up.
 *
 * Why it is correct. No process changes the item of another: a hit exists or does not exist. Count
 * and end change together, so each of two summaries is correct by itself, whichever is stored; and
 * a later one is never replaced by an earlier one. The stored hits are summed up again each time,
 * so a hit that arrived late, or was edited, is in the next summary. A swept hit is listed in the
 * summary until it is deleted, so it is not counted again.
 *
 * Visibility. A strong read sees every hit that was acknowledged before the read began. A hit that
 * was not acknowledged, and arrived later than the settle time, is found by the next roll up. An
 * eventual read returns the count as it was when the store's consistency window began: it is in
 * low..high, where high includes all hits that were seen, and low only the settled ones; for
 * negative amounts it is the other way around. Later hits may be missing from both.
 *
 * Assumptions. Half the settle time exceeds the sum of the following: the clock difference between
 * two processes, the lag of a replica, the longest pause of a process between reading its clock and
 * the write that follows, and the delay of that write. Otherwise a read may miss acknowledged hits
 * until the next roll up finds them, and a hit or an edit whose request is about to be forgotten
 * may be lost or count twice. A hit that was not acknowledged may arrive later than that: it counts
 * from the next roll up on, and is swept, if it arrives before its request would be forgotten. If
 * it arrives even later, it counts with the next hit of its counter. Summaries, markers and edits
 * may be delayed without limit, since they are conditional.
 *
 * Crash table.
 *   | crash                  | stored                   | a repeat                              |
 *   | before the add         | nothing                  | counts exactly once                   |
 *   | between marker and hit | the marker               | stores the hit: counts exactly once   |
 *   | reply to the hit lost  | the hit                  | is the same item: counts exactly once |
 *   | within a roll up       | the old or new summary   | another roll up continues             |
 *   | within a sweep         | some hits, and the names | the next sweep deletes the rest       |
 *   | after an edit's write  | the new amount           | or any roll up corrects the summary   |
 *   A hit that is delayed for longer than ids are remembered may count again, since the first copy
 *   may have been swept.
 *
 * Cost. An add takes one round trip and one write, and leaves one item until it is swept; an add
 * with an id takes two of each. From time to time, one more write records that the counter needs a
 * roll up. A read takes three round trips, and reads the hits after the summary.
 *
 * Bounds are not supported, since no item holds the current value.
 *
 * Source. "SimpleDB counters", the easy way.
 * }</pre>
 */
public final class HitLog implements Technique {
  /** Its requirements, guarantees and costs, with strong reads. */
  public static final TechniqueSpec SPEC = Techniques.HIT_LOG;

  private static final TechniqueSpec EVENTUAL =
      SPEC.promising(Set.of(Guarantee.AT_MOST_ONCE, Guarantee.IDEMPOTENT_WITHIN_WINDOW));
  private static final Logger LOGGER = LoggerFactory.getLogger(HitLog.class);
  private static final String REQUEST = "request/";
  private static final String AT = "at";

  private final Store store;
  private final HitLogOptions options;
  private final TechniqueSpec spec;
  private final RandomGenerator random;
  private final CounterItems items;
  private final Markers requests;
  private final Hits hits;
  private final HitSummaries summaries;
  private final PendingRollUps due;
  private final HitWrites writes;

  /**
   * One hit.
   *
   * @param id of its request, in hexadecimal
   */
  public record Hit(Instant at, String id, long amount) {}

  /**
   * The result of a roll up.
   *
   * @param isStored whether a new summary was stored
   * @param late the amount of hits that arrived after their interval had been summarized, or were
   *     edited since
   */
  public record RollUp(boolean isStored, long late) {}

  /**
   * Creates the technique on {@code store} with {@link HitLogOptions#DEFAULT}.
   *
   * @throws IllegalArgumentException if the store lacks a capability that {@link #SPEC} requires
   */
  public HitLog(Store store) {
    this(store, Randomness.secure(), HitLogOptions.DEFAULT);
  }

  /** Creates the technique with the given options. */
  public HitLog(Store store, HitLogOptions options) {
    this(store, Randomness.secure(), options);
  }

  /** Creates the technique with the given options and source of randomness. */
  public HitLog(Store store, RandomGenerator random, HitLogOptions options) {
    SPEC.requireWorksOn(store.profile());
    this.store = store;
    this.options = options;
    this.spec = options.reads() == Consistency.STRONG ? SPEC : EVENTUAL;
    this.random = random;
    this.items = new CounterItems(store);
    this.requests = new Markers(store, REQUEST);
    this.hits = new Hits(store);
    this.summaries = new HitSummaries(store, hits, options);
    this.due = new PendingRollUps(store, options);
    this.writes = new HitWrites(store, summaries, due, options);
  }

  @Override
  public TechniqueSpec spec() {
    return spec;
  }

  // ---- adds

  /**
   * Adds exactly once.
   *
   * @throws UnsupportedOperationException if {@code add} has bounds
   */
  @Override
  public AddResult add(Add add) {
    return add(add, now());
  }

  /**
   * Adds a hit of the past, and corrects the summary.
   *
   * @param at when it happened, not in the future; with a request id, within the window for which
   *     ids are remembered
   */
  public AddResult add(Add add, Instant at) {
    long millis = at.toEpochMilli();
    long now = now();
    boolean isOld = millis < Math.max(0, now - options.window().toMillis());
    if (millis < 0 || millis > now || (isOld && add.id() != null)) {
      throw new IllegalArgumentException(
          "at is %s; it must be from %s ago to now, or in the past without a request id"
              .formatted(at, Limits.text(options.window())));
    }
    if (!isOld) {
      return add(add, millis);
    }
    checkBounds(add);
    items.enlist(add.counter());
    writes.insertOnce(add.counter(), millis, RequestId.random(random).bits(), add.delta());
    return new AddResult.Applied(add.delta(), OptionalLong.empty());
  }

  private static void checkBounds(Add add) {
    if (!add.bounds().isNone()) {
      throw Techniques.keepsNoBounds(SPEC);
    }
  }

  private AddResult add(Add add, long millis) {
    checkBounds(add);
    items.enlist(add.counter());
    RequestId id = add.id();
    AddResult applied = new AddResult.Applied(add.delta(), OptionalLong.empty());
    if (id == null) {
      writes.add(add.counter(), millis, RequestId.random(random).bits(), add.delta(), false);
      return applied;
    }
    due.note(add.counter()); // before the marker: a process that finds it stores the hit
    String call = Long.toHexString(random.nextLong());
    Instant forgotten = Instant.ofEpochMilli(millis).plus(options.window());
    Write marker =
        requests.put(add, id, call, Map.of(AT, new Field.Number(millis)), Optional.of(forgotten));
    WriteResult claimed = IdempotentRetry.result(store, "request " + id, () -> store.write(marker));
    return switch (claimed) {
      case WriteResult.Applied mine -> {
        writes.add(add.counter(), millis, id.bits(), add.delta(), true);
        yield applied;
      }
      case WriteResult.ConditionFailed failed -> known(add, id, failed.found().orElseThrow(), call);
    };
  }

  /** Handles an existing marker: of this call, whose reply was lost, or of an earlier one. */
  private AddResult known(Add add, RequestId id, Item marker, String call) {
    AddResult known = Markers.answer(add, marker, call);
    if (known instanceof AddResult.Applied || known instanceof AddResult.Replayed) {
      writes.finish(add.counter(), marker.number(AT), id.bits(), add.delta());
    }
    return known;
  }

  private long now() {
    return Hits.now(store);
  }

  // ---- reads

  @Override
  public Optional<Reading> read(String counter) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    Seen seen = SettledRead.of(store, options.settle(), counter, () -> see(counter));
    if (seen.later.hits() >= options.hitsMax()) {
      summaries.rollUpNowAndThen(counter);
    }
    boolean isNew = seen.summary.item().isEmpty() && seen.later.hits() == 0;
    return isNew ? Optional.empty() : Optional.of(reading(counter, seen.summary, seen.later));
  }

  private record Seen(HitSummary summary, Later later) {}

  private Seen see(String counter) {
    HitSummary summary = HitSummary.read(store, counter, options.reads());
    return new Seen(summary, later(counter, summary.end()));
  }

  /** The hits after the summary: settled ones, which every reader sees by now, and recent ones. */
  private record Later(Hits.Sum settled, Hits.Sum recent) {
    long hits() {
      return settled.hits() + recent.hits();
    }
  }

  private Later later(String counter, long end) {
    if (options.reads() == Consistency.STRONG) {
      return new Later(hits.sum(counter, end, Long.MAX_VALUE, options.reads()), Hits.Sum.NONE);
    }
    long border = Math.max(end, now() - options.settle().toMillis());
    Hits.Sum settled =
        border == end ? Hits.Sum.NONE : hits.sum(counter, end, border, options.reads());
    return new Later(settled, hits.sum(counter, border, Long.MAX_VALUE, options.reads()));
  }

  private static Reading reading(String counter, HitSummary summary, Later later) {
    long settled = CounterItems.plus(counter, summary.count(), later.settled.total(counter));
    long low = CounterItems.plus(counter, settled, later.recent.low());
    long high = CounterItems.plus(counter, settled, later.recent.high());
    long value = CounterItems.plus(counter, low, later.recent.high());
    return new Reading(value, low, high);
  }

  @Override
  public CounterPage list(String prefix, String after, int limit) {
    return items.list(prefix, after, limit, this::read);
  }

  /** Returns the stored hits of {@code (after, until]}, ordered by time. */
  public List<Hit> hits(String counter, Instant after, Instant until) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    return Hits.merged(hits.all(counter, after.toEpochMilli(), until.toEpochMilli()));
  }

  /**
   * Some of the stored hits.
   *
   * @param resumeAt the argument of {@link #page} for the next page; empty on the last
   */
  public record HitPage(List<Hit> hits, Optional<String> resumeAt) {}

  /**
   * Returns a page of the stored hits, ordered by time, without those that were edited to 0.
   *
   * @param from {@link HitPage#resumeAt}, {@link #startAt}, or an empty text for the first page
   * @param limit maximum number of hits, 1 to {@link dev.quipu.store.Scan#ITEMS_MAX}; a page may
   *     have fewer
   */
  public HitPage page(String counter, String from, int limit) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    return hits.page(counter, from, limit);
  }

  /** Returns the argument of {@link #page} for the page that begins at a time. */
  public static String startAt(Instant time) {
    return Hits.sort(Math.max(0, time.toEpochMilli()), "");
  }

  /**
   * Changes the amount of a stored hit, and corrects the summary. A repeat has the same effect, and
   * the next {@link #rollUpDue} of any process corrects the summary if this process crashes.
   *
   * @param amount its new amount; 0 deletes it
   * @return false if it is not stored any more: nothing changed; add the difference instead
   * @throws QuipuException with an unknown outcome, also if it was swept meanwhile
   */
  public boolean edit(String counter, Hit hit, long amount) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    if (amount == Long.MIN_VALUE) { // less 1, as the rest of a hit of 1, it would exceed 64 bits
      throw new IllegalArgumentException(
          "amount is %d; the minimum is %d".formatted(amount, amount + 1));
    }
    return writes.edit(counter, hit, amount);
  }

  /**
   * The stored state of a counter.
   *
   * @param count the count of the summary
   * @param end the end of the summary; empty if there is none
   * @param swept the part of {@code count} whose hits are no longer stored
   * @param stored number of stored hits, before or after the end of the summary
   * @param hitsAfter number of hits after the summary
   * @param sumAfter their sum
   */
  public record Stored(
      long count, Optional<Instant> end, long swept, long stored, long hitsAfter, long sumAfter) {}

  /** Returns the stored state of a counter, for inspection. */
  public Stored stored(String counter) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    HitSummary summary = HitSummary.read(store, counter, Consistency.STRONG);
    Hits.Sum later = hits.sum(counter, summary.end(), Long.MAX_VALUE, Consistency.STRONG);
    Hits.Sum all = hits.sum(counter, -1, Long.MAX_VALUE, Consistency.STRONG);
    Optional<Instant> end =
        summary.item().isEmpty()
            ? Optional.empty()
            : Optional.of(Instant.ofEpochMilli(summary.end()));
    return new Stored(
        summary.count(), end, summary.base(), all.hits(), later.hits(), later.total(counter));
  }

  // ---- summaries

  /**
   * Stores a new summary, if it differs from the last one. Any number of processes may do so
   * concurrently.
   *
   * @throws QuipuException if the outcome is unknown; repeating the call is safe
   */
  public RollUp rollUp(String counter) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    return summaries.rollUp(counter).orElse(new RollUp(false, 0)); // another process did
  }

  /**
   * Deletes hits that are in a summary and whose requests are forgotten. Any number of processes
   * may do so concurrently.
   *
   * @return the number of items that this call deleted
   * @throws QuipuException if the outcome is unknown; repeating the call is safe
   */
  public long sweep(String counter) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    return summaries.sweep(counter);
  }

  /**
   * Rolls up and sweeps every counter that needs it. The list of these counters is stored, so that
   * it survives a crash of the process that counted.
   *
   * @return the number of summaries stored
   */
  public long rollUpDue() {
    long stored = 0;
    @Nullable QuipuException failure = null;
    for (PendingRollUps.Waiting each : due.waiting()) {
      try {
        stored += rollUpAndSweep(each) ? 1 : 0;
      } catch (QuipuException e) {
        failure = failure == null ? e : failure; // the other counters continue
      }
    }
    if (failure != null) {
      throw failure;
    }
    return stored;
  }

  private boolean rollUpAndSweep(PendingRollUps.Waiting each) {
    String counter = each.counter();
    RollUp done = rollUp(counter);
    if (done.late() != 0) {
      LOGGER.warn("Late hits added to summary: counter={} amount={}", counter, done.late());
    }
    sweep(counter);
    if (due.isOld(each) && isSwept(counter)) {
      due.forget(each);
    }
    return done.isStored();
  }

  /** Returns whether a counter has no hits, nor any that are listed as being swept. */
  private boolean isSwept(String counter) {
    return hits.sum(counter, -1, Long.MAX_VALUE, Consistency.STRONG).hits() == 0
        && HitSummary.read(store, counter, Consistency.STRONG).sweeping().isEmpty();
  }

  // ---- requests

  @Override
  public RequestOutcome outcome(String counter, RequestId id) {
    return finished(counter, id, requests.outcome(counter, id));
  }

  @Override
  public RequestOutcome cancel(String counter, RequestId id) {
    Instant forgotten = Instant.ofEpochMilli(now()).plus(options.window());
    return finished(counter, id, requests.cancel(counter, id, Optional.of(forgotten)));
  }

  /** Completes a request that left its marker but not its hit: it counts from now on. */
  private RequestOutcome finished(String counter, RequestId id, RequestOutcome outcome) {
    if (outcome instanceof RequestOutcome.Applied applied) {
      OptionalLong millis = requests.number(counter, id, AT);
      if (millis.isPresent()) {
        writes.finish(counter, millis.getAsLong(), id.bits(), applied.added());
      }
    }
    return outcome;
  }
}
