package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.CounterPage;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.region.RegionLeases;
import dev.quipu.region.RegionOptions;
import dev.quipu.region.RegionalCounters;
import dev.quipu.region.Regions;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.simulation.region.GlobalTable;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Requirements of regional counters on their stores, and their limits. */
final class RegionLimitsTest {
  private final ManualClock clock = new ManualClock(1_800_000_000_000L);
  private final RandomGenerator random = Randomness.seeded(1);

  private RegionalCounters one(StoreDriver driver, RegionOptions options) {
    Store store = new Store(driver, clock);
    Regions regions = new Regions("ap", List.of("ap"), Map.of("ap", store));
    return new RegionalCounters(regions, options, RegionLeases.none(regions), random);
  }

  /** Returns one of two regions, which reaches the other through the table. */
  private RegionalCounters inRegion(
      String own, GlobalTable<Key, Item> table, List<String> initial, RegionOptions options) {
    int from = own.equals("ap") ? 0 : 1;
    Map<String, Store> stores =
        Map.of(
            "ap", new Store(table.seenFrom(from, 0), clock),
            "eu", new Store(table.seenFrom(from, 1), clock));
    Regions regions = new Regions(own, initial, stores);
    return new RegionalCounters(regions, options, RegionLeases.none(regions), random);
  }

  private static AddResult add(RegionalCounters at, long delta, String id) {
    return at.add(new Add("s", delta, RequestId.of(id)));
  }

  @Test
  void aStoreWithoutBatchesIsRejected() {
    StoreDriver without =
        new LimitedDriver(
            new MemoryDriver(),
            Set.of(Capability.STRONG_READ, Capability.NATIVE_UPDATE, Capability.ORDERED_SCAN));
    assertThrows(IllegalArgumentException.class, () -> one(without, RegionOptions.DEFAULT));
  }

  @Test
  void aBatchHasRoomForAllCellsAndTheRequest() {
    StoreDriver driver = ProfiledDriver.ofBatches(new MemoryDriver(), "small", 5);
    RegionalCounters four = one(driver, RegionOptions.DEFAULT.over(4));
    assertSame(RegionalCounters.SPEC, four.spec());
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class, () -> one(driver, RegionOptions.DEFAULT.over(5)));
    assertEquals("cells is 5; a batch of store small allows at most 4", e.getMessage());
  }

  @Test
  void requestIdsAreForgottenAfterTheirTime() {
    Duration keep = Duration.ofHours(1);
    RegionalCounters counters = one(new MemoryDriver(), RegionOptions.DEFAULT.keeping(keep));
    assertInstanceOf(AddResult.Applied.class, add(counters, 5, "ap/1"));
    clock.advance(keep.minusMillis(1));
    assertInstanceOf(AddResult.Replayed.class, add(counters, 5, "ap/1"));
    clock.advance(Duration.ofMillis(2));
    assertInstanceOf(RequestOutcome.NotSeen.class, counters.outcome("s", RequestId.of("ap/1")));
  }

  @Test
  void rightsBeyond64BitsAreRejected() {
    RegionalCounters stock =
        one(new MemoryDriver(), RegionOptions.DEFAULT.within(Bounds.atLeast(0)));
    assertInstanceOf(AddResult.Applied.class, add(stock, Long.MAX_VALUE, "ap/1"));
    AddResult.Rejected overflow = new AddResult.Rejected(Rejection.OVERFLOW);
    assertEquals(overflow, add(stock, Long.MAX_VALUE, "ap/2"));
    assertEquals(overflow, add(stock, Long.MIN_VALUE, "ap/3"));
    assertEquals(Reading.exact(Long.MAX_VALUE), stock.read("s").orElseThrow());
  }

  @Test
  void countersAreListed() {
    RegionalCounters counters = one(new MemoryDriver(), RegionOptions.DEFAULT);
    add(counters, 5, "ap/1");
    assertEquals(
        List.of(new CounterPage.Entry("s", Reading.exact(5))),
        counters.list("", "", 10).counters());
  }

  /** Whichever of its cells an add begins with. */
  @Test
  void aNewRegionWithManyCellsGetsRights() {
    var table = GlobalTable.inMemory(2, clock, random, Duration.ZERO);
    RegionOptions options = RegionOptions.DEFAULT.within(Bounds.atLeast(0)).over(8);
    List<String> initial = List.of("ap");
    RegionalCounters ap = inRegion("ap", table, initial, options);
    RegionalCounters eu = inRegion("eu", table, initial, options);
    for (int i = 0; i < 10; i++) {
      String counter = "new " + i;
      ap.add(new Add(counter, 100, null));
      assertInstanceOf(AddResult.Applied.class, eu.add(new Add(counter, -100, null)));
    }
  }

  /** One began with other bounds while the two were cut off from each other. */
  @Test
  void noRightsAreTakenFromARegionWithAnotherPlan() {
    var table = GlobalTable.inMemory(2, clock, random, Duration.ZERO);
    List<String> both = List.of("ap", "eu");
    RegionOptions lower = RegionOptions.DEFAULT.within(Bounds.atLeast(-5));
    RegionalCounters ap = inRegion("ap", table, both, lower);
    RegionOptions options = RegionOptions.DEFAULT.within(Bounds.atLeast(0));
    RegionalCounters eu = inRegion("eu", table, both, options);
    table.cutOff(0);
    assertInstanceOf(AddResult.Applied.class, add(ap, 100, "ap/1"));
    assertInstanceOf(AddResult.Applied.class, add(eu, 1, "eu/1"));
    table.heal();
    clock.advance(Regions.SILENCE.plusSeconds(60));
    QuipuException e = assertThrows(QuipuException.class, () -> add(eu, -50, "eu/2"));
    assertTrue(String.valueOf(e.getMessage()).contains("Use the same topology"));
  }
}
