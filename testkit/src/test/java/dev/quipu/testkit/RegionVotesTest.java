package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Uncertainty;
import dev.quipu.region.RegionLeases;
import dev.quipu.region.TakenOver;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.testkit.RegionSchedule.Process;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How retirements are decided: who votes, who must agree, and unfinished retirements. */
final class RegionVotesTest {
  private static final Bounds QUOTA = Bounds.between(0, 300);

  private static String rejection(Process by, String lost) {
    IllegalStateException e =
        assertThrows(IllegalStateException.class, () -> by.counters().retire(lost));
    return String.valueOf(e.getMessage());
  }

  private static Optional<String> successor(Process at, String of) {
    return at.leases().status().stream()
        .filter(each -> each.region().equals(of))
        .flatMap(each -> each.successor().stream())
        .findAny();
  }

  private static void put(RegionSchedule schedule, String place, String sort, Change change) {
    schedule
        .replicas
        .get(schedule.names.indexOf(place))
        .driver()
        .write(new Write.Update(new Key("regions", sort), List.of(change), Condition.always()));
  }

  private static Change text(String field, String value) {
    return new Change.Put(field, new Field.Text(value));
  }

  /** Returns three regions, of which the third is lost and its lease is over. */
  private static List<Process> runningUntilUsIsLost(RegionSchedule schedule) {
    List<Process> all = schedule.running("ap", "eu", "us");
    schedule.lose("us");
    schedule.leasesEnd(all.get(0), all.get(1));
    return all;
  }

  /**
   * The successor crashed after its own vote: the region is alive, and neither retired nor barred.
   */
  @Test
  void aRegionThatIsAliveEndsARetirementThatWasLeftHalfWay() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "sa", "us");
    List<Process> all = schedule.running("ap", "eu", "sa", "us");
    Process ap = all.get(0);
    Process sa = all.get(2);
    assertInstanceOf(AddResult.Applied.class, all.get(3).add(60));
    schedule.table.settle();
    schedule.lose("us");
    schedule.leasesEnd(ap, all.get(1), sa);
    final Map<String, TakenOver> ofUs = ap.counters().retire("us"); // the first retirement
    schedule.running("ap", "eu", "sa");
    schedule.cutOff("eu");
    schedule.leasesEnd(ap, sa);
    Process dying =
        schedule.during(
            "sa",
            ReplicaHook.afterWrite(
                "sa",
                "lease/eu",
                () -> {
                  throw new ProcessCrash.Crash();
                }));
    assertThrows(ProcessCrash.Crash.class, () -> dying.counters().retire("eu"));

    schedule.heal();
    Process eu =
        schedule.during(
            "eu",
            ReplicaHook.beforeWrite("ap", "retirement/", () -> schedule.separate("eu", "sa")));
    assertFalse(eu.leases().renew(), "sa voted that eu is retired");
    schedule.heal();
    assertTrue(eu.leases().renew(), "that was decided: it is not");
    assertEquals(Optional.empty(), successor(ap, "eu"));
    assertEquals(
        List.of(new Uncertainty(Uncertainty.Cause.RETIRED_REGION, "us", Long.MAX_VALUE)),
        eu.read().uncertainties());
    assertEquals(ofUs, ap.counters().retire("us"));
    IllegalStateException notRetired =
        assertThrows(IllegalStateException.class, () -> ap.counters().acceptLoss("eu"));
    assertEquals("region eu is not retired; retired regions: us", notRetired.getMessage());
  }

  /** It may have been retired by the decision that it does not know. */
  @Test
  void whoDoesNotKnowADecisionAsksForThatFirst() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");
    List<Process> all = runningUntilUsIsLost(schedule);
    put(schedule, "ap", "retirement/0002@ap", new Change.Put("decided", new Field.Number(1)));
    all.get(0).counters().retire("us");
    Key first = new Key("regions", "retirement/0001@eu");
    assertEquals(
        Optional.of("us"),
        schedule
            .replicas
            .get(1)
            .driver()
            .get(first, Consistency.STRONG)
            .flatMap(vote -> vote.text("lost")));
  }

  @Test
  void aRegionThatRenewsBeforeTheVoteIsNotRetired() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "sa", "us");
    List<Process> all = schedule.running("ap", "eu", "sa", "us");
    Process us = all.get(3);
    schedule.cutOff("us");
    schedule.leasesEnd(all.get(0), all.get(1), all.get(2));
    ReplicaHook renewal =
        ReplicaHook.beforeWrite(
            "sa",
            "lease/us",
            () -> {
              schedule.heal();
              assertTrue(us.leases().renew());
            });
    Process sa = schedule.during("sa", renewal);
    String why = rejection(sa, "us");
    assertTrue(why.startsWith("retirement 1 needs a majority of [ap, eu, sa, us]"), why);
    assertTrue(renewal.hasHappened());
    assertEquals(Optional.empty(), successor(all.get(0), "us"));
    assertInstanceOf(AddResult.Applied.class, us.add(10));
  }

  @Test
  void theVoteOfTheSuccessorAloneDecidesNothing() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    schedule.cutOff("us");
    schedule.leasesEnd(all.get(0), all.get(1));
    Process eu =
        schedule.during(
            "eu", ReplicaHook.afterWrite("eu", "lease/us", () -> schedule.cutOff("ap")));
    String why = rejection(eu, "us");
    assertTrue(why.startsWith("retirement 1 needs a majority of [ap, eu, us]"), why);
    assertEquals(Optional.empty(), successor(eu, "us"));
  }

  @Test
  void aReplicaThatWasSetBackDoesNotVote() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "sa", "us");
    List<Process> all = schedule.running("ap", "eu", "sa", "us");
    schedule.lose("us");
    schedule.leasesEnd(all.get(0), all.get(1), all.get(2));
    Map<Key, Item> backup = schedule.replicas.getFirst().copy();
    all.getFirst().leases().renew();
    schedule.table.settle();
    schedule.replicas.getFirst().setBack(backup);
    all.get(2).leases().renew(); // notices it
    long before = schedule.clock.epochMillis();
    assertEquals(
        "retirement 1 needs a majority of [ap, eu, sa, us]; able to vote: [eu, sa]"
            + "; not answering: [us]",
        rejection(all.get(1), "us"));
    assertTrue(schedule.clock.epochMillis() > before, "it pauses between attempts");
  }

  @Test
  void aHigherBallotIsOutbid() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");
    List<Process> all = runningUntilUsIsLost(schedule);
    put(schedule, "ap", "retirement/0001@ap", text("promised", "%019d/x".formatted(1_000)));
    all.get(1).counters().retire("us");
    assertEquals(Optional.of("eu"), successor(all.get(0), "us"));
  }

  @Test
  void aVoteWithoutRivalsIsDecidedAtOnce() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");
    List<Process> all = runningUntilUsIsLost(schedule);
    long before = schedule.clock.epochMillis();
    all.get(1).counters().retire("us");
    assertEquals(before, schedule.clock.epochMillis(), "it paused");
  }

  @Test
  void regionsThatKnowOfOtherRegionsRetireNobody() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");
    List<Process> all = runningUntilUsIsLost(schedule);
    put(schedule, "ap", "lease/ap@ap", text("names", "ap,eu"));
    assertEquals(
        "topology of region ap is ap,eu, and of this process ap,eu,us" + "; make them equal first",
        rejection(all.get(1), "us"));
  }

  @Test
  void aRetirementThatIsTooEarlySaysWhatTheClocksShow() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    Instant start = Instant.ofEpochMilli(schedule.clock.epochMillis());
    schedule.clock.advance(Duration.ofMinutes(1));
    schedule.cutOff("us");
    assertEquals(
        "lease of region us ends at %s, and it may count until then; it may be"
                .formatted(start.plus(RegionSchedule.TERMS.lease()))
            + " retired 10000 ms later by the clocks of a majority of regions"
            + ", in ap it was %s at the last beat by the clock here; not answering: [us]"
                .formatted(start),
        rejection(all.get(1), "us"));
  }

  @Test
  void clocksElsewhereDoNotOutvoteTheSuccessorsOwn() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "sa", "us");
    List<Process> all = schedule.running("ap", "eu", "sa", "us");
    schedule.cutOff("us");
    for (String ahead : List.of("ap", "eu")) {
      schedule.in(ahead, Duration.ofDays(1)).leases().renew();
    }
    String why = rejection(all.get(2), "us");
    assertTrue(why.contains("by the clock here"), why);
    assertEquals(Optional.empty(), successor(all.get(0), "us"));
  }

  @Test
  void ofTwoRegionsOnlyTheFirstRetiresTheOther() {
    RegionSchedule one = new RegionSchedule(QUOTA, "ap", "eu");
    List<Process> all = one.running("ap", "eu");
    one.cutOff("ap");
    one.leasesEnd(all.get(1));
    String why = rejection(all.get(1), "ap");
    assertTrue(why.startsWith("lease of region ap ends at"), why);
    RegionSchedule other = new RegionSchedule(QUOTA, "ap", "eu");
    all = other.running("ap", "eu");
    other.cutOff("eu");
    other.leasesEnd(all.get(0));
    all.get(0).counters().retire("eu");
    assertEquals(Optional.of("ap"), successor(all.get(0), "eu"));
  }

  @Test
  void anAcceptedLossThatOneRegionRecordedComesToAll() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    Process us = all.get(2);
    assertInstanceOf(AddResult.Applied.class, all.get(1).add(50));
    schedule.table.settle();
    schedule.lose("eu");
    schedule.leasesEnd(all.get(0), us);
    all.get(0).counters().retire("eu");
    assertEquals("eu", us.read().uncertainties().getFirst().where());
    ReplicaHook cut = ReplicaHook.afterWrite("ap", "lease/eu", () -> schedule.separate("ap", "us"));
    Process ap = schedule.during("ap", cut);
    QuipuException silent =
        assertThrows(QuipuException.class, () -> ap.counters().acceptLoss("eu"));
    assertTrue(String.valueOf(silent.getMessage()).contains("region us does not respond"));
    assertTrue(cut.hasHappened());
    schedule.heal();
    us.leases().renew();
    assertEquals(Reading.exact(50), us.read());
  }

  @Test
  void aReplicaThatWasSetBackIsInTheStatus() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    Map<Key, Item> backup = schedule.replicas.get(1).copy();
    all.get(1).leases().renew();
    schedule.table.settle();
    schedule.replicas.get(1).setBack(backup);
    all.get(0).leases().renew();
    for (RegionLeases.Status each : all.get(2).leases().status()) {
      assertEquals(each.region().equals("eu"), each.ended().isPresent(), each.toString());
    }
  }
}
