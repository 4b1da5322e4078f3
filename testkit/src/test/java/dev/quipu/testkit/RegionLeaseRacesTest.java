package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.testkit.RegionSchedule.Process;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Outcomes when a lease ends, or another process renews it, during a request. */
final class RegionLeaseRacesTest {
  private static final Bounds QUOTA = Bounds.between(0, 300);
  private static final Duration AGES = Duration.ofHours(2);

  private final RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");

  private static void fails(Outcome outcome, Reason reason, String why, Executable call) {
    QuipuException e = assertThrows(QuipuException.class, call);
    assertEquals(outcome, e.outcome());
    assertEquals(reason, e.reason());
    assertTrue(String.valueOf(e.getMessage()).startsWith(why), e.getMessage());
  }

  @Test
  void theOutcomeIsUnknownIfTheLeaseEndsDuringAWrite() {
    schedule.running("ap", "eu", "us");
    Runnable late = () -> schedule.clock.advance(AGES);
    Process adds = schedule.during("eu", ReplicaHook.afterWrite("eu", "request/", late));
    adds.leases().renew();
    fails(
        Outcome.UNKNOWN,
        Reason.UNAVAILABLE,
        "write may have been too late: region eu may count again when",
        () -> adds.add(1, "eu/1"));
    Process cancels = schedule.during("eu", ReplicaHook.afterWrite("eu", "request/", late));
    cancels.leases().renew();
    fails(
        Outcome.UNKNOWN,
        Reason.UNAVAILABLE,
        "write may have been too late: region eu may count again when",
        () -> cancels.counters().cancel(RegionSchedule.COUNTER, RequestId.of("eu/2")));
  }

  @Test
  void aRegionWhoseLeaseIsOverCancelsNothing() {
    Process eu = schedule.running("ap", "eu", "us").get(1);
    RequestId id = RequestId.of("eu/1");
    schedule.clock.advance(AGES);
    fails(
        Outcome.NOT_APPLIED,
        Reason.UNAVAILABLE,
        "region eu may count again when",
        () -> eu.counters().cancel(RegionSchedule.COUNTER, id));
    assertInstanceOf(
        RequestOutcome.NotSeen.class, eu.counters().outcome(RegionSchedule.COUNTER, id));
  }

  /** By a clock that is behind, the lease is valid; the retirement is known anyway. */
  @Test
  void theOutcomeIsUnknownIfTheRegionIsRetiredDuringAWrite() {
    List<Process> all = schedule.running("ap", "eu", "us");
    assertInstanceOf(AddResult.Applied.class, all.get(1).add(1)); // its cell is created
    schedule.leasesEnd(all.get(0), all.get(2));
    ReplicaHook retirement =
        ReplicaHook.afterWrite(
            "eu",
            "request/",
            () -> {
              schedule.cutOff("eu");
              all.get(2).counters().retire("eu");
            });
    Process behind = schedule.during("ap", schedule.skewed(AGES.negated()), retirement);
    fails(
        Outcome.UNKNOWN,
        Reason.UNAVAILABLE,
        "write may have been too late: lease of region eu expired",
        () -> behind.add(1, "eu/1"));
    assertTrue(retirement.hasHappened());
  }

  @Test
  void rightsOfARegionWhoseLeaseIsOverAreHeldElsewhere() {
    List<Process> all = schedule.running("ap", "eu", "us");
    schedule.leasesEnd(all.get(0), all.get(1)); // and us replies, though no process renews there
    assertEquals(
        new AddResult.Rejected(Rejection.HELD_ELSEWHERE, OptionalLong.of(0), List.of("us")),
        all.get(1).add(250));
    assertInstanceOf(AddResult.Applied.class, all.get(1).add(200));
  }

  @Test
  void anEarlierRenewalDoesNotShortenALaterOne() {
    Process ap = schedule.running("ap", "eu", "us").get(0);
    Duration ahead = Duration.ofSeconds(9);
    assertTrue(schedule.in("eu", ahead).leases().renew());
    assertTrue(schedule.in("eu").leases().renew());
    Instant later =
        Instant.ofEpochMilli(schedule.clock.epochMillis())
            .plus(RegionSchedule.TERMS.lease())
            .plus(ahead);
    assertEquals(Optional.of(later), ap.leases().status().get(1).confirmedUntil());
  }

  @Test
  void noLeaseIsConfirmedBeforeThePlanIsKnown() {
    schedule.running("ap", "us");
    Process eu =
        schedule.during(
            "eu",
            ReplicaHook.afterGet(
                "eu",
                "plan@eu",
                () -> {
                  throw new NotAppliedException(Reason.THROTTLED, "busy");
                }));
    assertFalse(eu.leases().renew());
    assertTrue(eu.leases().renew());
  }

  /** Both began while they were cut off from each other. */
  @Test
  void aRegionThatWasSilentAtTheFirstRenewalMustHaveThePlanToo() {
    schedule.cutOff("ap");
    Process other = schedule.in("ap", List.of("ap"));
    other.leases().renew();
    Process eu = schedule.in("eu");
    assertFalse(eu.leases().renew());
    schedule.heal();
    fails(
        Outcome.NOT_APPLIED,
        Reason.DENIED,
        "plan of region ap is: founded by ap",
        eu.leases()::renew);
  }

  @Test
  void whatARetiredRegionCountedIsUnknownThoughItDoesNotAnswer() {
    List<Process> all = schedule.running("ap", "eu", "us");
    schedule.lose("eu");
    schedule.leasesEnd(all.get(0), all.get(2));
    all.get(2).counters().retire("eu");
    fails(
        Outcome.UNKNOWN,
        Reason.DENIED,
        "region eu was retired; unknown whether it had counted request eu/1",
        () -> all.get(2).add(7, "eu/1"));
  }
}
