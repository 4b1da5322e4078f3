package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.CounterPage;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.Uncertainty;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.Optimistic;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.time.Randomness;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** How a counter is sharded, by whom, and what is found where it was counted before. */
final class ShardPlanTest {
  private static final Key PLAN = new Key("counter/a", "shards");
  private static final ShardOptions ALONE = ShardOptions.fixed(2);
  private static final ShardOptions GROWING = ShardOptions.growing(2, 8);

  private final ManualClock clock = new ManualClock(1_000_000);
  private final MemoryDriver memory = new MemoryDriver();
  private final RecordingDriver recording = new RecordingDriver(memory);
  private final Store store = new Store(recording, clock);
  private final Store others = new Store(memory, clock);
  private final MarkerItem plain = new MarkerItem(others);

  private Sharded open(ShardOptions options) {
    return on(store, options);
  }

  private static Sharded on(Store store, ShardOptions options) {
    return new Sharded(store, new MarkerItem(store), options, Randomness.seeded(1));
  }

  private static AddResult add(Technique counters, long delta, String id) {
    return counters.add(new Add("a", delta, RequestId.of(id)));
  }

  private static void applied(Technique counters, long delta, String id) {
    assertInstanceOf(AddResult.Applied.class, add(counters, delta, id));
  }

  private Optional<Item> plan() {
    return memory.get(PLAN, Consistency.STRONG);
  }

  private static QuipuException rejected(Runnable call) {
    return assertThrows(QuipuException.class, call::run);
  }

  // ---- plans

  @Test
  void aProcessReadsAPlanOnce() {
    Sharded counters = open(ALONE);
    for (String name : List.of("a", "b")) {
      counters.add(new Add(name, 1, null));
    }
    recording.calls();
    for (String name : List.of("a", "b", "a")) {
      counters.add(new Add(name, 1, null));
    }
    List<String> calls = recording.calls();
    assertTrue(calls.stream().noneMatch(call -> call.endsWith("/shards")), calls::toString);
  }

  @Test
  void whoMakesAPlanKnowsIt() {
    Sharded counters = open(GROWING);
    applied(counters, 1, "one");
    assertEquals(1, recording.callsOf("get counter/a/shards"), "it was not there yet");
    counters.grow("a", 8);
    recording.calls();
    applied(counters, 1, "two");
    assertEquals(0, recording.callsOf("get all"), "no shard was asked by an old plan");
  }

  @Test
  void aPlanSaysWhetherTheCounterWasCountedBefore() {
    applied(open(GROWING), 1, "one");
    assertEquals(0, plan().orElseThrow().number("was-plain"));
    plain.add(new Add("added", 1, RequestId.of("one")));
    plain.cancel("canceled", RequestId.of("one"));
    for (String name : List.of("added", "canceled")) {
      open(GROWING).add(new Add(name, 1, RequestId.of("two")));
      Key key = new Key("counter/" + name, "shards");
      Item item = memory.get(key, Consistency.STRONG).orElseThrow();
      assertEquals(1, item.number("was-plain"), name);
    }
  }

  @Test
  void shardsWithoutBoundsAreNamedSoInARejection() {
    applied(open(ShardOptions.fixed(4).within(Bounds.atLeast(0))), 5, "id");
    QuipuException e = rejected(() -> open(ShardOptions.fixed(4)).add(new Add("a", 1, null)));
    assertEquals(Reason.DENIED, e.reason());
    assertEquals(
        "counter a cannot be opened: it has 4 shards, floor 0, no ceiling; this"
            + " process is configured for 4 shards, no bounds. Start the process with the"
            + " options that the"
            + " counter was divided with",
        e.getMessage());
  }

  @Test
  void growthToWhatThereIsChangesNothing() {
    Sharded counters = open(GROWING);
    counters.grow("a", 4);
    Optional<Item> before = plan();
    assertEquals(4, before.orElseThrow().number("shards"));
    counters.grow("a", 4);
    counters.grow("a", 3);
    assertEquals(before, plan());
  }

  @Test
  void growthThatAnotherProcessIsFasterToBeginGoesOn() {
    Sharded other = on(others, GROWING);
    applied(other, 5, "id");
    CallScript script =
        new CallScript().before(CallScript.to("counter/a"), () -> other.grow("a", 3));
    Sharded slow = on(new Store(script.around(memory), clock), GROWING);
    slow.grow("a", 8);
    assertTrue(script.isDone());
    assertEquals(8, other.shards("a"));
    assertEquals(Optional.of(Reading.exact(5)), slow.read("a"));
  }

  // ---- counters that were counted before

  @Test
  void aCounterWithoutShardsIsNotTakenOverByShardsThatDoNotActTogether() {
    applied(plain, 5, "id");
    assertEquals(Optional.of(Reading.exact(5)), open(ALONE).read("a"));
    QuipuException e = rejected(() -> add(open(ALONE), 1, "other"));
    assertEquals(Reason.DENIED, e.reason());
    assertEquals(
        "counter a was used without shards; only shards with bounds can take it over. Start"
            + " without --shards, or with --floor or --ceiling too",
        e.getMessage());
    assertEquals(Optional.empty(), plan());
  }

  @Test
  void aCounterOfWhichARequestWasCanceledCountsAsCountedBefore() {
    plain.cancel("a", RequestId.of("canceled"));
    assertEquals(Reason.DENIED, rejected(() -> add(open(ALONE), 1, "other")).reason());
    assertEquals(Optional.empty(), plan());
  }

  @Test
  void aStoreWithoutOrderHasShards() {
    Set<Capability> left = Set.of(Capability.STRONG_READ, Capability.NATIVE_UPDATE);
    Store small = new Store(new LimitedDriver(memory, left), clock);
    Sharded counters = new Sharded(small, new Optimistic(small), ALONE, Randomness.seeded(1));
    for (int i = 0; i < 5; i++) {
      assertInstanceOf(AddResult.Applied.class, counters.add(new Add("a", 1, null)));
    }
    assertEquals(Optional.of(Reading.exact(5)), counters.read("a"));
  }

  @Test
  void aCounterOutsideTheBoundsIsNotDividedUntilItIsBackInside() {
    applied(plain, 40, "id");
    QuipuException e = rejected(() -> add(open(ALONE.within(Bounds.atMost(39))), -1, "other"));
    assertEquals(Reason.DENIED, e.reason());
    assertEquals(
        "counter a is 40, outside its bounds: no floor, ceiling 39; bring it back within them to"
            + " divide it",
        e.getMessage());
    Sharded inside = open(ALONE.within(Bounds.between(0, 40)));
    assertEquals(new AddResult.Rejected(Rejection.CEILING, 40), add(inside, 1, "other"));
    assertEquals(Optional.of(Reading.exact(40)), inside.read("a"));
  }

  @Test
  void aRepairToBoundsThatTheSumIsOutsideOfIsInvalid() {
    applied(open(ALONE.within(Bounds.atLeast(0))), 50, "id");
    Sharded tooNarrow = open(ALONE.within(Bounds.between(0, 49)));
    QuipuException e = rejected(() -> tooNarrow.repair("a"));
    assertEquals(Reason.INVALID, e.reason());
    assertEquals(
        "counter a is 50, outside its bounds: floor 0, ceiling 49; bring it back within them to"
            + " divide it",
        e.getMessage());
  }

  /** The counter looks new when it is sharded, but is not when the plan arrives. */
  @Test
  void requestsOfAProcessWithoutShardsAreKnownThoughTheyCameJustBeforeThePlan() {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      ids.add("plain" + i);
    }
    CallScript script =
        new CallScript()
            .before(CallScript.to("counter/a"), () -> ids.forEach(id -> applied(plain, 5, id)));
    Sharded slow = on(new Store(script.around(memory), clock), GROWING);
    applied(slow, 2, "sharded");
    assertTrue(script.isDone());
    for (String id : ids) {
      assertInstanceOf(AddResult.Replayed.class, add(slow, 5, id), id);
    }
    assertEquals(Optional.of(Reading.exact(42)), slow.read("a"));
  }

  // ---- guarantees of shards, and when they grow

  @Test
  void onlyShardsThatActTogetherNeedBatchesOverTheStore() {
    assertEquals(Atomicity.STORE, open(GROWING).spec().atomicity());
    Atomicity one = new AtomicAdd(store).spec().atomicity();
    assertEquals(one, new Sharded(store, new AtomicAdd(store), ALONE).spec().atomicity());
  }

  @Test
  void shardsWithoutBoundsStandOnATechniqueWithoutThem() {
    AtomicAdd repeating = new AtomicAdd(store, AtomicAdd.AfterUnknown.REPEAT);
    Sharded counters = new Sharded(store, repeating, GROWING);
    assertInstanceOf(AddResult.Applied.class, counters.add(new Add("a", 1, null)));
    ShardOptions bounded = ALONE.within(Bounds.atLeast(0));
    assertThrows(UnsupportedOperationException.class, () -> new Sharded(store, repeating, bounded));
  }

  @Test
  void otherBoundsThanThoseOfTheShardsAreRejectedWithTheirs() {
    Add bounded = new Add("a", 1, Bounds.atMost(5), null);
    assertEquals(
        "these shards have no bounds; set them with ShardOptions.within",
        unsupported(() -> open(ALONE).add(bounded)));
    assertEquals(
        "bounds of these shards are fixed at -1 to 6",
        unsupported(() -> open(ALONE.within(Bounds.between(-1, 6))).add(bounded)));
  }

  private static String unsupported(Runnable call) {
    return String.valueOf(
        assertThrows(UnsupportedOperationException.class, call::run).getMessage());
  }

  @Test
  void aCounterGrowsWhenItIsHotAndNotBefore() {
    Sharded counters = open(ShardOptions.growing(1, 2).hotAt(10));
    for (int i = 0; i < 10; i++) {
      applied(counters, 1, "id" + i);
    }
    assertEquals(1, counters.shards("a"));
    applied(counters, 1, "eleventh");
    assertEquals(2, counters.shards("a"));
    recording.calls();
    for (int i = 0; i < 50; i++) {
      applied(counters, 1, "more" + i);
    }
    assertEquals(0, recording.callsOf("get all counter/a/shards"), "it has grown to its limit");
  }

  // ---- adds and reads concurrent with others

  @Test
  void aRequestThatCameInMeanwhileIsReplayedAndNotRejected() {
    ShardOptions stock = ALONE.within(Bounds.atLeast(0));
    Sharded other = oneInEachShard(stock);
    AddResult answer = addMeeting(() -> applied(other, -2, "same"), stock);
    assertInstanceOf(AddResult.Replayed.class, answer);
    assertEquals(Optional.of(Reading.exact(0)), other.read("a"));
  }

  @Test
  void aRequestWhoseRoomAnotherTookMeanwhileIsRejected() {
    ShardOptions stock = ALONE.within(Bounds.atLeast(0));
    Sharded other = oneInEachShard(stock);
    AddResult answer = addMeeting(() -> applied(other, -2, "another"), stock);
    assertEquals(new AddResult.Rejected(Rejection.FLOOR, 0), answer);
  }

  private Sharded oneInEachShard(ShardOptions options) {
    applied(plain, 2, "in");
    Sharded other = on(others, options);
    other.cancel("a", RequestId.of("divides"));
    return other;
  }

  /**
   * Adds more than one shard has: the first attempt fails, and after it the other request arrives.
   */
  private AddResult addMeeting(Runnable request, ShardOptions options) {
    CallScript script = new CallScript().after(CallScript.to("counter/a"), request);
    Sharded slow = on(new Store(script.around(memory), clock), options);
    AddResult answer = add(slow, -2, "same");
    assertTrue(script.isDone());
    return answer;
  }

  @Test
  void aReadingSaysByHowMuchShardsMovedAndReadsEachTwice() {
    Moving below = new Moving(new Optimistic(store));
    Sharded writer = new Sharded(store, below.held, ALONE, Randomness.seeded(1));
    writer.add(new Add("a", 10, null));
    below.afterSecondRead = () -> writer.add(new Add("a", 5, null));
    Reading moved = new Sharded(store, below, ALONE).read("a").orElseThrow();
    Uncertainty uncertainty = new Uncertainty(Uncertainty.Cause.MOVING, "a", 5);
    assertEquals(new Reading(15, 10, 15, List.of(uncertainty)), moved);
    assertEquals(List.of("a", "a#shard-1", "a", "a#shard-1"), below.reads);
  }

  private static final class Moving implements Technique {
    final Technique held;
    final List<String> reads = new ArrayList<>();
    Runnable afterSecondRead = () -> {};

    Moving(Technique held) {
      this.held = held;
    }

    @Override
    public TechniqueSpec spec() {
      return held.spec();
    }

    @Override
    public AddResult add(Add add) {
      return held.add(add);
    }

    @Override
    public Optional<Reading> read(String counter) {
      Optional<Reading> reading = held.read(counter);
      reads.add(counter);
      if (reads.size() == 2) {
        afterSecondRead.run();
      }
      return reading;
    }

    @Override
    public CounterPage list(String prefix, String after, int limit) {
      return held.list(prefix, after, limit);
    }
  }
}
