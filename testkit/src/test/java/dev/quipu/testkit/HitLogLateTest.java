package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLogOptions;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Condition;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.Write;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The hit log when writes arrive late, and processes pause or crash between two of them. */
final class HitLogLateTest {
  private static final String PAGE = "page";
  private static final Duration SETTLE = Duration.ofMinutes(1);
  private static final Duration WINDOW = Duration.ofMinutes(20);
  private static final HitLogOptions OPTIONS =
      HitLogOptions.DEFAULT.settling(SETTLE).keeping(WINDOW);
  private static final RetryPolicy ONCE =
      new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofSeconds(1));
  private static final RequestId ID = RequestId.of("request");

  private final ManualClock clock = new ManualClock(1_700_000_000_000L);
  private final StoreDriver driver = new MemoryDriver();
  private final HitLog hits = new HitLog(new Store(driver, clock), OPTIONS);
  private final CallScript script = new CallScript();

  /** Returns the log of a process with a script of events; its store tries each call once. */
  private HitLog unlucky(CallScript happens, HitLogOptions options) {
    Store store = new Store(happens.around(driver), clock, Randomness.seeded(1), ONCE);
    return new HitLog(store, Randomness.seeded(1), options);
  }

  private static Add add(long delta, RequestId id) {
    return new Add(PAGE, delta, id);
  }

  private void count(long delta) {
    hits.add(new Add(PAGE, delta, null));
  }

  private long value() {
    return hits.read(PAGE).orElseThrow().value();
  }

  private long left(String partition) {
    return ScanDriver.of(driver).count(Scan.all(partition));
  }

  /** Another client's summary passes everything requested before. */
  private void summaryPasses() {
    clock.advance(SETTLE);
    count(1);
    clock.advance(SETTLE.multipliedBy(2));
    assertTrue(hits.rollUp(PAGE).isStored());
  }

  /**
   * Returns a summary by a clock that is ahead: it covers what is stored now, and is stored when it
   * arrives.
   */
  private CallScript lateSummary() {
    count(1);
    clock.advance(SETTLE.multipliedBy(5).dividedBy(6));
    CallScript late = new CallScript().late(CallScript.to("counter/"));
    ManualClock ahead = new ManualClock(clock.epochMillis() + SETTLE.toMillis() / 3);
    Store store = new Store(late.around(driver), ahead, Randomness.seeded(1), ONCE);
    HitLog other = new HitLog(store, Randomness.seeded(1), OPTIONS);
    assertThrows(QuipuException.class, () -> other.rollUp(PAGE));
    return late;
  }

  @Test
  void aSummaryThatWasMadeBeforeAnEditIsNotStoredAfterIt() {
    final Instant start = Instant.ofEpochMilli(clock.epochMillis());
    CallScript late = lateSummary();
    HitLog.Hit hit = hits.hits(PAGE, start.minusMillis(1), start).getFirst();
    assertTrue(hits.edit(PAGE, hit, 5));
    assertEquals(1, late.arrive().size());
    assertEquals(5, value());
  }

  @Test
  void aSummaryThatWasMadeBeforeALateHitIsNotStoredAfterIt() {
    Instant start = Instant.ofEpochMilli(clock.epochMillis());
    CallScript late = lateSummary();
    hits.add(add(7, ID), start);
    assertEquals(1, late.arrive().size());
    assertEquals(8, value());
  }

  private void diesAfterALateHit() {
    script
        .before(CallScript.to("hits/"), this::summaryPasses)
        .after(
            CallScript.to("hits/"),
            () -> {
              throw new ProcessCrash.Crash();
            });
    HitLog dying = unlucky(script, OPTIONS);
    assertThrows(ProcessCrash.Crash.class, () -> dying.add(add(1, ID)));
    assertTrue(script.isDone());
  }

  @Test
  void aReplayRepairsWhatTheFirstCallDiedBeforeRepairing() {
    diesAfterALateHit();
    assertInstanceOf(AddResult.Replayed.class, hits.add(add(1, ID)));
    assertEquals(2, value());
  }

  @Test
  void anOutcomeIsSaidAfterTheRepair() {
    diesAfterALateHit();
    assertInstanceOf(RequestOutcome.Applied.class, hits.outcome(PAGE, ID));
    assertEquals(2, value());
  }

  @Test
  void whatGoesWrongInTheRepairLeavesTheOutcomeUnknown() {
    script
        .before(CallScript.to("hits/"), () -> clock.advance(SETTLE))
        .beforeRead(() -> {}) // the entry of the counter
        .beforeRead(() -> {
          throw new NotAppliedException(Reason.THROTTLED, "too many reads");
        });
    HitLog unlucky = unlucky(script, OPTIONS);
    QuipuException e = assertThrows(QuipuException.class, () -> unlucky.add(add(1, ID)));
    assertTrue(script.isDone());
    assertEquals(Outcome.UNKNOWN, e.outcome());
    assertEquals(1, value());
  }

  @Test
  void nothingIsSweptThatAReaderOfTheOldSummaryStillLooksFor() {
    HitLogOptions brief = OPTIONS.keeping(SETTLE);
    HitLog sweeper = new HitLog(new Store(driver, clock), brief);
    for (int i = 0; i < 5; i++) {
      count(1);
    }
    clock.advance(SETTLE.multipliedBy(2));
    CallScript roller = new CallScript().late(CallScript.to("counter/"));
    assertThrows(QuipuException.class, () -> unlucky(roller, brief).rollUp(PAGE));
    clock.advance(SETTLE.multipliedBy(3)); // it was paused before the summary was stored
    script.afterRead(() -> {
      assertEquals(1, roller.arrive().size());
      sweeper.sweep(PAGE);
    });
    assertEquals(5, unlucky(script, brief).read(PAGE).orElseThrow().value());
    for (int i = 0; i < 4; i++) {
      clock.advance(SETTLE);
      sweeper.rollUpDue();
    }
    assertEquals(0, left("hits/" + PAGE), "it is swept when nobody looks for it");
    assertEquals(5, value());
  }

  @Test
  void anEditIsNotUndoneByTheHitThatArrivesLate() {
    HitLog unlucky = unlucky(script.late(CallScript.to("amounts/")), OPTIONS);
    assertThrows(QuipuException.class, () -> unlucky.add(add(5, ID)));
    assertInstanceOf(AddResult.Replayed.class, hits.add(add(5, ID)));
    assertTrue(hits.edit(PAGE, onlyHit(), 7));
    script.arrive();
    assertEquals(7, value());
  }

  @Test
  void anEditIsNotUndoneByAnEarlierOneThatArrivesLate() {
    count(5);
    HitLog unlucky = unlucky(script.late(CallScript.to("amounts/")), OPTIONS);
    HitLog.Hit hit = onlyHit();
    assertThrows(QuipuException.class, () -> unlucky.edit(PAGE, hit, 6));
    assertTrue(hits.edit(PAGE, hit, 7));
    script.arrive();
    assertEquals(7, value());
  }

  @Test
  void aReadThatAHitAndItsEditComeBetweenSeesBothOrTheFirst() {
    script
        .afterRead(() -> {}) // the summary
        .afterRead(() -> {
          count(1);
          assertTrue(hits.edit(PAGE, onlyHit(), -3));
        });
    long value = unlucky(script, OPTIONS).read(PAGE).map(Reading::value).orElse(0L);
    assertTrue(script.isDone());
    assertTrue(value == 0 || value == 1 || value == -3, "it was never " + value);
  }

  private HitLog.Hit onlyHit() {
    Instant now = Instant.ofEpochMilli(clock.epochMillis());
    return hits.hits(PAGE, now.minus(WINDOW), now).getFirst();
  }

  @Test
  void allIsSweptThoughNoSummaryFollowsTheLast() {
    count(1);
    clock.advance(SETTLE.dividedBy(2));
    count(1);
    clock.advance(SETTLE.dividedBy(2).plusSeconds(1));
    hits.rollUpDue(); // the first
    clock.advance(SETTLE.dividedBy(2));
    hits.rollUpDue(); // the second, before the summary of the first is settled
    assertEquals(2, hits.stored(PAGE).count());
    drain();
  }

  @Test
  void aHitThatArrivesLateIsCountedAndSwept() {
    HitLog unlucky = unlucky(script.late(CallScript.to("hits/")), OPTIONS);
    assertThrows(QuipuException.class, () -> unlucky.add(new Add(PAGE, 1, null)));
    for (int i = 0; i < 10; i++) { // the maximum for which a request is remembered is twice that
      clock.advance(SETTLE);
      hits.rollUpDue();
    }
    script.arrive();
    hits.rollUpDue();
    assertEquals(1, value());
    drain();
  }

  @Test
  void anEntryThatArrivesLateTakesNothingFromOneThatWasMadeSince() {
    HitLog unlucky = unlucky(script.late(CallScript.to("hits-due")), OPTIONS);
    assertThrows(QuipuException.class, () -> unlucky.add(add(1, ID)));
    clock.advance(WINDOW.plus(SETTLE.multipliedBy(3)));
    hits.rollUpDue();
    script.before(
        CallScript.to("hits/"),
        () -> {
          script.arrive();
          hits.rollUpDue();
        });
    unlucky.add(new Add(PAGE, 1, null));
    assertTrue(script.isDone());
    assertEquals(1, left("hits-due"), "the counter waits");
    drain();
  }

  private void drain() {
    long value = value();
    for (int i = 0; i < 2 * WINDOW.dividedBy(SETTLE); i++) {
      clock.advance(SETTLE);
      hits.rollUpDue();
    }
    assertEquals(0, left("hits/" + PAGE) + left("amounts/" + PAGE), "hits");
    assertEquals(0, left("hits-due"), "entries");
    assertEquals(value, value());
  }

  @Test
  void aCounterThatCannotBeRolledUpDoesNotBlockTheOthers() {
    hits.add(new Add("broken", 1, null));
    count(1);
    Key summary = new Key("counter/broken", "summary");
    driver.write(
        new Write.Put(
            summary,
            Map.of("end", new Field.Text("not a number")),
            Optional.empty(),
            Condition.always()));
    clock.advance(SETTLE.multipliedBy(2));
    assertThrows(QuipuException.class, hits::rollUpDue);
    assertEquals(1, hits.stored(PAGE).count());
  }
}
