package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.testkit.RegionSchedule.Process;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What retirements must not do, one schedule at a time. */
final class RegionRetirementTest {
  private static final Bounds QUOTA = Bounds.between(0, 300);

  private static long soldOut(Process process, long step) {
    long taken = 0;
    while (process.add(step) instanceof AddResult.Applied) {
      taken += step;
    }
    return taken;
  }

  @Test
  void twoRetirementsKeepTheCeiling() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "sa", "us");
    List<Process> all = schedule.running("ap", "eu", "sa", "us");
    assertInstanceOf(AddResult.Applied.class, all.get(0).add(60)); // ap's share is 75
    assertInstanceOf(AddResult.Applied.class, all.get(1).add(70));
    assertInstanceOf(AddResult.Applied.class, all.get(0).add(40)); // with rights of others
    schedule.table.settle();
    schedule.lose("us");
    schedule.leasesEnd(all.get(0), all.get(1), all.get(2));
    all.get(1).counters().retire("us"); // eu is the successor
    schedule.running("ap", "eu", "sa");
    Process ap = schedule.in("ap");
    schedule.leasesEnd(all.get(0), all.get(1), all.get(2));
    ap.leases().renew();
    assertInstanceOf(AddResult.Applied.class, ap.add(60)); // with rights of eu, once of us
    schedule.table.settle();
    schedule.lose("eu");
    schedule.leasesEnd(all.get(0), all.get(2));
    all.get(2).counters().retire("eu");
    ap = schedule.in("ap");
    Process sa = schedule.in("sa");
    ap.leases().renew();
    sa.leases().renew();
    ap.leases().renew();
    long more = soldOut(ap, 1) + soldOut(sa, 1);
    assertEquals(300, 230 + more);
  }

  @Test
  void twoRegionsDoNotRetireEachOther() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    Process ap = all.get(0);
    Process eu = all.get(1);
    Process us = all.get(2);
    assertInstanceOf(AddResult.Applied.class, us.add(60));
    schedule.table.settle();
    schedule.separate("ap", "eu");
    schedule.leasesEnd(ap, eu, us);
    ap.counters().retire("eu");
    IllegalStateException e =
        assertThrows(IllegalStateException.class, () -> eu.counters().retire("ap"));
    assertTrue(String.valueOf(e.getMessage()).contains("retired"), e.toString());
    assertTrue(ap.leases().renew());
    assertTrue(us.leases().renew());
    assertInstanceOf(AddResult.Applied.class, ap.add(10));
    assertInstanceOf(AddResult.Applied.class, us.add(10));
    assertThrows(QuipuException.class, () -> eu.add(10));
    assertEquals(80, us.read().value());
  }

  @Test
  void aSecondSuccessorFinishesWhatTheFirstBegan() {
    for (int at = 1; at < 60; at++) {
      RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "sa", "us");
      List<Process> all = schedule.running("ap", "eu", "sa", "us");
      Process ap = all.get(0);
      Process eu = all.get(1);
      Process sa = all.get(2);
      assertInstanceOf(AddResult.Applied.class, all.get(3).add(60));
      assertInstanceOf(AddResult.Applied.class, ap.add(-30));
      schedule.table.settle();
      schedule.lose("us");
      schedule.leasesEnd(ap, eu, sa);
      try {
        schedule.crashing("eu", at).counters().retire("us");
      } catch (ProcessCrash.Crash crash) {
        // at some point
      }
      schedule.table.settle();
      schedule.lose("eu");
      schedule.leasesEnd(ap, sa);
      retireBoth(sa);
      assertTrue(ap.leases().renew());
      assertTrue(sa.leases().renew());
      assertEquals(30, ap.read().value(), "died at " + at);
      assertEquals(270, soldOut(ap, 1) + soldOut(sa, 1), "died at " + at);
    }
  }

  /** Retires both, in one order or the other: which is first may depend on what was begun. */
  private static void retireBoth(Process by) {
    try {
      by.counters().retire("us");
    } catch (IllegalStateException | QuipuException first) {
      by.counters().retire("eu");
      by.counters().retire("us");
      return;
    }
    by.counters().retire("eu");
  }

  @Test
  void anIdCountsOnceThoughItsMarkerIsLost() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    Process us = all.get(2);
    schedule.table.hold(key -> key.sort().startsWith("request/"));
    assertInstanceOf(AddResult.Applied.class, all.get(1).add(7, "eu/1"));
    schedule.table.settle();
    schedule.lose("eu"); // its cell has arrived, the marker has not
    schedule.leasesEnd(all.get(0), us);
    us.counters().retire("eu");
    all.get(0).leases().renew();
    us.leases().renew();
    QuipuException e = assertThrows(QuipuException.class, () -> us.add(7, "eu/1"));
    assertEquals(Outcome.UNKNOWN, e.outcome());
    assertEquals(7, us.read().value());
  }

  @Test
  void aReadingAfterARetirementIsUncertain() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    assertInstanceOf(AddResult.Applied.class, all.get(0).add(50));
    schedule.table.settle();
    schedule.cutOff("eu");
    assertInstanceOf(AddResult.Applied.class, all.get(1).add(20)); // unknown to the others
    schedule.lose("eu");
    schedule.leasesEnd(all.get(0), all.get(2));
    all.get(2).counters().retire("eu");
    assertTrue(all.get(2).read().high() >= 70, all.get(2).read().toString());
    assertNotEquals(List.of(), all.get(2).read().uncertainties());
  }

  @Test
  void aClockThatIsAheadRetiresNobody() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    schedule.cutOff("eu");
    assertInstanceOf(AddResult.Applied.class, all.get(1).add(20));
    all.get(0).leases().renew();
    for (Duration skew : List.of(Duration.ofSeconds(9), Duration.ofDays(1))) {
      Process ahead = schedule.in("us", skew);
      assertThrows(IllegalStateException.class, () -> ahead.counters().retire("eu"));
    }
    assertInstanceOf(AddResult.Applied.class, all.get(1).add(20));
  }

  @Test
  void aRightGivenToARetiredRegionIsTakenOverOnce() {
    RegionSchedule schedule = new RegionSchedule(Bounds.atLeast(0), "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    assertInstanceOf(AddResult.Applied.class, all.get(0).add(100));
    assertInstanceOf(AddResult.Applied.class, all.get(1).add(-10));
    schedule.table.settle();
    schedule.lose("eu");
    schedule.leasesEnd(all.get(0), all.get(2));
    all.get(2).counters().retire("eu");
    all.get(0).leases().renew();
    all.get(2).leases().renew();
    assertEquals(90, -soldOut(all.get(0), -1) - soldOut(all.get(2), -1));
  }
}
