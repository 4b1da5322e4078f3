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
import dev.quipu.shard.StoredParts;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.CounterItems;
import dev.quipu.technique.IdempotentRetry;
import dev.quipu.technique.Markers;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.TechniqueSpec.Cost;
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
 * everywhere: if two regions add to one number, one of the adds is lost. And a floor or a ceiling
 * cannot be checked without contacting all regions, which may be partitioned.
 *
 * Stored. Each region has its own items, and writes them only in its own replica, so no two writes
 * ever conflict. The items are in the partition counter/NAME#region-REGION:
 *   cell/K     shard K, from 0: up and down, the sums of its positive and negative adds; lower and
 *              raise, the rights to lower and raise the counter (if there is such a bound); plan,
 *              the plan under which the shard was created
 *   gave/OTHER lower and raise: all rights that this region has ever given to another region
 *   got/OTHER  all rights from another region that were added to the shards of this region
 *   request/ID one for each request whose id begins with this region: its amount
 *   left/N     for retirement N with this region as successor: up and down of the retired region,
 *              as far as known, and the rights that were taken over
 * The counter is the sum of all up minus the sum of all down. The initial regions begin with even
 * shares of the bounds. Sums that only grow have a second field for units of 2^62.
 *
 * Protocol.
 *   Add, in the region with which the request id begins. If another region receives a repeat, it
 *   writes directly to the replica of that region.
 *     1. In one batch: store the marker of the request, if it does not exist; in one shard, add to
 *        up (or down), use that many rights to raise (or lower), and gain as many of the other
 *        kind.
 *     2. If the marker exists, the request is a repeat, canceled or different: see marker item.
 *     3. If the shard has too few rights, take them from the other shards of the region, in the
 *        batch of step 1. Each gives half of its rights, or as many as are missing if that is more.
 *     4. If the region has too few rights, read all regions, twice.
 *        a. Rights are in flight to this region: add them to shard 0 and to got, in one batch.
 *        b. Others have enough: take rights from the shards of the one with the most, and add them
 *           to its gave, in one batch in its replica. Go to 4a.
 *        c. No region has enough, all replied, and nothing changed between the reads: rejected.
 *        d. As in c, but some region does not respond: rejected as held elsewhere, unless the
 *           rights that it may hold cannot suffice.
 *   Read: read all regions twice. If nothing changed, the value is exact; otherwise the changes are
 *   the width of low..high. If regions do not respond, low and high follow from the rights: the
 *   distance of the counter from its floor is the sum of all rights to lower it, and those that the
 *   responding regions hold are certainly unused. The same applies to the ceiling.
 *   Cancel, outcome: store or look up the marker, in the region with which the id begins.
 *   Before anything is counted, all regions agree on a plan: the initial regions, and the bounds.
 *
 * Why it is correct. The rights to lower, in shards and in flight, always equal the distance of the
 * counter from its floor: every add and every transfer preserves that, in one batch. A region uses
 * only rights in its own replica, where batches are atomic and reads strong. Replicated rows of
 * other regions may be out of date: they only decide which region to contact. A transfer is
 * identified by two sums that only grow, so it is received exactly once, however often it is tried.
 * A request belongs to one region, where it has at most one marker.
 *
 * Crash table.
 *   | crash after          | stored                | then                                        |
 *   | the add's reply lost | marker and shard      | a repeat, in any region, finds the marker   |
 *   | gave                 | rights are in flight  | a process in need of rights delivers them   |
 *   | a region is cut off  | it keeps its rights   | it and the others use their own rights      |
 *   | a region is lost     | its rights are frozen | its lease ends, then it is retired          |
 *   | a successor is lost  | left/N, or not        | its successor takes over the rights of both |
 *   | a backup is restored | old rights and beat   | it stops within 3 beats                     |
 *   After the restore of a replica from a backup no reading is certain. Until the region stops, it
 *   may exceed the bounds, by the rights in the backup and those received since. It returns under
 *   another name.
 *
 * Retirement. The remaining replicas decide by votes which regions are retired, in what order and
 * with which successors (RegionRetirements). Then any process does this for each counter, until it
 * is done:
 *   1. Close all transfers with retired regions in the replicas of the remaining ones, so that
 *      transfers in flight fail.
 *   2. Block earlier successors that have not taken over: the last one does so for them.
 *   3. Sum up the remaining rights of all retired regions: their shares, the effect of their adds
 *      as far as any replica knows them, and the transfers to them, less the transfers from them
 *      and earlier take-overs. If the sum is negative, they gave more than they are known to have
 *      had: so they had counted that much more than any replica knows.
 *   4. In one batch in the replica of the successor, store left/N if it does not exist, and add the
 *      rights to shard 0. Rights again equal the distance of the recorded sum from the floor.
 * Adds of a retired region that were never replicated are lost: bounds hold for the recorded sum,
 * and the lost adds may exceed them. So no reading is certain after a retirement, until an operator
 * states that nothing is missing, or that the counters have been corrected. A request of a retired
 * region is answered from its marker, if any replica has it; if not, its outcome is unknown, since
 * its add may have been replicated without the marker.
 *
 * Cost. An add takes one round trip and two writes, and leaves one item; if rights run short, also
 * two reads of all regions and a batch in each of two. A rejection or a read takes two reads of all
 * regions.
 *
 * Sources. "Implement resource counters with Amazon DynamoDB", global tables; P. O'Neil, "The
 * Escrow Transactional Method", 1986; V. Balegas and others, "Extending Eventually Consistent Cloud
 * Databases for Enforcing Numeric Invariants", 2015.
 * }</pre>
 */
public final class RegionalCounters implements Technique, StoredParts {
  /** Its requirements on each replica, guarantees and costs. */
  public static final TechniqueSpec SPEC =
      new TechniqueSpec(
          "regional",
          "Each region counts in its own items, within the rights that it holds.",
          "an add repeated under its id in any region counts exactly once; the repeat is replayed",
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

  /** Returns the definite result, if the shard had enough rights or the request was known. */
  private static Optional<AddResult> answer(Request request, WriteResult result) {
    return switch (result) {
      case WriteResult.Applied applied ->
          Optional.of(new AddResult.Applied(request.add.delta(), NO_VALUE));
      case WriteResult.ConditionFailed failed when failed.key().equals(request.marker.key()) ->
          Optional.of(Markers.answer(request.add, failed.found().orElseThrow(), request.call));
      case WriteResult.ConditionFailed failed -> Optional.empty();
    };
  }

  /** Returns the change of one shard: the add, and rights from other shards. */
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
   * Makes step 3 of the protocol; empty if all shards together have too few rights, or changed
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
  public List<Part> parts(String counter) {
    Regions.checkCounter(counter);
    return RegionView.of(regions, leases, counter).parts(options.bounds());
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
