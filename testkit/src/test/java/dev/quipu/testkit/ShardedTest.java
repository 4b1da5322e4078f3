package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import dev.quipu.RequestOutcome;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.ItemCollection;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.Optimistic;
import dev.quipu.technique.RequestTokens;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.TokenSet;
import dev.quipu.time.Randomness;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Guarantees of shards in addition to those of their technique. */
final class ShardedTest {
  private static final Bounds STOCK = Bounds.atLeast(0);

  private final ManualClock clock = new ManualClock(1_000_000);
  private final Store store = new Store(new MemoryDriver(), clock);

  private Sharded open(ShardOptions options) {
    return new Sharded(store, new MarkerItem(store), options, Randomness.seeded(1));
  }

  private static AddResult add(Technique counters, long delta, Bounds bounds, String id) {
    return counters.add(new Add("a", delta, bounds, RequestId.of(id)));
  }

  private static void applied(Technique counters, long delta, Bounds bounds, String id) {
    assertInstanceOf(AddResult.Applied.class, add(counters, delta, bounds, id));
  }

  private static long value(Technique counters) {
    return counters.read("a").orElseThrow().value();
  }

  @Test
  void aRejectionIsGivenOnlyWhenTheSumHasNoRoom() {
    Sharded counters = open(ShardOptions.fixed(16).within(STOCK));
    for (int i = 0; i < 20; i++) {
      applied(counters, 5, STOCK, "in" + i);
    }
    assertEquals(16, counters.shards("a"));
    applied(counters, -99, STOCK, "all but one"); // more than any shard has
    assertEquals(new AddResult.Rejected(Rejection.FLOOR, 1), add(counters, -2, STOCK, "two"));
    for (int i = 0; i < 50; i++) { // whichever shard is first, the last one is found
      applied(counters, -1, STOCK, "out" + i);
      assertEquals(new AddResult.Rejected(Rejection.FLOOR, 0), add(counters, -1, STOCK, "no" + i));
      applied(counters, 1, STOCK, "back" + i);
    }
    assertEquals(1, value(counters));
  }

  @Test
  void bothBoundsHoldOverShardsThatAreSmallerThanTheAmount() {
    Bounds both = Bounds.between(-10, 100);
    Sharded counters = open(ShardOptions.fixed(7).within(both));
    applied(counters, 60, both, "60");
    assertEquals(new AddResult.Rejected(Rejection.CEILING, 60), add(counters, 41, both, "41"));
    applied(counters, 40, both, "40");
    assertEquals(new AddResult.Rejected(Rejection.FLOOR, 100), add(counters, -111, both, "-111"));
    applied(counters, -110, both, "-110");
    assertEquals(-10, value(counters));
    assertInstanceOf(AddResult.Replayed.class, add(counters, 60, both, "60"));
    assertInstanceOf(AddResult.Replayed.class, add(counters, 60, Bounds.none(), "60"));
    assertInstanceOf(AddResult.Rejected.class, add(counters, -1, Bounds.none(), "-1"));
    assertEquals(new AddResult.Conflict(60), add(counters, 61, both, "60"));
  }

  @Test
  void theSumHas64BitsAndNoMore() {
    Sharded counters = open(ShardOptions.growing(4, 8));
    applied(counters, Long.MAX_VALUE, Bounds.none(), "max");
    assertEquals(
        new AddResult.Rejected(Rejection.OVERFLOW, Long.MAX_VALUE),
        add(counters, 1, Bounds.none(), "one"));
    applied(counters, Long.MIN_VALUE, Bounds.none(), "min");
    assertEquals(-1, value(counters));
    applied(counters, -Long.MAX_VALUE, Bounds.none(), "-max");
    assertEquals(Long.MIN_VALUE, value(counters));
    counters.grow("a", 8);
    assertEquals(Long.MIN_VALUE, value(counters));
    assertEquals(
        new AddResult.Rejected(Rejection.OVERFLOW, Long.MIN_VALUE),
        add(counters, -1, Bounds.none(), "one less"));
  }

  @Test
  void aPlainCounterBecomesADividedOneWithItsSumAndItsIds() {
    MarkerItem plain = new MarkerItem(store);
    for (int i = 0; i < 30; i++) {
      applied(plain, 2, Bounds.none(), "plain" + i);
    }
    plain.cancel("a", RequestId.of("canceled"));
    Sharded counters = open(ShardOptions.growing(1, 8).hotAt(10));
    for (int i = 0; i < 200; i++) {
      applied(counters, 1, Bounds.none(), "hot" + i);
    }
    assertEquals(8, counters.shards("a"));
    assertEquals(260, value(counters));
    for (int i = 0; i < 30; i++) {
      assertInstanceOf(AddResult.Replayed.class, add(counters, 2, Bounds.none(), "plain" + i));
      RequestOutcome outcome = counters.outcome("a", RequestId.of("plain" + i));
      assertInstanceOf(RequestOutcome.Applied.class, outcome);
    }
    for (int i = 0; i < 200; i++) {
      assertInstanceOf(AddResult.Replayed.class, add(counters, 1, Bounds.none(), "hot" + i));
    }
    assertEquals(new AddResult.Conflict(2), add(counters, 3, Bounds.none(), "plain7"));
    assertEquals(
        new AddResult.Rejected(Rejection.CANCELED), add(counters, 3, Bounds.none(), "canceled"));
    assertEquals(260, value(counters));
  }

  @Test
  void aProcessWithAnOldPlanLosesNothingAndCountsNothingTwice() {
    ShardOptions options = ShardOptions.growing(2, 8).within(STOCK);
    Sharded slow = open(options);
    applied(slow, 40, STOCK, "first");
    for (int round = 0; round < 30; round++) {
      String id = "id" + round;
      if (round == 10) {
        open(options).grow("a", 8); // the slow one learns nothing of that
      }
      applied(slow, -1, STOCK, id);
      Sharded fresh = open(options);
      assertInstanceOf(AddResult.Replayed.class, add(fresh, -1, STOCK, id));
      assertInstanceOf(AddResult.Replayed.class, add(slow, -1, STOCK, id));
    }
    assertEquals(10, value(slow));
    assertEquals(8, slow.shards("a"));
  }

  @Test
  void aCancelHoldsWhicheverPlanItWasMadeBy() {
    ShardOptions options = ShardOptions.growing(1, 8);
    Sharded slow = open(options);
    applied(slow, 1, Bounds.none(), "first");
    for (int i = 0; i < 20; i++) {
      slow.cancel("a", RequestId.of("before" + i));
    }
    Sharded fresh = open(options);
    fresh.grow("a", 8);
    for (int i = 0; i < 20; i++) {
      slow.cancel("a", RequestId.of("after" + i)); // by the old plan at first
      applied(fresh, 1, Bounds.none(), "applied" + i);
      RequestOutcome late = slow.cancel("a", RequestId.of("applied" + i));
      assertInstanceOf(RequestOutcome.Applied.class, late);
    }
    for (int i = 0; i < 20; i++) {
      for (String when : List.of("before", "after")) {
        AddResult.Rejected rejected =
            assertInstanceOf(
                AddResult.Rejected.class, add(fresh, 1, Bounds.none(), when + i), when + i);
        assertEquals(Rejection.CANCELED, rejected.why());
      }
      assertInstanceOf(AddResult.Replayed.class, add(fresh, 1, Bounds.none(), "applied" + i));
    }
    assertEquals(21, value(fresh));
  }

  @Test
  void aCancellationBeforeTheFirstAddSurvivesGrowth() {
    new MarkerItem(store).cancel("a", RequestId.of("plain"));
    Sharded counters = open(ShardOptions.growing(1, 8));
    for (int i = 0; i < 20; i++) {
      counters.cancel("a", RequestId.of("early" + i));
    }
    counters.grow("a", 8);
    for (int i = 0; i < 20; i++) {
      AddResult late = add(counters, 1, Bounds.none(), "early" + i);
      assertEquals(new AddResult.Rejected(Rejection.CANCELED), late);
    }
    AddResult plain = add(counters, 1, Bounds.none(), "plain");
    assertEquals(new AddResult.Rejected(Rejection.CANCELED), plain);
    assertEquals(Optional.empty(), counters.read("a"));
  }

  @Test
  void aReadDuringATakeOverReturnsTheWholeSum() {
    for (int moment = 1; moment <= 4; moment++) {
      MemoryDriver driver = new MemoryDriver();
      Store shared = new Store(driver, clock);
      applied(new MarkerItem(shared), 40, Bounds.none(), "plain");
      Sharded other = sharded(shared);
      int dividesAt = moment;
      int[] calls = new int[1];
      InterceptingDriver.Interceptor dividing =
          new InterceptingDriver.Interceptor() {
            @Override
            public <T> T call(Supplier<T> call) {
              if (++calls[0] == dividesAt) {
                applied(other, 2, Bounds.none(), "sharded");
              }
              return call.get();
            }
          };
      Sharded reader = sharded(new Store(new InterceptingDriver(driver, dividing), clock));
      long value = value(reader);
      assertTrue(value == 40 || value == 42, "at call " + moment + ": " + value);
    }
  }

  private static Sharded sharded(Store store) {
    return new Sharded(
        store, new MarkerItem(store), ShardOptions.growing(4, 8), Randomness.seeded(1));
  }

  @Test
  void aReadingOfShardsThatMoveIsNotExact() {
    Store shared = new Store(new MemoryDriver(), clock);
    Optimistic below = new Optimistic(shared);
    ShardOptions options = ShardOptions.fixed(2);
    Sharded writer = new Sharded(shared, below, options, Randomness.seeded(1));
    for (int i = 0; i < 10; i++) {
      assertInstanceOf(AddResult.Applied.class, writer.add(new Add("a", 1, null)));
    }
    int[] reads = new int[1];
    Technique moving =
        new Technique() {
          @Override
          public TechniqueSpec spec() {
            return below.spec();
          }

          @Override
          public AddResult add(Add add) {
            return below.add(add);
          }

          @Override
          public Optional<Reading> read(String counter) {
            Optional<Reading> reading = below.read(counter);
            if (++reads[0] == 1) {
              writer.add(new Add("a", 5, null));
            }
            return reading;
          }

          @Override
          public CounterPage list(String prefix, String after, int limit) {
            return below.list(prefix, after, limit);
          }
        };
    Reading reading = new Sharded(shared, moving, options).read("a").orElseThrow();
    assertTrue(reading.low() <= 15 && reading.high() == 15, reading.toString());
    assertTrue(reading.low() < 15 || reading.uncertainties().isEmpty(), reading.toString());
    assertEquals(Reading.exact(15), new Sharded(shared, moving, options).read("a").orElseThrow());
  }

  @Test
  void aListingShowsCountersAndNotTheirShards() {
    Sharded counters = open(ShardOptions.growing(1, 4));
    for (String name : List.of("a", "b", "c")) {
      for (int i = 0; i < 20; i++) {
        counters.add(new Add(name, 1, RequestId.of("id" + i)));
        counters.grow(name, 4);
      }
    }
    CounterPage page = counters.list("", "", 10);
    assertEquals(
        List.of("a", "b", "c"), page.counters().stream().map(CounterPage.Entry::name).toList());
    assertEquals(Reading.exact(20), page.counters().getFirst().reading());
  }

  @Test
  void unsupportedShardingIsRejectedWithAReason() {
    ShardOptions bounded = ShardOptions.fixed(2).within(STOCK);
    rejected("item-collection", new ItemCollection(store), ShardOptions.fixed(2));
    rejected("marker-item", new RequestTokens(store), bounded);
    rejected("must include", () -> ShardOptions.fixed(2).within(Bounds.atLeast(5)));
    rejected("from 1 to 64", () -> ShardOptions.fixed(65));
    rejected("shards cannot grow", new TokenSet(store), ShardOptions.growing(1, 2));
    Set<Capability> left = EnumSet.of(Capability.STRONG_READ, Capability.NATIVE_UPDATE);
    Store small = new Store(new LimitedDriver(new MemoryDriver(), left), clock);
    rejected("batches over all items", () -> new Sharded(small, new TokenSet(small), bounded));
    Sharded alone = new Sharded(small, new Optimistic(small), ShardOptions.fixed(2));
    assertThrows(UnsupportedOperationException.class, () -> alone.grow("a", 4));
    rejected("#shard-N", () -> alone.add(new Add("a#shard-1", 1, null)));
  }

  @Test
  void aCounterIsOpenedTheSameWayByAll() {
    applied(open(ShardOptions.fixed(4).within(STOCK)), 5, STOCK, "id");
    for (ShardOptions other :
        List.of(
            ShardOptions.fixed(4),
            ShardOptions.fixed(4).within(Bounds.between(0, 9)),
            ShardOptions.growing(4, 8))) {
      QuipuException e =
          assertThrows(QuipuException.class, () -> open(other).add(new Add("a", 1, null)));
      assertEquals(Reason.DENIED, e.reason());
    }
    Sharded same = open(ShardOptions.growing(2, 8).within(STOCK)); // has 4 already
    applied(same, -1, STOCK, "other");
    assertThrows(
        UnsupportedOperationException.class,
        () -> same.add(new Add("a", -1, Bounds.between(-1, 9), null)));
    assertEquals(Optional.of(Reading.exact(4)), same.read("a"));
  }

  @Test
  void aCounterThatWasDividedWithinOtherBoundsIsRepaired() {
    Sharded before = open(ShardOptions.fixed(4).within(STOCK));
    applied(before, 50, Bounds.none(), "id");
    Bounds bounds = Bounds.between(-10, 60);
    Sharded after = open(ShardOptions.fixed(8).within(bounds));
    QuipuException e = assertThrows(QuipuException.class, () -> after.read("a"));
    assertEquals(Reason.DENIED, e.reason()); // the server's configuration, not the request
    assertEquals(
        "counter a cannot be opened: it has 4 shards, floor 0, no ceiling; this"
            + " process is configured for 8 shards, floor -10, ceiling 60. Give the"
            + " counter the bounds of the"
            + " store's record, with the other options of the record: quipu repair a --store URI"
            + " --shards 8 --floor -10 --ceiling 60",
        e.getMessage());
    Sharded tooNarrow = open(ShardOptions.fixed(4).within(Bounds.between(0, 49)));
    assertThrows(QuipuException.class, () -> tooNarrow.repair("a"));
    assertTrue(after.repair("a"));
    assertFalse(after.repair("a"));
    assertEquals(Optional.of(Reading.exact(50)), after.read("a"));
    AddResult repeat = add(after, 50, Bounds.none(), "id"); // not counted: it had other bounds
    assertInstanceOf(AddResult.Conflict.class, repeat);
    assertInstanceOf(AddResult.Rejected.class, add(after, 11, Bounds.none(), "eleven"));
    applied(after, 10, Bounds.none(), "ten");
    applied(after, -70, Bounds.none(), "all");
    assertInstanceOf(AddResult.Rejected.class, add(after, -1, Bounds.none(), "one"));
    assertThrows(QuipuException.class, () -> add(before, 1, STOCK, "old")); // by the old plan
    assertFalse(after.repair("b"));
    Sharded alone = open(ShardOptions.fixed(4));
    assertThrows(QuipuException.class, () -> alone.repair("a"));
  }

  @Test
  void theLeastLoadedShardIsChosen() {
    int random = addsToTheBusyShard(ShardOptions.Choice.RANDOM);
    int leastLoaded = addsToTheBusyShard(ShardOptions.Choice.LEAST_LOADED);
    // The better of two shards that are drawn: the busy one of two is drawn twice in 1 of 4.
    assertTrue(random > 160 && random < 240, "of 400 at random: " + random);
    assertTrue(leastLoaded > 60 && leastLoaded < 140, "of 400 by load: " + leastLoaded);
  }

  /**
   * Returns how many of 400 adds go to the busy shard of two, while an add to it is in progress.
   */
  private static int addsToTheBusyShard(ShardOptions.Choice choice) {
    List<String> shards = new ArrayList<>(); // of each add, in the order in which they began
    List<Runnable> meanwhile = new ArrayList<>();
    Store store =
        new Store(
            new InterceptingDriver(
                new MemoryDriver(),
                new InterceptingDriver.Interceptor() {
                  @Override
                  public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
                    if (writes.getLast() instanceof Write.Update add) {
                      shards.add(add.key().partition());
                      if (!meanwhile.isEmpty()) {
                        meanwhile.removeFirst().run();
                      }
                    }
                    return call.get();
                  }
                }),
            new ManualClock(1_000_000));
    Sharded counters =
        new Sharded(
            store,
            new MarkerItem(store),
            ShardOptions.fixed(2).choosing(choice),
            Randomness.seeded(1));
    counters.add(new Add("a", 1, null)); // stores the plan
    shards.clear();
    meanwhile.add(() -> {
      for (int i = 0; i < 400; i++) {
        assertInstanceOf(AddResult.Applied.class, counters.add(new Add("a", 1, null)));
      }
    });
    counters.add(new Add("a", 1, null));
    assertEquals(402, value(counters));
    assertEquals(401, shards.size());
    assertEquals(2, Set.copyOf(shards).size(), shards::toString);
    return Collections.frequency(shards.subList(1, 401), shards.getFirst());
  }

  private void rejected(String reason, Technique below, ShardOptions options) {
    rejected(reason, () -> new Sharded(store, below, options));
  }

  private static void rejected(String reason, Runnable call) {
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call::run);
    assertTrue(String.valueOf(e.getMessage()).contains(reason), e.getMessage());
  }
}
