package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.region.RegionLeases;
import dev.quipu.region.RegionOptions;
import dev.quipu.region.RegionalCounters;
import dev.quipu.region.Regions;
import dev.quipu.simulation.region.GlobalTable;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * Until when a region may count, to the millisecond, and what it reports about itself and others.
 */
final class RegionLeasesTest {
  private static final List<String> NAMES = List.of("ap", "eu", "us");
  private static final Duration LEASE = Duration.ofMinutes(10);
  private static final Duration SLACK = Duration.ofSeconds(10);
  private static final Duration BEAT = Duration.ofMinutes(5);
  private static final Duration STEP = Duration.ofMillis(1);
  private static final RetryPolicy ONCE =
      new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofSeconds(1));

  private final ManualClock clock = new ManualClock(1_800_000_000_000L);
  private final RandomGenerator random = Randomness.seeded(1);
  private final GlobalTable<Key, Item> table =
      GlobalTable.inMemory(NAMES.size(), clock, random, Duration.ZERO);

  private record Region(RegionLeases leases, RegionalCounters counters) {
    AddResult add(long delta) {
      return counters.add(new Add("s", delta, null));
    }

    void isRejected(String why) {
      QuipuException e = assertThrows(QuipuException.class, () -> add(1));
      assertTrue(String.valueOf(e.getMessage()).contains(why), e.getMessage());
    }

    boolean counts() {
      return add(1) instanceof AddResult.Applied;
    }
  }

  private Region region(String own, RegionLeases.Terms terms) {
    Map<String, Store> stores = new TreeMap<>();
    for (String name : NAMES) {
      stores.put(
          name,
          new Store(table.seenFrom(NAMES.indexOf(own), NAMES.indexOf(name)), clock, random, ONCE));
    }
    Regions regions = new Regions(own, NAMES, stores);
    RegionLeases leases = RegionLeases.of(regions, terms, random);
    RegionOptions options = RegionOptions.DEFAULT.within(Bounds.atLeast(0));
    return new Region(leases, new RegionalCounters(regions, options, leases, random));
  }

  private List<Region> all(RegionLeases.Terms terms) {
    List<Region> all = NAMES.stream().map(name -> region(name, terms)).toList();
    all.forEach(each -> assertTrue(each.leases.renew()));
    table.settle();
    return all;
  }

  @Test
  void aLeaseEndsSlackBeforeTheOthersConfirmedIt() {
    RegionLeases.Terms terms = new RegionLeases.Terms(LEASE, SLACK, BEAT);
    Region eu = all(terms).get(1);
    clock.advance(LEASE.minus(SLACK).minus(STEP));
    assertTrue(eu.counts());
    clock.advance(STEP);
    eu.isRejected("may count again when all other regions have confirmed its lease");
    assertTrue(eu.leases.renew());
    assertTrue(eu.counts());
  }

  @Test
  void aLeaseEndsByTheClockThatIsFirst() {
    Region eu = all(new RegionLeases.Terms(LEASE, SLACK, BEAT)).get(1);
    clock.jump(LEASE.minus(SLACK).minus(STEP));
    assertTrue(eu.counts());
    clock.jump(STEP);
    eu.isRejected("may count again when all other regions have confirmed its lease");
    clock.jump(LEASE.negated());
    assertTrue(eu.counts());
    clock.advance(LEASE.minus(SLACK).minus(STEP));
    assertTrue(eu.counts());
    clock.advance(STEP);
    eu.isRejected("may count again when all other regions have confirmed its lease");
  }

  @Test
  void aRenewalBeginsNoVote() {
    all(new RegionLeases.Terms(LEASE, SLACK, BEAT)).forEach(each -> each.leases.renew());
    for (int i = 0; i < NAMES.size(); i++) {
      for (Item item : ScanDriver.of(table.region(i)).scan(Scan.all("regions")).items()) {
        assertFalse(item.key().sort().startsWith("retirement/"), item.toString());
      }
    }
  }

  @Test
  void aRegionWhoseReplicaWasNotCheckedFor3BeatsDoesNotCount() {
    RegionLeases.Terms terms = new RegionLeases.Terms(LEASE, SLACK, Duration.ofMinutes(1));
    Region eu = all(terms).get(1);
    clock.advance(Duration.ofMinutes(RegionLeases.BEATS_UNCHECKED).minus(STEP));
    assertTrue(eu.counts());
    clock.advance(STEP);
    eu.isRejected("was not checked for more than 3 beats of 1m");
  }

  @Test
  void aLeaseIsRenewedOncePerBeat() {
    RegionLeases.Terms terms = new RegionLeases.Terms(LEASE, SLACK, BEAT);
    Region eu = all(terms).get(1);
    Instant first = confirmed(eu, "eu");
    clock.advance(BEAT.minus(STEP));
    assertTrue(eu.leases.renewIfDue());
    assertEquals(first, confirmed(eu, "eu"), "it was not due");
    clock.advance(STEP);
    assertTrue(eu.leases.renewIfDue());
    assertEquals(first.plus(BEAT), confirmed(eu, "eu"));
    clock.advance(BEAT.minus(STEP));
    assertTrue(eu.leases.renewIfDue());
    assertEquals(first.plus(BEAT), confirmed(eu, "eu"), "it was not due again");
    table.cutOff(0);
    clock.advance(STEP);
    assertFalse(eu.leases.renewIfDue(), "ap does not confirm it");
    table.heal();
    clock.advance(Regions.SILENCE.plusSeconds(1));
    assertTrue(eu.leases.renewIfDue(), "again at once, since the last was not confirmed");
  }

  private static Instant confirmed(Region at, String of) {
    return at.leases.status().stream()
        .filter(each -> each.region().equals(of))
        .flatMap(each -> each.confirmedUntil().stream())
        .findAny()
        .orElseThrow();
  }

  @Test
  void theStatusSaysWhoAnswersAndUntilWhenEachMayCount() {
    RegionLeases.Terms terms = new RegionLeases.Terms(LEASE, SLACK, BEAT);
    Region eu = region("eu", terms);
    for (RegionLeases.Status each : eu.leases.status()) {
      assertEquals(
          new RegionLeases.Status(
              each.region(), true, Optional.empty(), Optional.empty(), Optional.empty()),
          each);
    }
    List<Region> all = all(terms);
    Instant until = Instant.ofEpochMilli(clock.epochMillis()).plus(LEASE);
    table.cutOff(2);
    assertEquals(
        List.of(
            new RegionLeases.Status(
                "ap", true, Optional.of(until), Optional.empty(), Optional.empty()),
            new RegionLeases.Status(
                "eu", true, Optional.of(until), Optional.empty(), Optional.empty()),
            new RegionLeases.Status(
                "us", false, Optional.of(until), Optional.empty(), Optional.empty())),
        all.get(1).leases.status());
    clock.advance(LEASE.plus(SLACK).plus(STEP));
    all.getFirst().leases.renew();
    all.get(1).counters.retire("us");
    RegionLeases.Status us = all.get(1).leases.status().getLast();
    assertEquals(Optional.of("eu"), us.successor());
  }

  @Test
  void aRegionIsRetiredOnlySlackAfterItsLease() {
    List<Region> all = all(new RegionLeases.Terms(LEASE, SLACK, BEAT));
    table.cutOff(2);
    clock.advance(LEASE.plus(SLACK));
    all.getFirst().leases.renew(); // the clock of a second region
    IllegalStateException e =
        assertThrows(IllegalStateException.class, () -> all.get(1).counters.retire("us"));
    assertTrue(String.valueOf(e.getMessage()).contains("by the clock here"), e.getMessage());
    clock.advance(STEP);
    all.getFirst().leases.renew();
    assertEquals(0, all.get(1).counters.retire("us").size());
  }

  @Test
  void whatCannotBeRetiredIsNamed() {
    List<Region> all = all(new RegionLeases.Terms(LEASE, SLACK, BEAT));
    IllegalStateException own =
        assertThrows(IllegalStateException.class, () -> all.get(1).counters.retire("eu"));
    assertEquals("a region cannot retire itself", own.getMessage());
    Regions regions =
        new Regions("eu", List.of("eu"), Map.of("eu", new Store(table.region(1), clock)));
    RegionalCounters without =
        new RegionalCounters(regions, RegionOptions.DEFAULT, RegionLeases.none(regions));
    IllegalStateException never =
        assertThrows(IllegalStateException.class, () -> without.retire("eu"));
    assertTrue(
        String.valueOf(never.getMessage()).contains("cannot be retired"), never.getMessage());
    assertTrue(RegionLeases.none(regions).renew());
    assertTrue(RegionLeases.none(regions).renewIfDue());
  }

  @Test
  void anAddElsewhereNeedsTheLeaseOfItsRegion() {
    List<Region> all = all(new RegionLeases.Terms(LEASE, SLACK, BEAT));
    Add fromUs = new Add("s", 1, RequestId.of("us/1"));
    clock.advance(LEASE.minus(SLACK).minus(STEP));
    assertTrue(all.get(1).leases.renew());
    assertInstanceOf(AddResult.Applied.class, all.get(1).counters.add(fromUs));
    clock.advance(STEP);
    QuipuException e =
        assertThrows(
            QuipuException.class,
            () -> all.get(1).counters.add(new Add("s", 1, RequestId.of("us/2"))));
    assertEquals(Reason.UNAVAILABLE, e.reason());
    assertTrue(String.valueOf(e.getMessage()).startsWith("lease of region us expired"));
  }
}
