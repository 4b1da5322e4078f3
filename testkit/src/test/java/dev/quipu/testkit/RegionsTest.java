package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.Uncertainty;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.region.RegionLeases;
import dev.quipu.region.RegionOptions;
import dev.quipu.region.RegionalCounters;
import dev.quipu.region.Regions;
import dev.quipu.region.TakenOver;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.region.GlobalTable;
import dev.quipu.simulation.region.MemoryReplica;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Interactions of regions, one case at a time. */
final class RegionsTest {
  private static final List<String> NAMES = List.of("ap", "eu", "us");
  private static final int AP = 0;
  private static final int EU = 1;
  private static final int US = 2;
  private static final RegionLeases.Terms TERMS =
      new RegionLeases.Terms(Duration.ofHours(1), Duration.ofSeconds(10), Duration.ofMinutes(30));

  private final ManualClock clock = new ManualClock(1_800_000_000_000L);
  private final RandomGenerator random = Randomness.seeded(1);
  private final List<MemoryReplica> replicas = new ArrayList<>();
  private final GlobalTable<Key, Item> table = table();
  private final RegionOptions stock = RegionOptions.DEFAULT.within(Bounds.atLeast(0));

  private GlobalTable<Key, Item> table() {
    for (int i = 0; i < NAMES.size(); i++) {
      replicas.add(new MemoryReplica());
    }
    return new GlobalTable<>(replicas, clock, random, Duration.ofSeconds(1));
  }

  private Regions seenFrom(int region, List<String> names, List<String> founders) {
    Map<String, Store> stores = new TreeMap<>();
    for (String name : names) {
      int number = NAMES.indexOf(name);
      RetryPolicy once =
          new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofSeconds(1));
      stores.put(name, new Store(table.seenFrom(region, number), clock, random, once));
    }
    return new Regions(NAMES.get(region), founders, stores);
  }

  private RegionalCounters in(int region, RegionOptions options) {
    Regions regions = seenFrom(region, NAMES, NAMES);
    return new RegionalCounters(regions, options, RegionLeases.none(regions), random);
  }

  private RegionalCounters in(int region) {
    return in(region, stock);
  }

  private static AddResult add(RegionalCounters at, long delta, String id) {
    return at.add(new Add("s", delta, RequestId.of(id)));
  }

  private static void applied(RegionalCounters at, long delta) {
    assertInstanceOf(AddResult.Applied.class, at.add(new Add("s", delta, null)));
  }

  private static long value(RegionalCounters at) {
    Reading reading = at.read("s").orElseThrow();
    assertEquals(Reading.exact(reading.value()), reading);
    return reading.value();
  }

  private void healed() {
    table.heal();
    clock.advance(Regions.SILENCE.plusSeconds(1));
    table.settle();
  }

  private static void assertTells(RuntimeException e, String what) {
    assertTrue(String.valueOf(e.getMessage()).contains(what), e.toString());
  }

  @Test
  void theIdSaysWhereARequestCounts() {
    RegionalCounters ap = in(AP);
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> add(ap, 1, "order-981"));
    assertTells(e, "ap/order-981");
    assertThrows(IllegalArgumentException.class, () -> add(ap, 1, "sa/order-981"));
    assertEquals("eu", seenFrom(EU, NAMES, NAMES).home(seenFrom(EU, NAMES, NAMES).id("x/y")));
  }

  @Test
  void aRepeatInAnotherRegionFindsTheFirst() {
    assertInstanceOf(AddResult.Applied.class, add(in(AP), 7, "ap/1"));
    assertInstanceOf(AddResult.Replayed.class, add(in(EU), 7, "ap/1")); // from ap's replica
    assertInstanceOf(AddResult.Conflict.class, add(in(EU), 8, "ap/1"));
    table.settle();
    table.cutOff(AP);
    assertInstanceOf(AddResult.Replayed.class, add(in(US), 7, "ap/1")); // as replicated to us
    QuipuException e = assertThrows(QuipuException.class, () -> add(in(US), 7, "ap/2"));
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    healed();
    assertInstanceOf(AddResult.Applied.class, add(in(US), 7, "ap/2"));
    assertEquals(14, value(in(EU)));
  }

  @Test
  void whatIsCanceledInOneRegionIsRejectedInAll() {
    assertInstanceOf(AddResult.Applied.class, add(in(AP), 7, "ap/1"));
    assertInstanceOf(RequestOutcome.Applied.class, in(EU).cancel("s", RequestId.of("ap/1")));
    assertInstanceOf(RequestOutcome.NotSeen.class, in(EU).outcome("s", RequestId.of("ap/2")));
    assertInstanceOf(RequestOutcome.Canceled.class, in(EU).cancel("s", RequestId.of("ap/2")));
    assertEquals(new AddResult.Rejected(Rejection.CANCELED), add(in(AP), 7, "ap/2"));
    assertEquals(new AddResult.Rejected(Rejection.CANCELED), add(in(US), 7, "ap/2"));
    table.cutOff(AP);
    assertThrows(QuipuException.class, () -> in(EU).cancel("s", RequestId.of("ap/3")));
    assertThrows(QuipuException.class, () -> in(EU).outcome("s", RequestId.of("ap/3")));
    healed();
    assertInstanceOf(RequestOutcome.Canceled.class, in(US).outcome("s", RequestId.of("ap/2")));
    assertEquals(7, value(in(US)));
  }

  /** Returns how many pieces a region can sell without the others. */
  private long sellAlone(int region) {
    for (int i = 0; i < NAMES.size(); i++) {
      table.cutOff(i);
    }
    RegionalCounters here = in(region);
    long sold = 0;
    while (here.add(new Add("s", -1, null)) instanceof AddResult.Applied) {
      sold++;
    }
    healed();
    return sold;
  }

  @Test
  void rightsComeFromTheRichest() {
    applied(in(AP), 10);
    applied(in(US), 100);
    applied(in(EU), -5);
    assertEquals(List.of(10L, 0L, 95L), List.of(sellAlone(AP), sellAlone(EU), sellAlone(US)));
  }

  @Test
  void whoSellsMoreGetsMoreButNoMoreThanHalf() {
    applied(in(AP), 1_000);
    RegionalCounters eu = in(EU);
    for (int i = 0; i < 100; i++) {
      applied(eu, -1);
    }
    long ahead = sellAlone(EU);
    assertTrue(ahead >= 20 && ahead <= 100, "eu has " + ahead);
    applied(in(US), -(900 - ahead) + 1); // more than half, where only that is enough
    assertEquals(1, value(in(AP)));
  }

  @Test
  void bigRequestsTakeFromAllRegions() {
    applied(in(AP), 10);
    applied(in(US), 100);
    applied(in(EU), 30);
    applied(in(EU), -140);
    assertEquals(0, value(in(AP)));
    assertEquals(new AddResult.Rejected(Rejection.FLOOR, 0), in(US).add(new Add("s", -1, null)));
  }

  @Test
  void aRegionThatIsCutOffSellsWhatItHas() {
    applied(in(AP), 100);
    applied(in(EU), -10); // which provides more than it needs
    applied(in(EU), -1);
    table.settle();
    table.cutOff(EU);
    AddResult.Rejected rejected = (AddResult.Rejected) in(EU).add(new Add("s", -80, null));
    assertEquals(Rejection.HELD_ELSEWHERE, rejected.why());
    assertEquals(List.of("ap", "us"), rejected.heldBy());
    long sold = 0;
    while (in(EU).add(new Add("s", -1, null)) instanceof AddResult.Applied) {
      sold++;
    }
    Reading there = in(US).read("s").orElseThrow();
    assertTrue(there.low() <= 89 - sold && 89 - sold <= there.high(), there.toString());
    assertEquals("eu", there.uncertainties().getFirst().where());
    assertEquals(Uncertainty.Cause.SILENT_REGION, there.uncertainties().getFirst().cause());
    healed();
    assertEquals(89 - sold, value(in(US)));
  }

  @Test
  void aCeilingIsSharedOutAndMoves() {
    RegionOptions quota = RegionOptions.DEFAULT.within(Bounds.between(0, 10));
    applied(in(AP, quota), 9); // all but one of every region's share
    assertInstanceOf(AddResult.Applied.class, in(US, quota).add(new Add("s", 1, null)));
    assertEquals(
        new AddResult.Rejected(Rejection.CEILING, 10), in(EU, quota).add(new Add("s", 1, null)));
    applied(in(EU, quota), -10);
    assertEquals(0, value(in(AP, quota)));
  }

  @Test
  void withoutBoundsNobodyWaits() {
    RegionOptions plain = RegionOptions.DEFAULT;
    for (int i = 0; i < 3; i++) {
      table.cutOff(i);
    }
    for (int i = 0; i < 3; i++) {
      applied(in(i, plain), 1L << i);
    }
    Reading apart = in(AP, plain).read("s").orElseThrow();
    assertEquals(new Reading(1, Long.MIN_VALUE, Long.MAX_VALUE, apart.uncertainties()), apart);
    healed();
    for (int i = 0; i < 3; i++) {
      assertEquals(7, value(in(i, plain)));
    }
  }

  @Test
  void allRegionsMustHaveOnePlan() {
    applied(in(AP), 100);
    QuipuException e =
        assertThrows(
            QuipuException.class,
            () -> applied(in(EU, RegionOptions.DEFAULT.within(Bounds.atLeast(-5))), 1));
    assertTells(e, "same topology");
    assertThrows(
        IllegalArgumentException.class, () -> RegionOptions.DEFAULT.within(Bounds.between(1, 5)));
    assertThrows(
        UnsupportedOperationException.class,
        () -> in(AP).add(new Add("s", -1, Bounds.atLeast(-9), null)));
  }

  @Test
  void aNewRegionBeginsWithNothingAndGetsItsPart() {
    List<String> two = List.of("ap", "eu");
    for (int region : List.of(AP, EU)) {
      Regions regions = seenFrom(region, NAMES, two);
      applied(new RegionalCounters(regions, stock, RegionLeases.none(regions), random), 50);
    }
    Regions regions = seenFrom(US, NAMES, two);
    RegionalCounters us = new RegionalCounters(regions, stock, RegionLeases.none(regions), random);
    applied(us, -70);
    assertEquals(30, value(us));
    Regions without = seenFrom(AP, two, two);
    RegionalCounters old = new RegionalCounters(without, stock, RegionLeases.none(without), random);
    QuipuException e = assertThrows(QuipuException.class, () -> old.read("s"));
    assertTells(e, "region us");
  }

  /** A region with leases, and their store. */
  private record Leased(RegionalCounters counters, RegionLeases leases) {}

  private Leased leased(int region) {
    Regions regions = seenFrom(region, NAMES, NAMES);
    RegionLeases leases = RegionLeases.of(regions, TERMS);
    return new Leased(new RegionalCounters(regions, stock, leases, random), leases);
  }

  @Test
  void onlyALeaseFreesTheRightsOfALostRegion() {
    Leased ap = leased(AP);
    Leased eu = leased(EU);
    Leased us = leased(US);
    assertThrows(
        QuipuException.class, () -> applied(eu.counters, 1)); // no other region confirmed it yet
    List.of(ap, eu, us).forEach(each -> assertTrue(each.leases.renew()));
    assertInstanceOf(AddResult.Applied.class, add(eu.counters, 100, "eu/early"));
    applied(us.counters, -10);
    table.settle();
    IllegalStateException answers =
        assertThrows(IllegalStateException.class, () -> us.counters.retire("eu"));
    assertTells(answers, "region eu is alive; only");

    table.cutOff(EU);
    for (String region : List.of("eu", "us")) {
      IllegalStateException notRetired =
          assertThrows(IllegalStateException.class, () -> us.counters.acceptLoss(region));
      assertTells(notRetired, "region %s is not retired; retired regions: none".formatted(region));
    }
    applied(eu.counters, -1); // unknown to the others
    IllegalStateException runs =
        assertThrows(IllegalStateException.class, () -> us.counters.retire("eu"));
    assertTells(runs, "lease");
    AddResult.Rejected held = (AddResult.Rejected) us.counters.add(new Add("s", -90, null));
    assertEquals(List.of("eu"), held.heldBy());

    clock.advance(Duration.ofMinutes(55));
    assertEquals(false, us.leases.renew()); // eu does not reply
    clock.advance(Duration.ofMinutes(6));
    assertThrows(QuipuException.class, () -> applied(eu.counters, -1)); // it stops by itself
    assertThrows(QuipuException.class, () -> applied(us.counters, -1)); // and so do the others
    IllegalStateException clocks =
        assertThrows(IllegalStateException.class, () -> us.counters.retire("eu"));
    assertTells(clocks, "in ap it was"); // at its last beat, an hour ago
    assertEquals(false, ap.leases.renew());
    Map<String, TakenOver> left = us.counters.retire("eu");
    assertEquals(List.of(100L), left.values().stream().map(each -> each.counted()).toList());
    assertEquals(left, us.counters.retire("eu"));
    List.of(ap, us).forEach(each -> assertTrue(each.leases.renew()));
    applied(ap.counters, -90);
    Reading uncertain = us.counters.read("s").orElseThrow();
    assertEquals(
        List.of("eu"), uncertain.uncertainties().stream().map(Uncertainty::where).toList());
    us.counters.acceptLoss("eu");
    assertEquals(0, value(us.counters));
    for (Leased each : List.of(ap, us)) {
      assertInstanceOf(AddResult.Replayed.class, add(each.counters, 100, "eu/early"));
      RequestOutcome early = each.counters.outcome("s", RequestId.of("eu/early"));
      assertInstanceOf(RequestOutcome.Applied.class, early);
    }
    assertInstanceOf(AddResult.Rejected.class, us.counters.add(new Add("s", -1, null)));

    healed(); // eu is reconnected, and learns of it
    assertEquals(0, value(ap.counters));
    QuipuException retired = assertThrows(QuipuException.class, eu.leases::renew);
    assertTells(retired, "retired");
    assertThrows(QuipuException.class, () -> applied(eu.counters, -1));
    for (Leased each : List.of(ap, us)) {
      QuipuException late =
          assertThrows(QuipuException.class, () -> add(each.counters, 3, "eu/late"));
      assertEquals(Outcome.UNKNOWN, late.outcome()); // it may have counted there
      assertThrows(QuipuException.class, () -> each.counters.outcome("s", RequestId.of("eu/late")));
    }
    assertEquals(0, value(us.counters));
  }

  @Test
  void aReplicaThatWasSetBackDoesNotCountAgain() {
    Leased ap = leased(AP);
    Leased eu = leased(EU);
    Leased us = leased(US);
    List.of(ap, eu, us).forEach(each -> assertTrue(each.leases.renew()));
    applied(eu.counters, 100);
    Map<Key, Item> copy = replicas.get(EU).copy();
    assertTrue(eu.leases.renew());
    applied(eu.counters, -60);
    table.settle();
    replicas.get(EU).setBack(copy); // now it reports that it has 100
    Leased again = leased(EU);
    QuipuException back = assertThrows(QuipuException.class, again.leases::renew);
    assertTells(back, "restored from a backup");
    assertThrows(QuipuException.class, () -> applied(again.counters, -1));
  }

  /** Another process renews after it has read the other regions, before it reads its own. */
  @Test
  void aRenewalThatIsUnderWayDoesNotHideThatAReplicaWasSetBack() {
    List<Leased> all = List.of(leased(AP), leased(EU), leased(US));
    all.forEach(each -> assertTrue(each.leases.renew()));
    Map<Key, Item> copy = replicas.get(EU).copy();
    Queue<Runnable> meanwhile = new ArrayDeque<>();
    meanwhile.add(() -> {
      assertTrue(all.get(EU).leases.renew());
      table.settle();
      replicas.get(EU).setBack(copy);
    });
    Map<String, Store> stores = new TreeMap<>();
    for (int i = 0; i < NAMES.size(); i++) {
      StoreDriver seen = table.seenFrom(EU, i);
      stores.put(NAMES.get(i), new Store(i == US ? after(seen, meanwhile) : seen, clock));
    }
    RegionLeases slow = RegionLeases.of(new Regions("eu", NAMES, stores), TERMS, random);
    assertFalse(slow.renew());
    assertEquals(0, meanwhile.size());
    RegionLeases next = leased(EU).leases;
    assertTells(assertThrows(QuipuException.class, next::renew), "restored from a backup");
  }

  private static StoreDriver after(StoreDriver driver, Queue<Runnable> meanwhile) {
    return new InterceptingDriver(
        driver,
        new InterceptingDriver.Interceptor() {
          @Override
          public <T> T call(Supplier<T> call) {
            T answer = call.get();
            Runnable next = meanwhile.poll();
            if (next != null) {
              next.run();
            }
            return answer;
          }
        });
  }
}
