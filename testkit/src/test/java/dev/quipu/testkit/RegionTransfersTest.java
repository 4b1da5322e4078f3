package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.Rejection;
import dev.quipu.Uncertainty;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.testkit.RegionSchedule.Process;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/**
 * How many rights a region gets from others, when a request is rejected, and what a reader knows.
 */
final class RegionTransfersTest {
  private static final Bounds STOCK = Bounds.atLeast(0);
  private static final Bounds QUOTA = Bounds.between(0, 300);
  private static final String EU_ROWS = "#region-eu";
  private static final String AP_ROWS = "#region-ap";

  private static void applied(Process at, long delta) {
    assertInstanceOf(AddResult.Applied.class, at.add(delta));
  }

  private static AddResult heldElsewhere(long value, String... where) {
    return new AddResult.Rejected(Rejection.HELD_ELSEWHERE, OptionalLong.of(value), List.of(where));
  }

  /** Returns the rights to decrement in the only cell of a region. */
  private static long rights(RegionSchedule schedule, String region) {
    return schedule
        .replicas
        .get(schedule.names.indexOf(region))
        .driver()
        .get(new Key("counter/s#region-" + region, "cell/0"), Consistency.STRONG)
        .orElseThrow()
        .number("lower");
  }

  @Test
  void aRegionGetsWhatIsMissingAndTwiceWhatItUsed() {
    RegionSchedule schedule = new RegionSchedule(STOCK, "ap", "eu");
    List<Process> all = schedule.running("ap", "eu");
    applied(all.get(0), 1_000);
    applied(all.get(1), -3);
    assertEquals(0, rights(schedule, "eu"), "it had used none before");
    applied(all.get(1), -3);
    assertEquals(6, rights(schedule, "eu"));
    applied(all.get(1), -10);
    assertEquals(6, rights(schedule, "eu"), "4 were missing, and it had used 3");
    assertEquals(978, rights(schedule, "ap"));
  }

  @Test
  void aRegionGetsNoMoreThanHalfBeyondWhatIsMissing() {
    RegionSchedule schedule = new RegionSchedule(STOCK, "ap", "eu");
    List<Process> all = schedule.running("ap", "eu");
    applied(all.get(0), 100);
    applied(all.get(1), -20);
    applied(all.get(1), -20);
    assertEquals(20, rights(schedule, "eu"));
    assertEquals(40, rights(schedule, "ap"));
  }

  @Test
  void theDemandOfOneCounterIsNotThatOfAnother() {
    RegionSchedule schedule = new RegionSchedule(STOCK, "ap", "eu");
    List<Process> all = schedule.running("ap", "eu");
    applied(all.get(0), 1_000);
    for (String counter : List.of("t", "t")) {
      all.get(1).counters().add(new Add(counter, 50, null));
      all.get(1).counters().add(new Add(counter, -50, null));
    }
    applied(all.get(1), -1);
    assertEquals(0, rights(schedule, "eu"));
  }

  @Test
  void aRejectionIsCertainOnlyIfWhatIsSilentCannotChangeIt() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");
    Process eu = schedule.running("ap", "eu", "us").get(1);
    schedule.cutOff("us");
    assertEquals(heldElsewhere(0, "us"), eu.add(300));
    assertEquals(new AddResult.Rejected(Rejection.CEILING, 0), eu.add(301));
    assertEquals(heldElsewhere(0, "us"), eu.add(-100)); // us may have added its share
    assertEquals(new AddResult.Rejected(Rejection.FLOOR, 0), eu.add(-101));
  }

  /** Another region adds after the first read, and again after the second has passed it. */
  @Test
  void aMovingCounterIsLookedAtAgainBeforeARejection() {
    RegionSchedule schedule = new RegionSchedule(STOCK, "ap", "eu");
    Process ap = schedule.running("ap", "eu").getFirst();
    applied(ap, 1);
    applied(ap, -1);
    Process eu =
        schedule.during(
            "eu",
            ReplicaHook.afterScan("ap", AP_ROWS, 1, () -> applied(ap, 5)),
            ReplicaHook.afterScan("ap", AP_ROWS, 2, () -> applied(ap, 5)));
    eu.leases().renew();
    applied(eu, 1);
    applied(eu, -11);
    assertEquals(Reading.exact(0), ap.read());
  }

  @Test
  void noRightsMoveAfterTheLeaseOfTheTakerIsOver() {
    RegionSchedule schedule = new RegionSchedule(STOCK, "ap", "eu");
    Process ap = schedule.running("ap", "eu").getFirst();
    applied(ap, 100);
    ReplicaHook late =
        ReplicaHook.afterScan("eu", EU_ROWS, 1, () -> schedule.clock.advance(Duration.ofHours(2)));
    Process eu = schedule.during("eu", late);
    eu.leases().renew();
    QuipuException e = assertThrows(QuipuException.class, () -> eu.add(-10));
    assertEquals(Reason.UNAVAILABLE, e.reason());
    assertTrue(late.hasHappened());
    assertEquals(100, rights(schedule, "ap"));
  }

  @Test
  void noRightsMoveAfterTheLeaseOfTheGiverIsOver() {
    RegionSchedule schedule = new RegionSchedule(STOCK, "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    applied(all.get(0), 100);
    applied(all.get(2), 1);
    schedule.clock.advance(Duration.ofMinutes(59));
    all.get(2).leases().renew();
    ReplicaHook late =
        ReplicaHook.afterGet(
            "eu", "lease/us@eu", () -> schedule.clock.advance(Duration.ofMinutes(2)));
    Process eu = schedule.during("eu", late);
    eu.leases().renew();
    QuipuException e = assertThrows(QuipuException.class, () -> eu.add(-10));
    assertTrue(String.valueOf(e.getMessage()).startsWith("lease of region ap expired at"));
    assertTrue(late.hasHappened());
    assertEquals(100, rights(schedule, "ap"));
  }

  @Test
  void aLandingWhoseReplyIsLostCountsOnce() {
    RegionSchedule schedule = new RegionSchedule(STOCK, "ap", "eu");
    Process ap = schedule.running("ap", "eu").getFirst();
    applied(ap, 100);
    ReplicaHook lost =
        ReplicaHook.afterWrite(
            "eu",
            "got/ap",
            () -> {
              throw new OutcomeUnknownException(Reason.UNAVAILABLE, "the reply was lost", null);
            });
    Process eu = schedule.during("eu", lost);
    eu.leases().renew();
    applied(eu, -10);
    assertTrue(lost.hasHappened());
    assertEquals(90, rights(schedule, "ap") + rights(schedule, "eu"));
    assertEquals(Reading.exact(90), ap.read());
  }

  /** The successor crashed after the decision, before it took anything over. */
  @Test
  void aRegionWithoutRightsTakesOverThoseOfARetiredOne() {
    RegionSchedule schedule = new RegionSchedule(STOCK, "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    applied(all.get(1), 100);
    schedule.table.settle();
    schedule.lose("eu");
    schedule.leasesEnd(all.get(0), all.get(2));
    Process dying =
        schedule.during(
            "us",
            ReplicaHook.beforeWrite(
                "us",
                "left/",
                () -> {
                  throw new ProcessCrash.Crash();
                }));
    assertThrows(ProcessCrash.Crash.class, () -> dying.counters().retire("eu"));
    Process ap = schedule.running("us", "ap").get(1);
    assertEquals(100, ap.read().value());
    applied(ap, -100);
    assertInstanceOf(AddResult.Rejected.class, ap.add(-1));
  }

  @Test
  void aReaderKnowsWhatASilentRegionMayHaveUsed() {
    RegionSchedule schedule = new RegionSchedule(Bounds.between(-30, 300), "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    applied(all.get(2), 4);
    applied(all.get(0), 7);
    applied(all.get(1), -2);
    schedule.table.settle();
    schedule.cutOff("us");
    Uncertainty silent = new Uncertainty(Uncertainty.Cause.SILENT_REGION, "us", 96);
    assertEquals(new Reading(9, -30 + 17 + 8, 300 - 93 - 102, List.of(silent)), all.get(1).read());
    for (Bounds half : List.of(Bounds.atLeast(0), Bounds.atMost(0))) {
      RegionSchedule other = new RegionSchedule(half, "ap", "us");
      Process ap = other.running("ap", "us").getFirst();
      applied(ap, half.floor() == 0 ? 5 : -5);
      other.cutOff("us");
      Uncertainty any = new Uncertainty(Uncertainty.Cause.SILENT_REGION, "us", Long.MAX_VALUE);
      assertEquals(
          half.floor() == 0
              ? new Reading(5, 5, Long.MAX_VALUE, List.of(any))
              : new Reading(-5, Long.MIN_VALUE, -5, List.of(any)),
          ap.read());
    }
  }

  @Test
  void aReaderKnowsOfRightsThatWereGivenToASilentRegion() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    applied(all.get(0), 50);
    Process dying =
        schedule.during(
            "us",
            ReplicaHook.beforeWrite(
                "us",
                "got/",
                () -> {
                  throw new ProcessCrash.Crash();
                }));
    dying.leases().renew();
    assertThrows(ProcessCrash.Crash.class, () -> dying.add(-20));
    schedule.table.settle();
    schedule.cutOff("us");
    assertEquals(
        List.of(
            new Uncertainty(Uncertainty.Cause.SILENT_REGION, "us", 100),
            new Uncertainty(Uncertainty.Cause.OPEN_TRANSFER, "ap to us", 20)),
        all.get(1).read().uncertainties());
  }

  /** Increments between the reads use no rights to decrement. */
  @Test
  void theLowerBoundDoesNotFallWhenTheCounterRises() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    applied(all.get(0), 50);
    schedule.table.settle();
    schedule.cutOff("us");
    Process eu =
        schedule.during(
            "eu", ReplicaHook.afterScan("ap", AP_ROWS, 1, () -> applied(all.get(0), 10)));
    Reading reading = eu.read();
    assertEquals(50, reading.low());
    assertEquals(60, reading.value());
  }

  @Test
  void aCounterThatWasNeverUsedHasNoReadingUnlessARegionIsSilent() {
    RegionSchedule schedule = new RegionSchedule(Bounds.between(-9, 9), "ap", "eu");
    Process ap = schedule.running("ap", "eu").getFirst();
    assertEquals(Optional.empty(), ap.counters().read("s"));
    schedule.cutOff("eu");
    Reading unsure = ap.read();
    assertEquals("eu", unsure.uncertainties().getFirst().where());
    schedule.heal();
    applied(ap, -5);
    assertEquals(Reading.exact(-5), ap.read());
  }
}
