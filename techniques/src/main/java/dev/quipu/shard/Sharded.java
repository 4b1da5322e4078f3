package dev.quipu.shard;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.CounterPage;
import dev.quipu.Guarantee;
import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.layer.Backoff;
import dev.quipu.layer.Store;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.technique.AddPart;
import dev.quipu.technique.CounterItems;
import dev.quipu.technique.IdempotentRetry;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.time.Randomness;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Counters that are divided into shards of an underlying technique. Thread-safe.
 *
 * <pre>{@code
 * WRITE SHARDING
 *
 * Problem. The rate of a counter in one item is limited to the rate at which the store writes one
 * item. A counter that is divided into shards, each of which is a separate counter, is faster; but
 * then one shard may be empty while another is full, a repeat must go to the shard of the first
 * attempt, and the sum is not stored anywhere.
 *
 * Stored. Shard 0 is the counter NAME itself, as the underlying technique stores it; the others are
 * NAME#shard-1, NAME#shard-2 and so on. The plan is stored next to shard 0: the number of shards,
 * the bounds, and the epoch, which grows with every change of the plan. The item of each shard
 * holds the epoch too. Request ids that are stored in separate items are stored in one of 64 slots,
 * NAME and NAME#shard-1 to NAME#shard-63; the id selects the slot, regardless of the number of
 * shards.
 *
 * Independent shards (fixed number, no bounds: every store, every technique)
 *   An add with an id goes to the shard that its id selects; any other add goes to any shard. A
 *   read sums up all shards twice. The difference between the two sums is the uncertainty of the
 *   reading.
 *
 * Coordinated shards (bounds, or growth: stores with batches over all items)
 *   1. Each shard has an even share of the bounds and stays within it, so the sum stays within the
 *      bounds. An add goes to any shard or, if ids are stored in the same item as the number, to
 *      the one that its id selects. The share and the epoch of the plan are checked atomically with
 *      the write of the technique.
 *   2. If the add does not fit, read the plan and all shards at one moment.
 *      a. The plan has changed: start again with the new plan.
 *      b. The sum would exceed the bounds, and the request was not applied in the meantime: the add
 *         is rejected.
 *      c. The sum would stay within the bounds: split the amount. The home shard takes what it can,
 *         the shard with the greatest slack takes the rest, and so on. The last shard that
 *         contributes also gives the home shard up to half of its slack, so that the home shard can
 *         serve the next adds without the others. All parts and the write of the technique are one
 *         batch, and each part is checked against the share of its shard. If a part no longer fits,
 *         go to 2.
 *   3. Growth: write the new plan, the new epoch of each shard, and an even part of the sum for
 *      each shard, in one batch. From then on adds under the old plan fail, even those in flight. A
 *      counter can grow only if its ids are stored in separate items, or if the technique has no
 *      ids, so that the slot of a request is the same under every plan.
 *   4. To cancel a request, store the cancellation in the slot that its id selects, where its add
 *      would be recorded under any plan.
 *   5. A counter that was used before it had a plan is taken over: its requests are also looked up
 *      where they were stored originally. From then on no process may write to it without a plan,
 *      and no such write may be in flight.
 *
 * Why it is correct. Every step changes the sum by the amount of one add or not at all, and keeps
 * each shard within its share. A rejection refers to one moment at which the sum had no slack. A
 * request has exactly one slot, where it is recorded at most once, as applied or as canceled. If a
 * shard only grew or only shrank between the two passes of a read, its value was between the two at
 * every moment.
 *
 * Crash table. It is the crash table of the underlying technique: an add is one atomic step,
 * whether it changes one shard or several. Growth is atomic; a repeat detects whether it happened.
 *
 * Cost. As long as the home shard has slack, the cost is that of the underlying technique. A split
 * takes one read of all shards, and one more write for each other shard that contributes. A
 * rejection takes one read of all shards and, if the request has an id, one of the request. A read
 * of the sum takes one read of all shards; independent shards are read twice each. An add with an
 * id to a counter that was taken over takes one more read.
 *
 * Hot counters. If one process sends more adds per second than the shards of a counter should take,
 * it doubles their number, up to a limit: so a plain counter may become a sharded one while it is
 * being written, with its sum and its ids. All writers must use the plan, since a plain writer
 * knows only its own bounds.
 *
 * Source. "Implement resource counters with Amazon DynamoDB", scaling counters; escrow: P. O'Neil,
 * "The Escrow Transactional Method", 1986.
 * }</pre>
 */
public final class Sharded implements Technique, StoredParts {
  private static final int ROUNDS_MAX = 100;

  private final Store store;
  private final Technique technique;
  private final RandomGenerator random;
  private final ShardOptions options;
  private final TechniqueSpec spec;
  private final CounterItems items;
  private final ShardPlans plans;
  private final ShardLoad load;
  private final IndependentShards shards;

  /**
   * Divides the counters of a technique.
   *
   * @param technique a technique on the same store
   * @throws IllegalArgumentException if the technique or the store does not support the options
   */
  public Sharded(Store store, Technique technique, ShardOptions options) {
    this(store, technique, options, Randomness.secure());
  }

  /** Divides the counters of a technique, with the given source of randomness. */
  public Sharded(Store store, Technique technique, ShardOptions options, RandomGenerator random) {
    this.spec = spec(technique.spec(), options);
    options.requireWorks(store.profile(), technique);
    this.store = store;
    this.technique = technique;
    this.options = options;
    this.random = random;
    this.items = new CounterItems(store);
    this.plans = new ShardPlans(store, items, options);
    this.load = new ShardLoad(store.clock(), random);
    this.shards = new IndependentShards(technique);
  }

  private static TechniqueSpec spec(TechniqueSpec below, ShardOptions options) {
    Set<Guarantee> guarantees = EnumSet.copyOf(below.guarantees());
    guarantees.remove(Guarantee.ADD_AND_GET);
    if (options.bounds().isNone()) {
      guarantees.remove(Guarantee.BOUNDED);
    }
    return new TechniqueSpec(
        "sharded-" + below.name(),
        below.summary(),
        below.afterLostReply(),
        below.needs(),
        options.actTogether() ? Atomicity.STORE : below.atomicity(),
        guarantees,
        below.perAdd(),
        below.perRead(),
        below.source());
  }

  @Override
  public TechniqueSpec spec() {
    return spec;
  }

  @Override
  public Bounds bounds() {
    return options.bounds();
  }

  /**
   * Adds exactly once. The result has no value: no shard knows the sum.
   *
   * @throws UnsupportedOperationException if the bounds of {@code add} differ from those of the
   *     counter
   */
  @Override
  public AddResult add(Add add) {
    checkName(add.counter());
    options.checkBounds(add);
    String counter = add.counter();
    boolean isNew = plans.known(counter).isEmpty();
    ShardPlan plan = plans.of(counter);
    items.enlist(counter);
    ShardLoad.Heat heat = load.of(counter);
    if (options.grows()
        && plan.shards() < options.shardsMax()
        && load.isHot(heat, plan.shards(), options.hotAddsPerSecond())) {
      growOrLetBe(counter, Math.min(2 * plan.shards(), options.shardsMax()));
      plan = plans.of(counter);
    }
    if (!plan.together()) {
      return addAlone(add, plan, heat);
    }
    ShardPlan first = plan;
    if (isNew) {
      Optional<AddResult> spread = spread(add, first, heat);
      if (spread.isPresent()) {
        return spread.get();
      }
    }
    return add.id() == null
        ? addTogether(add, first, heat)
        : IdempotentRetry.answer( // by another plan too, if the shards grew meanwhile
            store,
            "request " + add.id(),
            () -> addTogether(add, plans.known(counter).orElse(first), heat));
  }

  private static void checkName(String counter) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    if (ShardPlan.isShardName(counter)) {
      throw new IllegalArgumentException("name ends with #shard-N, which is reserved for shards");
    }
  }

  private AddResult addAlone(Add add, ShardPlan known, ShardLoad.Heat heat) {
    ShardPlan plan = plans.renewed(add.counter(), known);
    int home = home(add, plan, heat);
    Add own = onShard(add, home);
    return ShardSnapshot.withoutValue(counted(heat, home, () -> technique.add(own)));
  }

  private AddResult addTogether(Add add, ShardPlan first, ShardLoad.Heat heat) {
    AddPart.Shardable splittable = (AddPart.Shardable) technique;
    ShardPlan plan = first;
    for (int round = 0; round < ROUNDS_MAX; round++) {
      Optional<AddResult> earlier = earlier(add, plan);
      if (earlier.isPresent()) {
        return earlier.get();
      }
      int home = home(add, plan, heat);
      Add own = onShard(add, add.id() == null ? home : place(add.id(), plan));
      AddPart whole =
          new AddPart(
              plan.valueKey(add.counter(), home),
              add.delta(),
              plan.condition(home),
              List.of(),
              false);
      AddResult answer = counted(heat, home, () -> splittable.add(own, whole));
      if (isFinal(answer)) {
        return ShardSnapshot.withoutValue(answer);
      }
      ShardSnapshot now = plans.snapshot(add.counter(), plan);
      if (now.planItem().isEmpty()) { // the store has lost its data
        plan = plans.again(add.counter());
        continue;
      }
      if (now.plan().equals(plan)) {
        Rejection why = Rejection.of(now.total(), add.delta(), options.bounds());
        if (why != null) {
          if (isNoted(add, plan)) {
            continue;
          }
          return new AddResult.Rejected(why, now.total());
        }
        AddPart part = now.split(add.counter(), add.delta(), home);
        answer = counted(heat, home, () -> splittable.add(own, part));
        if (isFinal(answer)) {
          return ShardSnapshot.withoutValue(answer);
        }
        Backoff.pause(store.clock(), random, round);
      }
      plan = now.plan();
    }
    throw new NotAppliedException(
        Reason.THROTTLED,
        "gave up after %d attempts: contention on the shards of %s"
            .formatted(ROUNDS_MAX, add.counter()));
  }

  /**
   * Spreads the first delivery of a stock evenly over all shards, so that each of them can sell
   * from the start. Only the first add of a process to a counter costs the read that finds out.
   *
   * @return empty if it is not the first, has less than one for each shard, or does not fit
   */
  private Optional<AddResult> spread(Add add, ShardPlan plan, ShardLoad.Heat heat) {
    boolean isEnough = Math.abs(add.delta() / plan.shards()) > 0;
    if (options.bounds().isNone() || plan.shards() == 1 || !isEnough) {
      return Optional.empty();
    }
    ShardSnapshot now = plans.snapshot(add.counter(), plan);
    if (now.planItem().isEmpty() || now.wasAddedTo() || !now.plan().equals(plan)) {
      return Optional.empty();
    }
    if (earlier(add, plan).isPresent()) {
      return Optional.empty(); // canceled before the plan
    }
    int home = home(add, plan, heat);
    Add own = onShard(add, add.id() == null ? home : place(add.id(), plan));
    AddPart part = now.evenly(add.counter(), add.delta(), home);
    AddPart.Shardable splittable = (AddPart.Shardable) technique;
    AddResult answer = counted(heat, home, () -> splittable.add(own, part));
    return isFinal(answer) ? Optional.of(ShardSnapshot.withoutValue(answer)) : Optional.empty();
  }

  /**
   * Returns whether the request was applied in the meantime, by an earlier attempt that got no
   * answer.
   */
  private boolean isNoted(Add add, ShardPlan plan) {
    RequestId id = add.id();
    return id != null && !(outcome(add.counter(), id, plan) instanceof RequestOutcome.NotSeen);
  }

  /** Returns whether an answer is final: anything but a lack of slack. */
  private static boolean isFinal(AddResult answer) {
    return !(answer instanceof AddResult.Rejected rejected) || rejected.why() == Rejection.CANCELED;
  }

  /** Returns the shard of an add. */
  private int home(Add add, ShardPlan plan, ShardLoad.Heat heat) {
    RequestId id = add.id();
    return id == null || hasPlaces(plan)
        ? load.choose(heat, plan.shards(), options.choice())
        : plan.home(id);
  }

  /** Returns the shard under whose name a request id is stored, whether or not it has a number. */
  private int place(RequestId id, ShardPlan plan) {
    return hasPlaces(plan) ? ShardPlan.place(id) : plan.home(id);
  }

  private boolean hasPlaces(ShardPlan plan) {
    return plan.together() && technique instanceof AddPart.Shardable one && one.keepsIdsApart();
  }

  /** Returns the request on one shard, with the bounds of the counter in any case. */
  private Add onShard(Add add, int shard) {
    return new Add(
        ShardPlan.shardName(add.counter(), shard), add.delta(), options.bounds(), add.id());
  }

  /** Returns the result of a request from before the counter had a plan. */
  private Optional<AddResult> earlier(Add add, ShardPlan plan) {
    RequestId id = add.id();
    if (id == null) {
      return Optional.empty();
    }
    return switch (beforePlan(add.counter(), id, plan)) {
      case RequestOutcome.Applied applied ->
          Optional.of(
              applied.added() == add.delta()
                  ? new AddResult.Replayed(applied.added(), OptionalLong.empty())
                  : new AddResult.Conflict(applied.added()));
      case RequestOutcome.Canceled canceled ->
          Optional.of(new AddResult.Rejected(Rejection.CANCELED));
      case RequestOutcome.NotSeen nothing -> Optional.empty();
    };
  }

  /** Returns the outcome that the first shard knows for a request from before the plan. */
  private RequestOutcome beforePlan(String counter, RequestId id, ShardPlan plan) {
    return plan.wasPlain() && place(id, plan) != 0
        ? technique.outcome(counter, id)
        : new RequestOutcome.NotSeen();
  }

  private static AddResult counted(ShardLoad.Heat heat, int shard, Supplier<AddResult> call) {
    heat.begin(shard);
    try {
      return call.get();
    } finally {
      heat.end(shard);
    }
  }

  private void growOrLetBe(String counter, int shards) {
    try {
      plans.grow(counter, shards);
    } catch (QuipuException e) {
      // whether it was divided or not: the next add finds out
    }
  }

  /**
   * Raises the number of shards of a counter while it is written.
   *
   * @param shards at most {@link ShardOptions#shardsMax}; without effect if it has as many already
   * @throws UnsupportedOperationException if these shards do not grow
   */
  public void grow(String counter, int shards) {
    checkName(counter);
    if (!options.grows()) {
      throw new UnsupportedOperationException(
          "the number of these shards is fixed; use ShardOptions.growing");
    }
    if (shards < 1 || shards > options.shardsMax()) {
      throw new IllegalArgumentException(
          "shards is %d; it must be from 1 to %d".formatted(shards, options.shardsMax()));
    }
    plans.grow(counter, shards);
  }

  /**
   * Applies the bounds of these options to a counter that was divided within other bounds, and
   * divides its sum evenly. Processes with the earlier bounds are rejected from then on. Earlier
   * requests are not applied again; since their bounds differ, a repeat is a conflict.
   *
   * @return false if it has these bounds already, or was never divided
   * @throws QuipuException if its sum is outside the bounds, or its shards are not coordinated
   */
  public boolean repair(String counter) {
    checkName(counter);
    return plans.rebound(counter);
  }

  /** Returns the current number of shards of a counter; 1 if it was never written. */
  public int shards(String counter) {
    checkName(counter);
    return plans.stored(counter).map(ShardPlan::shards).orElse(1);
  }

  @Override
  public Optional<Reading> read(String counter) {
    checkName(counter);
    if (options.actTogether()) {
      ShardPlan guess = ShardPlan.undivided(true, options.bounds());
      ShardSnapshot now = plans.snapshot(counter, plans.known(counter).orElse(guess));
      return now.wasAddedTo() ? Optional.of(Reading.exact(now.total())) : Optional.empty();
    }
    Optional<ShardPlan> plan = plans.find(counter);
    if (plan.isEmpty()) {
      Optional<Reading> whole = technique.read(counter);
      plan = plans.stored(counter); // it may have been divided in the meantime
      if (plan.isEmpty()) {
        return whole;
      }
    }
    return shards.read(counter, plan.get());
  }

  @Override
  public List<Part> parts(String counter) {
    checkName(counter);
    if (options.actTogether()) {
      ShardPlan guess = ShardPlan.undivided(true, options.bounds());
      return plans.snapshot(counter, plans.known(counter).orElse(guess)).parts();
    }
    return plans.stored(counter).map(plan -> shards.parts(counter, plan)).orElse(List.of());
  }

  @Override
  public CounterPage list(String prefix, String after, int limit) {
    return items.list(
        prefix, after, limit, name -> ShardPlan.isShardName(name) ? Optional.empty() : read(name));
  }

  @Override
  public RequestOutcome outcome(String counter, RequestId id) {
    checkName(counter);
    Optional<ShardPlan> plan = plans.stored(counter);
    return plan.isEmpty() ? technique.outcome(counter, id) : outcome(counter, id, plan.get());
  }

  private RequestOutcome outcome(String counter, RequestId id, ShardPlan plan) {
    RequestOutcome before = beforePlan(counter, id, plan);
    return before instanceof RequestOutcome.NotSeen
        ? technique.outcome(ShardPlan.shardName(counter, place(id, plan)), id)
        : before;
  }

  @Override
  public RequestOutcome cancel(String counter, RequestId id) {
    checkName(counter);
    ShardPlan plan = plans.of(counter);
    RequestOutcome before = beforePlan(counter, id, plan);
    return before instanceof RequestOutcome.NotSeen
        ? technique.cancel(ShardPlan.shardName(counter, place(id, plan)), id)
        : before;
  }
}
