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
import dev.quipu.store.Key;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * HIT LOG
 *
 * Problem. A store that cannot add, has no transactions, and shows readers what was true a moment
 * ago. And one wants a log of what was counted, with sums that need not look at all of it.
 *
 * Stored.
 *   Each hit is an item of its own, sorted by the time at which it was asked for, and its id. Hits
 *   of 1 are empty items, so that the store counts them; others hold their amount.
 *   A summary: the sum of all hits until a moment (count, end), and of those that have been swept
 *   (base, sweeping).
 *   A request with an id leaves a marker, which says when it was asked for.
 *   A list of the counters that have hits behind their summary.
 *
 * Protocol.
 *   Add:
 *     1. With an id: store the marker, if there is none. There was one: it is the same request, and
 *        its time is the marker's, or another: a conflict.
 *     2. Store the hit, if it is not stored. Unknown outcome: go to 2. It is the same item.
 *     3. If the hit is so old by now that a summary may have passed it, roll up before the answer:
 *        whoever answers, be it a repeat that found the hit stored, since the first may have died.
 *        Store that summary though nothing is new: one that was made before, and is late, is not
 *        stored then.
 *   Read:
 *     1. Read the summary.
 *     2. Sum up the hits behind its end.
 *     3. If that took longer than half of the age at which hits settle, go to 1.
 *     4. Were there many, roll up.
 *   Roll up, for the interval from the last end to the moment at which hits have settled:
 *     1. Read the summary. Delete what it says is being swept.
 *     2. Sum up all hits that are stored, until the new end. With the base, that is the count.
 *     3. Store the summary, if it is still the one that was read, and the new end is later or the
 *        count another. Nothing new: look whether it is still the same.
 *   Sweep:
 *     1. Read the summary. Delete what it says is being swept.
 *     2. Take some of the oldest hits, which no reader looks for and no request can repeat. Store
 *        the summary with their sum in the base and their names in it, if it is still the same.
 *     3. Delete them.
 *   Which hits no reader looks for: each summary that is stored notes the end of the one before,
 *   and a time after that was read, so after it was stored, however long that took. Once the
 *   settled age has passed since, every reader knows that end.
 *   Edit: store the new amount, if the hit is still as it was read. Then go on as in step 3 of an
 *   add.
 *
 * Why it is right. Nobody changes what another writes: a hit is there or not. Count and end change
 * as one, so that of any two summaries each is right by itself, whichever is stored; and one that
 * is later is never replaced by an earlier one. What is stored of the hits is summed up anew each
 * time, so that one which came late, or was edited, is in the next summary. A swept hit is named in
 * the summary until it is gone, so that what else is found is never taken for it.
 *
 * What a reader may see. A strong read sees every hit that was acknowledged before it began. One
 * that nobody waited for, and that came later than the settled age, is found by the next roll up.
 * An eventual read tells the count as it was when the store's consistency window began: that lies
 * in low..high, where high has all hits that were seen, and low only the settled ones; counts that
 * go down the other way around. What came since may be missing from both.
 *
 * Assumptions. Half of the settled age is longer than all of these together: what the clocks of
 * two processes differ by, what a replica is behind, how long a process stands still between a look
 * at its clock and the write that follows, and how late that write is applied. Beyond that, a read
 * may miss hits that were acknowledged until the next roll up finds them, and a hit or an edit
 * whose request is about to be forgotten may be lost or count twice. A hit that nobody waited for
 * may be later than that: it counts from the next roll up on, and is swept, if it comes before its
 * request would be forgotten. Later ones count with the next hit of their counter. Summaries, marks
 * and edits may be as late as they like: they are conditional.
 *
 * Crash table.
 *   | broken off              | stored                   | a repeat                           |
 *   | before the add          | nothing                  | counts once                        |
 *   | between marker and hit  | the marker               | stores the hit: counts once        |
 *   | reply to the hit lost   | the hit                  | the same item: counts once         |
 *   | within a roll up        | the old or new summary   | another roll up does the rest      |
 *   | within a sweep          | some hits, and the names | the next deletes the rest          |
 *   A hit that is delayed for longer than ids are remembered may count again: it has been swept.
 *
 * Cost. One round trip, one write, one item that stays until it is swept; with an id, two. Once in
 * a while, one more to say that the counter waits for a roll up. A read costs three round trips and
 * what lies behind the summary.
 *
 * No bounds: there is no number to check them against.
 *
 * Source. "SimpleDB counters", the easy way.
 */

/** Counts by one item a hit and a summary of the old ones. Thread-safe. */
public final class HitLog implements Technique {
  /** What it needs, promises and costs, with strong reads. */
  public static final TechniqueSpec SPEC = Techniques.HIT_LOG;

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
   * What a roll up did.
   *
   * @param isStored whether a new summary was stored
   * @param late what hits brought that came after their interval had been summarised, or were
   *     edited since
   */
  public record RollUp(boolean isStored, long late) {}

  /**
   * Counts on {@code store} with {@link HitLogOptions#DEFAULT}.
   *
   * @throws IllegalArgumentException if the store lacks what {@link #SPEC} needs
   */
  public HitLog(Store store) {
    this(store, Randomness.secure(), HitLogOptions.DEFAULT);
  }

  /** As {@link #HitLog(Store)}, with the caller's options. */
  public HitLog(Store store, HitLogOptions options) {
    this(store, Randomness.secure(), options);
  }

  /** As {@link #HitLog(Store)}, with the caller's chance and options. */
  public HitLog(Store store, RandomGenerator random, HitLogOptions options) {
    SPEC.requireWorksOn(store.profile());
    this.store = store;
    this.options = options;
    this.spec = options.reads() == Consistency.STRONG ? SPEC : eventual();
    this.random = random;
    this.items = new CounterItems(store);
    this.requests = new Markers(store, REQUEST);
    this.hits = new Hits(store);
    this.summaries = new HitSummaries(store, hits, options);
    this.due = new PendingRollUps(store, options);
    this.writes = new HitWrites(store, summaries, due, options);
  }

  private static TechniqueSpec eventual() {
    return SPEC.promising(Set.of(Guarantee.AT_MOST_ONCE, Guarantee.IDEMPOTENT_WITHIN_WINDOW));
  }

  @Override
  public TechniqueSpec spec() {
    return spec;
  }

  // ---- adds

  /**
   * Adds, once.
   *
   * @throws UnsupportedOperationException if {@code add} has bounds
   */
  @Override
  public AddResult add(Add add) {
    return add(add, now());
  }

  /**
   * Adds what happened earlier, and puts the summary right.
   *
   * @param at when it happened: within the window for which ids are remembered, and not after now
   */
  public AddResult add(Add add, Instant at) {
    long millis = at.toEpochMilli();
    long now = now();
    if (millis < Math.max(0, now - options.window().toMillis()) || millis > now) {
      throw new IllegalArgumentException(
          "at is %s, the limits are %s ago and now".formatted(at, options.window()));
    }
    return add(add, millis);
  }

  private AddResult add(Add add, long millis) {
    if (!add.bounds().isNone()) {
      throw Techniques.keepsNoBounds(SPEC);
    }
    items.enlist(add.counter());
    RequestId id = add.id();
    AddResult applied = new AddResult.Applied(add.delta(), OptionalLong.empty());
    if (id == null) {
      writes.add(add.counter(), millis, RequestId.random(random).bits(), add.delta(), false);
      return applied;
    }
    due.note(add.counter()); // before the marker: who finds that stores the hit
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

  /** There was a marker: of this call, whose reply was lost, or of an earlier one. */
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

  private long settleMillis() {
    return options.settle().toMillis();
  }

  // ---- reads

  @Override
  public Optional<Reading> read(String counter) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    Seen seen = SettledRead.of(store, options.settle(), counter, () -> see(counter));
    if (seen.behind.hits() >= options.hitsMax()) {
      summaries.rollUpNowAndThen(counter);
    }
    boolean isNew = seen.summary.item().isEmpty() && seen.behind.hits() == 0;
    return isNew ? Optional.empty() : Optional.of(reading(counter, seen.summary, seen.behind));
  }

  private record Seen(HitSummary summary, Behind behind) {}

  private Seen see(String counter) {
    HitSummary summary = HitSummary.read(store, counter, options.reads());
    return new Seen(summary, behind(counter, summary.end()));
  }

  /** Hits behind the summary: those that every reader sees by now, and the others. */
  private record Behind(Hits.Sum settled, Hits.Sum recent) {
    long hits() {
      return settled.hits() + recent.hits();
    }
  }

  private Behind behind(String counter, long end) {
    if (options.reads() == Consistency.STRONG) {
      return new Behind(hits.sum(counter, end, Long.MAX_VALUE, options.reads()), Hits.Sum.NONE);
    }
    long border = Math.max(end, now() - settleMillis());
    Hits.Sum settled =
        border == end ? Hits.Sum.NONE : hits.sum(counter, end, border, options.reads());
    return new Behind(settled, hits.sum(counter, border, Long.MAX_VALUE, options.reads()));
  }

  private static Reading reading(String counter, HitSummary summary, Behind behind) {
    long settled = CounterItems.plus(counter, summary.count(), behind.settled.total(counter));
    long low = CounterItems.plus(counter, settled, behind.recent.low());
    long high = CounterItems.plus(counter, settled, behind.recent.high());
    long value = CounterItems.plus(counter, low, behind.recent.high());
    return new Reading(value, low, high);
  }

  @Override
  public CounterPage list(String prefix, String after, int limit) {
    return items.list(prefix, after, limit, this::read);
  }

  /** The hits of {@code (after, until]} that are stored, in order of time. */
  public List<Hit> hits(String counter, Instant after, Instant until) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    TreeMap<String, Long> amounts = new TreeMap<>(Key.ORDER);
    for (Hits.Part part : hits.all(counter, after.toEpochMilli(), until.toEpochMilli())) {
      amounts.merge(part.key().sort(), part.amount(), Long::sum);
    }
    List<Hit> found = new ArrayList<>();
    amounts.forEach((sort, amount) -> {
      int slash = sort.indexOf('/');
      Instant at = Instant.ofEpochMilli(Long.parseLong(sort.substring(0, slash)));
      found.add(new Hit(at, sort.substring(slash + 1), amount));
    });
    return found;
  }

  /**
   * Changes what a stored hit counts, and puts the summary right.
   *
   * @param amount what it counts from now on; 0 takes it out
   * @return false if it is not stored, or so old that it is about to be swept: nothing changed; add
   *     the difference instead
   */
  public boolean edit(String counter, Hit hit, long amount) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    return writes.edit(counter, hit, amount);
  }

  /**
   * What is stored of a counter.
   *
   * @param count what the summary says
   * @param end until when; empty if there is no summary
   * @param swept the part of {@code count} whose hits are no longer stored
   * @param stored hits that are still stored, in the summary or behind it
   * @param behind hits behind the summary
   * @param sumBehind what they count
   */
  public record Stored(
      long count, Optional<Instant> end, long swept, long stored, long behind, long sumBehind) {}

  /** What is stored of a counter, for who wants to understand it. */
  public Stored stored(String counter) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    HitSummary summary = HitSummary.read(store, counter, Consistency.STRONG);
    Hits.Sum behind = hits.sum(counter, summary.end(), Long.MAX_VALUE, Consistency.STRONG);
    Hits.Sum all = hits.sum(counter, -1, Long.MAX_VALUE, Consistency.STRONG);
    Optional<Instant> end =
        summary.item().isEmpty()
            ? Optional.empty()
            : Optional.of(Instant.ofEpochMilli(summary.end()));
    return new Stored(
        summary.count(), end, summary.base(), all.hits(), behind.hits(), behind.total(counter));
  }

  // ---- summaries

  /**
   * Makes a new summary, if there is anything new for it. Any number of processes may do so at
   * once.
   *
   * @throws QuipuException if the outcome is not known; calling again is harmless
   */
  public RollUp rollUp(String counter) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    return summaries.rollUp(counter).orElse(new RollUp(false, 0)); // another did
  }

  /**
   * Deletes hits that are in a summary and whose requests are forgotten. Any number of processes
   * may do so at once.
   *
   * @return how many items this call deleted
   * @throws QuipuException if the outcome is not known; calling again is harmless
   */
  public long sweep(String counter) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    return summaries.sweep(counter);
  }

  /**
   * Rolls up and sweeps every counter that waits for it. What waits is stored, so that it survives
   * a crash of whoever counted.
   *
   * @return how many summaries were stored
   */
  public long rollUpDue() {
    long stored = 0;
    @Nullable QuipuException failure = null;
    for (PendingRollUps.Waiting each : due.waiting()) {
      try {
        stored += rollUpAndSweep(each) ? 1 : 0;
      } catch (QuipuException e) {
        failure = failure == null ? e : failure; // the others need not wait for this one
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
      LOGGER.warn("Counter {} is repaired by {}: hits came late", counter, done.late());
    }
    sweep(counter);
    if (due.isOld(each) && isSwept(counter)) {
      due.forget(each);
    }
    return done.isStored();
  }

  /** Whether there is no hit of a counter, nor one that is named as being swept. */
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

  /** A request that left its marker and not its hit counts from now on. */
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
