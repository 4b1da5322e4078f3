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

/**
 * Counters that several regions write, each in its own replica, within bounds. Thread-safe.
 *
 * <pre>{@code
 * COUNTERS OVER REGIONS
 *
 * Problem. A table has a replica in each region, and of two writes to one item the later wins
 * everywhere: a number to which two regions add loses one of the adds. And a floor or a ceiling
 * cannot be checked without contacting all regions, which may be partitioned.
 *
 * Stored. Each region has its own items, and writes them only in its own replica, so no two writes
 * ever conflict. In counter/NAME#region-REGION:
 *   cell/K     K from 0: up and down, the sums of all positive and negative adds here; lower and
 *              raise, how far it may still lower and raise the counter (if there is such a bound);
 *              plan, by which it was made
 *   gave/OTHER lower and raise: all rights that this region ever gave to another
 *   got/OTHER  all rights from another region that were added to this region's cells
 *   request/ID the amount of a request; one for each request that was first sent to this region
 *   left/N     of the retirement N, whose successor this region is: up and down of the retired
 *              region, as far as known, and the rights that were taken over
 * The counter is the sum of all up minus the sum of all down. The initial regions begin with even
 * shares of the bounds. Sums that only grow have a second field for what exceeds 62 bits.
 *
 * Protocol.
 *   Add, in the region that the request's id begins with: from there, or from another region to
 *   which a repeat was sent, which writes directly to that region's replica.
 *     1. In one batch: store the marker of the request if there is none; in one cell, add to up (or
 *        down), take that many rights to raise (or lower) and add as many of the other kind.
 *     2. The marker exists: the request counted before, or is canceled, or is a different request.
 *     3. The cell has too few rights: take them from the other cells of the region, in the batch of
 *        step 1; each gives half of what it has, and all it has where that is not enough.
 *     4. The region has too few: read all regions, twice.
 *        a. Rights are in flight to this region: add them to cell 0 and to got, in one batch.
 *        b. Others have enough: from the one with the most, take from its cells and add to its
 *           gave, in one batch in its replica. Go to 4a.
 *        c. No region has enough, all answered, and nothing changed between the reads: rejected.
 *        d. The same, but some region does not respond: rejected, as held elsewhere.
 *   Read: read all regions twice. If nothing changed, that is the value. The changes determine the
 *   width of low..high. With regions that do not respond: the distance of the counter from its
 *   floor is the sum of all rights to lower it, and those that the others hold are unused; the same
 *   applies to the ceiling.
 *   Cancel, outcome: the marker, in the region that the id begins with.
 *   Before anything is counted, all regions agree on a plan: the initial regions, and the bounds.
 *
 * Why it is correct. The rights to lower, in cells and in flight, always equal the distance of the
 * counter from its floor: every add and every transfer preserves that, in one batch. A region uses
 * only rights in its own replica, where batches are atomic and reads strong. Replicated rows of
 * other regions may be out of date: they only decide which region to contact. A transfer is
 * identified by two sums that only grow, so it is received once, however often it is tried. A
 * request has one region, where it has one marker.
 *
 * Crash table.
 *   | crash after           | stored                  | then                                      |
 *   | the add's reply lost  | marker and cell         | a repeat, in any region, finds it         |
 *   | gave                  | rights are in flight    | the next process that reads them in that  |
 *   |                       |                         | region adds them; another region does so  |
 *   |                       |                         | when it lacks rights                      |
 *   | a region is cut off   | its rights are its own  | it continues; others without that share   |
 *   | a region is lost      | its rights are frozen   | its lease ends, then it is retired        |
 *   | a successor is lost   | left/N, or not          | it is retired too, and the next one takes |
 *   |                       |                         | over the rights of both                   |
 *   | a replica is restored | old rights, and an old  | within 3 beats it stops; no reading is    |
 *   | from a backup         | beat                    | certain; it returns under another name.   |
 *   |                       |                         | Until then it may exceed the bounds, by   |
 *   |                       |                         | the rights of the backup and those that   |
 *   |                       |                         | others gave it since                      |
 *
 * Retirement. Which regions are retired, in what order and with which successors, is decided by
 * votes of the remaining replicas (RegionRetirements). Then, for each counter, by any process of
 * any region, repeated until it is done:
 *   1. Close all transfers with retired regions, in the replicas of the remaining ones: transfers
 *      in flight are conditional on another state of these items.
 *   2. Block earlier successors that have not taken over: the last one will do it for them.
 *   3. Sum up the remaining rights of all retired regions: their shares, the effect of their adds
 *      as far as any replica knows them, the transfers to them, less the transfers from them, less
 *      earlier take-overs. If that is negative, they had counted that much more.
 *   4. In one batch in the successor's replica: store left/N if there is none; add the rights to
 *      its cell 0. So rights again equal the distance of the recorded sum from the floor.
 * Adds of a retired region that were never replicated are lost: bounds hold for the recorded sum,
 * and the lost adds may exceed them. So no reading is certain after a retirement, until an operator
 * states that nothing is missing, or has corrected the counters. A request of a retired region is
 * answered by its marker, if any replica has it; if not, its outcome is unknown, since the cell
 * that includes it may have been replicated without it.
 *
 * Cost. One round trip, two writes, one item that stays. When rights run short, two reads of all
 * regions and one batch in each of two; a rejection, two reads. A read: two reads of all regions.
 *
 * Sources. "Implement resource counters with Amazon DynamoDB", global tables; P. O'Neil, "The
 * Escrow Transactional Method", 1986; V. Balegas and others, "Extending Eventually Consistent Cloud
 * Databases for Enforcing Numeric Invariants", 2015.
 * }</pre>
 */
public final class RegionalCounters implements Technique {
  /** Its requirements on each replica, guarantees and costs. */
  public static final TechniqueSpec SPEC =
      new TechniqueSpec(
          "regional",
          "Each region counts in its own items, within the rights that it holds.",
          "a repeat under its id counts once, in any region, and is replayed",
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
   * The result of a take-over of retired regions, for one counter.
   *
   * @param counted sum of their adds, as far as known
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
   * Creates the technique.
   *
   * @param leases the leases until which regions may count
   * @throws IllegalArgumentException if a replica lacks a capability that {@link #SPEC} requires
   */
  public RegionalCounters(Regions regions, RegionOptions options, RegionLeases leases) {
    this(regions, options, leases, Randomness.secure());
  }

  /** Creates the technique with the given source of randomness. */
  public RegionalCounters(
      Regions regions, RegionOptions options, RegionLeases leases, RandomGenerator random) {
    for (String region : regions.names()) {
      SPEC.requireWorksOn(regions.replica(region).profile());
    }
    int most = regions.here().profile().batchItemsMax() - 1;
    if (options.cells() > most) {
      throw new IllegalArgumentException(
          "cells is %d; a batch of store %s allows at most %d"
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
   * Adds exactly once. The result has no value: no region knows the sum.
   *
   * @throws IllegalArgumentException if the id does not begin with a region
   * @throws UnsupportedOperationException if the bounds of {@code add} differ from those of the
   *     counters
   * @throws QuipuException if the region that the id begins with does not respond; with an unknown
   *     outcome if that region was retired and it is unknown whether it had counted the request: it
   *     never counts after that
   */
  @Override
  public AddResult add(Add add) {
    if (!add.bounds().isNone() && !add.bounds().equals(options.bounds())) {
      throw new UnsupportedOperationException(
          "bounds of these regions are fixed at %d to %d"
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
   * An add in progress.
   *
   * @param call distinguishes this call's own write from that of an earlier call
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
      return new AddResult.Rejected(Rejection.OVERFLOW); // that number of rights exceeds 64 bits
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
        throw plan.rejected(home, other.orElse("none"));
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
        "gave up: contention on the rights of counter %s in region %s"
            .formatted(add.counter(), home));
  }

  private static long need(Add add) {
    return add.delta() == Long.MIN_VALUE ? Long.MAX_VALUE : Math.abs(add.delta());
  }

  /**
   * Transfers rights. A round with an unknown outcome is followed by another: all steps are
   * idempotent.
   */
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

  /** Returns the definite result, if the cell had enough rights or the request was known. */
  private static Optional<AddResult> answer(Request request, WriteResult result) {
    return switch (result) {
      case WriteResult.Applied applied ->
          Optional.of(new AddResult.Applied(request.add.delta(), NO_VALUE));
      case WriteResult.ConditionFailed failed when failed.key().equals(request.marker.key()) ->
          Optional.of(Markers.answer(request.add, failed.found().orElseThrow(), request.call));
      case WriteResult.ConditionFailed failed -> Optional.empty();
    };
  }

  /** Returns the change of one cell: the add, and rights from other cells. */
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

  /**
   * Makes step 3 of the protocol; empty if all cells together have too few rights, or have changed
   * meanwhile.
   */
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
   * Returns the value and its bounds: exact if all regions answer and nothing is added
   * concurrently. After a retirement no reading is certain until {@link #acceptLoss}, and after a
   * restore of a replica from a backup none is until that region is retired and its loss accepted.
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
   * Returns the outcome of a request, of any region.
   *
   * @throws QuipuException if the region that its id begins with does not respond, and nothing was
   *     replicated from there
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
   * Retires a lost region, with this region as its successor, once its lease has ended and most of
   * the remaining regions agree. Adds that it never replicated are lost, so bounds hold for the
   * recorded sum only. Idempotent: repeat it, in any region, until it succeeds.
   *
   * @return for each counter, what the last successor took over
   * @throws IllegalStateException if the region must not be retired, or too few regions agree
   * @throws QuipuException if a remaining region does not respond
   */
  public Map<String, TakenOver> retire(String region) {
    return retire(region, Set.of());
  }

  /**
   * Retires a region like {@link #retire(String)} if too many regions are lost for a majority. If a
   * destroyed region is alive and retires this one in the same way, both count without the other:
   * bounds are broken, and one of the two must be abandoned.
   *
   * @param destroyed regions whose replicas are permanently lost; they need not agree
   */
  public Map<String, TakenOver> retire(String region, Set<String> destroyed) {
    regions.replica(region); // checks that the region exists
    leases.retire(region, destroyed);
    return takeOver.takeOverAll();
  }

  /**
   * States that the known records of a retired region are complete, or that counters have been
   * corrected since: readings are certain again, as far as it is concerned.
   *
   * @throws IllegalArgumentException if there is no such region
   * @throws IllegalStateException if the region is not retired
   * @throws QuipuException if a remaining region does not respond
   */
  public void acceptLoss(String region) {
    regions.replica(region); // checks that the region exists
    leases.requireRetired(region);
    takeOver.takeOverAll();
    leases.accept(region);
  }
}
