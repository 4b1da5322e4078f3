package dev.quipu.region;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.CounterPage;
import dev.quipu.Guarantee;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.layer.Backoff;
import dev.quipu.layer.Store;
import dev.quipu.region.RegionRows.Right;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.Cost;
import dev.quipu.technique.CounterItems;
import dev.quipu.technique.IdempotentRetry;
import dev.quipu.technique.Markers;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.time.Randomness;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.random.RandomGenerator;

/*
 * COUNTERS OVER REGIONS
 *
 * Problem. A table has a replica in each region, and of two writes to one item the later wins
 * everywhere: a number that two regions add to loses one of the adds. And a floor or a ceiling
 * cannot be checked without asking all regions, which may be cut off from each other.
 *
 * Stored. Each region writes items of its own, and writes them in its own replica alone, so no
 * write ever meets another. In counter/NAME#region-REGION:
 *   cell/K     K from 0: up and down, all that was ever added here; lower and raise, how far it may
 *              still lower and raise the counter (if there is such a bound); plan, by which it was
 *              made
 *   gave/OTHER lower and raise: all rights that this region ever gave to another
 *   got/OTHER  all of what another gave that is in this region's cells
 *   request/ID what a request added; one for each request that was first sent to this region
 *   left/N     of the retirement N, whose successor this region is: up and down of the region that
 *              was retired, as far as that is known, and the rights that were taken over
 * The counter is the sum of all up less that of all down. The initial regions begin with even
 * shares of the bounds. Sums that only grow have a second field for what 62 bits do not hold.
 *
 * Protocol.
 *   Add, in the region that the request's id begins with: from there, or from another region that a
 *   repeat was sent to, which writes to that region's replica directly.
 *     1. In one batch: store the marker of the request if there is none; in one cell, add to up (or
 *        down), take as many rights to raise (or lower) and add as many of the other kind.
 *     2. The marker was there: it counted before, or it is canceled, or it is another request.
 *     3. The cell has too few rights: take them from the other cells of the region, in the batch of
 *        step 1; each gives half of what it has, and all it has where that is not enough.
 *     4. The region has too few: look at all regions, twice.
 *        a. Rights are under way to this region: add them to cell 0 and to got, in one batch.
 *        b. Others have enough: from the one with most, take from its cells and add to its gave, in
 *           one batch in its replica. Go to 4a.
 *        c. Nobody has enough, and all answered, and nothing moved between the looks: rejected.
 *        d. The same, but some region is silent: rejected, as held elsewhere.
 *   Read: look at all regions twice. If nothing moved, that is the value. What moved is the width
 *   of low..high. With silent regions: the counter is above its floor by all rights to lower it,
 *   and those that the others hold are unused; the ceiling likewise.
 *   Cancel, ask: the marker, in the region that the id begins with.
 *   Before anything is counted, all regions agree on a plan: the initial regions, and the bounds.
 *
 * Why it is right. Rights to lower are always as many as the counter is above its floor, in cells
 * and under way: every add and every transfer keeps that, in one batch. No region uses rights that
 * it does not have in its own replica, where batches are atomic and reads strong. What has come to
 * it of other regions may be old: it decides nothing but whom to ask. A transfer is known by two
 * sums that only grow, so it lands once, however often it is tried. A request has one region, where
 * it has one marker.
 *
 * Crash table.
 *   | broken off after      | stored                  | then                                      |
 *   | the add's reply lost  | marker and cell         | a repeat, in any region, finds it         |
 *   | gave                  | rights are under way    | whoever looks next in that region takes   |
 *   |                       |                         | them; for another, when it lacks rights   |
 *   | a region is cut off   | its rights are its own  | it goes on; others without that share     |
 *   | a region is lost      | its rights are frozen   | its lease runs out, then it is retired    |
 *   | a successor is lost   | left/N, or not          | it is retired too, and the next one takes |
 *   |                       |                         | over what both had                        |
 *   | a replica is set back | old rights: too many    | its beat is behind: within 3 beats nobody |
 *   |                       |                         | counts there, and no reading is certain;  |
 *   |                       |                         | it comes back under another name. What it |
 *   |                       |                         | used or gave twice until then may exceed  |
 *   |                       |                         | the bounds, by no more rights than the    |
 *   |                       |                         | backup had and others gave it since       |
 *
 * Retirement. Which regions are retired, in what order and with which successors, is decided by
 * votes of the replicas that are left (RegionRetirements). Then, of each counter, by any process of
 * any region, again and again until it is done:
 *   1. Close all transfers with retired regions, in the replicas of those who are left: what is on
 *      its way was made for another state of these items.
 *   2. Bar earlier successors who have not taken over: the last one will do it for them.
 *   3. Add up what all retired regions have left: their shares, what their adds left as far as
 *      those have come to anybody, what the others gave them, less what those got of them, less
 *      what was taken over before. If that is less than nothing, they had counted that much more.
 *   4. In one batch in the successor's replica: store left/N if there is none; add the rights to
 *      its cell 0. So rights are again as many as the recorded sum is above the floor.
 * What a retired region counted and never sent is forgotten: bounds hold for what is recorded, and
 * what was forgotten may exceed them. So no reading is certain after a retirement, until an
 * operator states that nothing is missing, or has corrected what is. A request of a retired region
 * is answered by its marker, if that came to anybody; if not, its outcome is unknown, since the
 * cell that has it may have come without it.
 *
 * Cost. One round trip, two writes, one item that stays. When rights run short, two looks at all
 * regions and one batch in each of two; one that is rejected, two looks. A read: two looks.
 *
 * Sources. "Implement resource counters with Amazon DynamoDB", global tables; P. O'Neil, "The
 * Escrow Transactional Method", 1986; V. Balegas and others, "Extending Eventually Consistent Cloud
 * Databases for Enforcing Numeric Invariants", 2015.
 */

/** Counters that several regions write, each in its own replica, within bounds. Thread-safe. */
public final class RegionalCounters implements Technique {
  /** What it needs of each replica, promises and costs. */
  public static final TechniqueSpec SPEC =
      new TechniqueSpec(
          "regional",
          "Each region counts in items of its own, within rights that it was given.",
          "a repeat under its id counts once, in whatever region, and is answered as a repeat",
          Set.of(
              Capability.STRONG_READ,
              Capability.NATIVE_UPDATE,
              Capability.ATOMIC_BATCH,
              Capability.ORDERED_SCAN),
          Atomicity.PARTITION,
          Set.of(Guarantee.AT_MOST_ONCE, Guarantee.IDEMPOTENT, Guarantee.BOUNDED),
          new Cost(1, 2, 1),
          new Cost(2, 0, 0),
          "Implement resource counters with Amazon DynamoDB, global tables");

  private static final int ROUNDS_MAX = 100;
  private static final OptionalLong NO_VALUE = OptionalLong.empty();

  /**
   * What a successor took over of retired regions, on one counter.
   *
   * @param counted what they had added, as far as that is known
   * @param lower rights to lower the counter, which the successor now has; 0 if there is no floor
   * @param raise rights to raise it; 0 if there is no ceiling
   */
  public record TakenOver(long counted, long lower, long raise) {}

  private final Regions regions;
  private final RegionOptions options;
  private final RegionLeases leases;
  private final RegionPlan plan;
  private final RegionTransfers transfers;
  private final RegionTransfers.Demand demand = new RegionTransfers.Demand();
  private final RegionTakeOver takeOver;
  private final RegionRequests requests;
  private final CounterItems items;
  private final RandomGenerator random;

  /**
   * Counts in regions.
   *
   * @param leases until when each may count
   * @throws IllegalArgumentException if a replica lacks what {@link #SPEC} needs
   */
  public RegionalCounters(Regions regions, RegionOptions options, RegionLeases leases) {
    this(regions, options, leases, Randomness.secure());
  }

  /** Counts in regions, with a source of randomness. */
  public RegionalCounters(
      Regions regions, RegionOptions options, RegionLeases leases, RandomGenerator random) {
    for (String region : regions.names()) {
      SPEC.requireWorksOn(regions.replica(region).profile());
    }
    int most = regions.here().profile().batchItemsMax() - 1;
    if (options.cells() > most) {
      throw new IllegalArgumentException(
          "cells is %d, and a batch of store %s has no room for more than %d"
              .formatted(options.cells(), regions.here().profile().name(), most));
    }
    this.regions = regions;
    this.options = options;
    this.leases = leases;
    this.plan = new RegionPlan(regions.initial(), options.bounds());
    leases.countBy(plan);
    this.transfers = new RegionTransfers(regions, leases, plan);
    this.takeOver = new RegionTakeOver(regions, leases, plan);
    this.requests = new RegionRequests(regions, leases);
    this.items = new CounterItems(regions.here());
    this.random = random;
  }

  @Override
  public Bounds bounds() {
    return options.bounds();
  }

  @Override
  public TechniqueSpec spec() {
    return SPEC;
  }

  /**
   * Adds, once. The answer has no value: no region knows the sum.
   *
   * @throws IllegalArgumentException if the id does not begin with a region
   * @throws UnsupportedOperationException if {@code add} has other bounds than the counters
   * @throws QuipuException if the region that the id begins with does not answer; with an unknown
   *     outcome if that region was retired and it is not known whether it had counted the request:
   *     it never counts after that
   */
  @Override
  public AddResult add(Add add) {
    if (!add.bounds().isNone() && !add.bounds().equals(options.bounds())) {
      throw new UnsupportedOperationException(
          "these regions keep within %d to %d, and no other bounds"
              .formatted(options.bounds().floor(), options.bounds().ceiling()));
    }
    RequestId given = add.id();
    RequestId id = given == null ? regions.id(RequestId.random(random).text()) : given;
    String home = requests.home(add.counter(), id);
    Optional<Item> known = requests.known(add.counter(), id);
    if (known.isPresent()) {
      return Markers.answer(add, known.get(), "");
    }
    leases.requireMayActFor(home);
    leases.requireAgreed();
    items.enlist(add.counter());
    Request request = request(add, home, id);
    AddResult result =
        IdempotentRetry.answer(regions.here(), "request " + id, () -> addIn(home, request));
    if (result instanceof AddResult.Applied) {
      leases.requireStillActsFor(home);
      if (home.equals(regions.own())) {
        demand.used(key(add.counter(), Right.of(add.delta())), need(add));
      }
    }
    return result;
  }

  private static String key(String counter, Right right) {
    return right.field() + " " + counter;
  }

  /**
   * An add on its way.
   *
   * @param call tells this call's own lost write from an earlier call's
   */
  private record Request(Add add, Write marker, String call) {}

  private Request request(Add add, String home, RequestId id) {
    String call = RequestId.random(random).text();
    Key key = RegionRows.request(add.counter(), home, id);
    return new Request(add, Markers.put(key, add, call, Map.of(), expiry()), call);
  }

  private Optional<Instant> expiry() {
    return options.keep().map(time -> regions.here().now().plus(time));
  }

  private AddResult addIn(String home, Request request) {
    Add add = request.add;
    Store store = regions.replica(home);
    Right right = Right.of(add.delta());
    boolean isBounded = right.atZero(options.bounds()).isPresent();
    int cell = random.nextInt(options.cells());
    if (add.delta() == Long.MIN_VALUE && !options.bounds().isNone()) {
      return new AddResult.Rejected(Rejection.OVERFLOW); // as many rights have no 64 bits
    }
    for (int round = 0; round < ROUNDS_MAX; round++) {
      Write own = change(add, RegionRows.cell(add.counter(), home, cell), 0);
      WriteResult result = store.writeAll(List.of(request.marker, own), null);
      Optional<AddResult> answer = answer(request, result);
      if (answer.isPresent()) {
        return answer.get();
      }
      Optional<Item> found = ((WriteResult.ConditionFailed) result).found();
      if (found.isEmpty()) {
        store.write(plan.founding(add.counter(), home, cell));
        continue;
      }
      Optional<String> other = found.get().text(RegionRows.PLAN);
      if (!other.equals(Optional.of(plan.text()))) {
        throw plan.rejected(home, other.orElse("by no plan"));
      }
      String way = add.delta() < 0 ? RegionRows.DOWN : RegionRows.UP;
      if (RegionRows.isFull(found.get(), way, Math.abs(add.delta()))) {
        store.write(RegionRows.carry(found.get().key(), way));
        continue;
      }
      if (!isBounded || found.get().number(right.field()) >= need(add)) {
        return new AddResult.Rejected(Rejection.OVERFLOW);
      }
      answer = addFromAllCells(store, home, request, cell);
      if (answer.isPresent()) {
        return answer.get();
      }
      Optional<AddResult.Rejected> rejected = bring(home, add, right);
      if (rejected.isPresent()) {
        return rejected.get();
      }
      if (round > 3) {
        Backoff.pause(store.clock(), random, round);
      }
    }
    throw new NotAppliedException(
        Reason.THROTTLED,
        "rights of counter %s move faster than %s gets any".formatted(add.counter(), home));
  }

  private static long need(Add add) {
    return add.delta() == Long.MIN_VALUE ? Long.MAX_VALUE : Math.abs(add.delta());
  }

  /** Another round follows one whose outcome is not known: all of it is harmless to repeat. */
  private Optional<AddResult.Rejected> bring(String home, Add add, Right right) {
    String counter = add.counter();
    try {
      long lately = home.equals(regions.own()) ? demand.take(key(counter, right)) : 0;
      return transfers.bring(counter, home, right, need(add), lately);
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.UNKNOWN) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** A definite answer, if there was room or the request was there. */
  private static Optional<AddResult> answer(Request request, WriteResult result) {
    return switch (result) {
      case WriteResult.Applied applied ->
          Optional.of(new AddResult.Applied(request.add.delta(), NO_VALUE));
      case WriteResult.ConditionFailed failed when failed.key().equals(request.marker.key()) ->
          Optional.of(Markers.answer(request.add, failed.found().orElseThrow(), request.call));
      case WriteResult.ConditionFailed failed -> Optional.empty();
    };
  }

  /** The change of one cell: what is added, and rights from other cells. */
  private Write change(Add add, Key cell, long fromOthers) {
    long size = add.delta();
    List<Change> changes = new ArrayList<>();
    List<Condition> conditions = new ArrayList<>(List.of(plan.isFounded()));
    changes.addAll(RegionRows.plus(size < 0 ? RegionRows.DOWN : RegionRows.UP, Math.abs(size)));
    for (Right right : Right.values()) {
      if (right.atZero(options.bounds()).isPresent()) {
        long more = right == Right.LOWER ? size : -size;
        if (right == Right.of(size)) {
          more += fromOthers;
        }
        changes.add(new Change.Add(right.field(), more));
        conditions.add(new Condition.Within(right.field(), 0, Long.MAX_VALUE));
      }
    }
    return new Write.Update(cell, changes, new Condition.All(conditions));
  }

  /** Step 3; empty if all cells together have too few, or have changed meanwhile. */
  private Optional<AddResult> addFromAllCells(Store store, String home, Request request, int cell) {
    Add add = request.add;
    Right right = Right.of(add.delta());
    RegionRows rows = RegionRows.read(store, add.counter(), home);
    if (rows.rights(right) < need(add)) {
      return Optional.empty();
    }
    Key own = RegionRows.cell(add.counter(), home, cell);
    long missing =
        need(add) - rows.item(own.sort()).map(item -> item.number(right.field())).orElse(0L);
    List<Write> batch = new ArrayList<>(List.of(request.marker));
    long moved = 0;
    for (Item other : rows.richestFirst(right)) {
      long has = other.number(right.field());
      if (!other.key().equals(own) && has > 0 && moved < missing) {
        long part = Math.min(has, Math.max(missing - moved, has / 2));
        batch.add(RegionTransfers.less(other.key(), right, part));
        moved += part;
      }
    }
    if (moved < missing) {
      return Optional.empty();
    }
    batch.add(change(add, own, moved));
    return answer(request, store.writeAll(batch, null));
  }

  /**
   * Returns the value, and between what it lies: exact when all regions answer and nothing is added
   * meanwhile. After a retirement nothing is certain until {@link #acceptLoss}, and after a replica
   * was restored from a backup nothing is until that region is retired and its loss accepted.
   */
  @Override
  public Optional<Reading> read(String counter) {
    Regions.checkCounter(counter);
    RegionView view = RegionView.of(regions, leases, counter);
    return view.isEmpty() ? Optional.empty() : Optional.of(view.reading(options.bounds()));
  }

  @Override
  public CounterPage list(String prefix, String after, int limit) {
    return items.list(prefix, after, limit, this::read);
  }

  /**
   * What became of a request, in whatever region.
   *
   * @throws QuipuException if the region that its id begins with does not answer, and nothing has
   *     come from there
   */
  @Override
  public RequestOutcome outcome(String counter, RequestId id) {
    String home = requests.home(counter, id);
    return requests
        .known(counter, id)
        .or(() -> requests.in(home, counter, id))
        .map(Markers::outcome)
        .orElse(new RequestOutcome.NotSeen());
  }

  @Override
  public RequestOutcome cancel(String counter, RequestId id) {
    String home = requests.home(counter, id);
    RequestOutcome known = outcome(counter, id);
    if (!(known instanceof RequestOutcome.NotSeen)) {
      return known;
    }
    leases.requireMayActFor(home);
    RequestOutcome canceled =
        Markers.cancel(regions.replica(home), RegionRows.request(counter, home, id), expiry());
    leases.requireStillActsFor(home);
    return canceled;
  }

  /**
   * Retires a region that is lost, with the own region as its successor: its lease has run out, and
   * most of the regions that are left agree. What it counted and never sent is forgotten, so that
   * bounds hold for what is recorded, and may be exceeded by what was forgotten. Safe to repeat, in
   * any region, and to be repeated until it ends well: if a successor is lost before it is done,
   * retire that region too.
   *
   * @return for each counter, what the last successor took over
   * @throws IllegalStateException if the region must not be retired, or too few regions agree
   * @throws QuipuException if a region that is left does not answer
   */
  public Map<String, TakenOver> retire(String region) {
    return retire(region, Set.of());
  }

  /**
   * Retires a region as {@link #retire(String)} does, where too many regions are lost for most to
   * agree. If one of those that are said to be destroyed is not, and retires this region likewise,
   * both go on counting without the other: bounds are broken, and one of the two has to be given
   * up.
   *
   * @param destroyed regions whose replicas the caller states to be gone for ever; they need not
   *     agree
   */
  public Map<String, TakenOver> retire(String region, Set<String> destroyed) {
    regions.replica(region); // it must be one
    leases.retire(region, destroyed);
    return takeOver.takeOverAll();
  }

  /**
   * States that what is known of a retired region is all that it counted, or that counters have
   * been corrected since: readings are certain again, as far as it is concerned.
   *
   * @throws IllegalArgumentException if there is no such region
   * @throws IllegalStateException if the region is not retired
   * @throws QuipuException if a region that is left does not answer
   */
  public void acceptLoss(String region) {
    regions.replica(region); // it must be one
    leases.requireRetired(region);
    takeOver.takeOverAll();
    leases.accept(region);
  }
}
