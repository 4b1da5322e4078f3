package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Guarantee;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.display.DisplayReading;
import dev.quipu.display.DurableFirst;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLogOptions;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.LaggingDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Hits that arrive late, are edited, or are no longer needed. */
final class HitLogTest {
  private static final String PAGE = "page";
  private static final Duration SETTLE = HitLogOptions.DEFAULT.settle();

  private final ManualClock clock = new ManualClock(1_700_000_000_000L);
  private final StoreDriver driver = new MemoryDriver();
  private final Store store = new Store(driver, clock);
  private final HitLog hits = new HitLog(store);

  private AddResult add(long delta) {
    return hits.add(new Add(PAGE, delta, null));
  }

  private long value() {
    Reading reading = hits.read(PAGE).orElseThrow();
    assertEquals(Reading.exact(reading.value()), reading);
    return reading.value();
  }

  private Instant now() {
    return Instant.ofEpochMilli(clock.epochMillis());
  }

  private long stored(String kind) {
    return ScanDriver.of(driver).count(Scan.all(kind + "/" + PAGE));
  }

  @Test
  void aSummaryHasWhatHasSettledAndTheRestIsAddedToIt() {
    assertEquals(Optional.empty(), hits.read(PAGE));
    for (int i = 0; i < 5; i++) {
      add(1);
    }
    add(-3);
    assertFalse(hits.rollUp(PAGE).isStored(), "nothing has settled");
    clock.advance(SETTLE);
    add(10);
    assertEquals(new HitLog.RollUp(true, 0), hits.rollUp(PAGE));
    assertEquals(12, value());
    assertEquals(new HitLog.RollUp(false, 0), hits.rollUp(PAGE));
    clock.advance(SETTLE);
    assertTrue(hits.rollUp(PAGE).isStored());
    assertEquals(12, value());
  }

  @Test
  void aHitThatComesLateIsFoundAndRepaired() {
    add(1);
    clock.advance(SETTLE);
    assertTrue(hits.rollUp(PAGE).isStored());
    // What a paused process sends when it resumes: both before the time of the summary.
    long past = clock.epochMillis() - SETTLE.toMillis() - 5;
    driver.write(hit("hits/", past, Map.of()));
    driver.write(hit("amounts/", past + 1, Map.of(Item.VALUE, new Field.Number(7))));
    assertEquals(1, value(), "it is not seen");
    assertEquals(new HitLog.RollUp(true, 8), hits.rollUp(PAGE));
    assertEquals(9, value());
    assertEquals(new HitLog.RollUp(false, 0), hits.rollUp(PAGE));
  }

  /** Its first process crashed between marker and hit, and the summary has passed it since. */
  @Test
  void aRequestThatIsRepeatedLateIsSeenByWhoReadsAfterItsAnswer() {
    add(1);
    RequestId id = RequestId.of("order");
    Add order = new Add(PAGE, 7, id);
    int calls = 0;
    boolean died = true;
    for (int call = 1; died && stored("amounts") == 0; call++) {
      calls = call;
      try {
        new HitLog(new Store(ProcessCrash.of(driver, call, true), clock)).add(order);
        died = false;
      } catch (ProcessCrash.Crash e) {
        if (driver.get(marker(id), Consistency.STRONG).isPresent()) {
          break; // the marker exists, the hit does not
        }
      }
    }
    assertTrue(died && calls > 0 && stored("amounts") == 0, "it did not die between the two");
    add(1);
    clock.advance(SETTLE.multipliedBy(3));
    assertTrue(hits.rollUp(PAGE).isStored());
    assertEquals(2, value());
    assertInstanceOf(AddResult.Replayed.class, hits.add(order));
    assertEquals(9, value());
    assertInstanceOf(AddResult.Replayed.class, hits.add(order));
    assertEquals(9, value());
  }

  private static Key marker(RequestId id) {
    return new Key("counter/" + PAGE, "request/" + id.bits());
  }

  private static Write hit(String kind, long millis, Map<String, Field> fields) {
    Key key = new Key(kind + PAGE, "%015d/late".formatted(millis));
    return new Write.Put(key, fields, Optional.empty(), Condition.always());
  }

  @Test
  void oldHitsMayBeAddedEditedAndTakenOut() {
    add(1);
    add(5);
    clock.advance(Duration.ofHours(1));
    hits.rollUp(PAGE);
    Instant earlier = now().minus(Duration.ofMinutes(30));
    hits.add(new Add(PAGE, 2, RequestId.of("found later")), earlier);
    assertEquals(8, value());
    assertInstanceOf(
        AddResult.Replayed.class, hits.add(new Add(PAGE, 2, RequestId.of("found later")), earlier));
    assertEquals(8, value());
    List<HitLog.Hit> all = hits.hits(PAGE, Instant.EPOCH, now());
    assertEquals(3, all.size());
    assertEquals(new HitLog.Hit(earlier, all.get(2).id(), 2), all.get(2));
    for (HitLog.Hit each : all) {
      assertTrue(hits.edit(PAGE, each, each.amount() * 100));
    }
    assertEquals(800, value());
    assertTrue(hits.edit(PAGE, all.get(0), 0));
    assertTrue(hits.edit(PAGE, all.get(1), 0));
    assertEquals(200, value());
    List<HitLog.Hit> left = hits.hits(PAGE, Instant.EPOCH, now());
    assertEquals(List.of(200L), left.stream().map(HitLog.Hit::amount).toList());
    HitLog.Hit none = new HitLog.Hit(now(), "none", 1);
    assertFalse(hits.edit(PAGE, none, 9));
    Add old = new Add(PAGE, 1, RequestId.of("old"));
    Instant tooOld = now().minus(HitLogOptions.DEFAULT.window()).minusMillis(1);
    assertThrows(IllegalArgumentException.class, () -> hits.add(old, tooOld));
    assertThrows(IllegalArgumentException.class, () -> hits.add(old, now().plusMillis(1)));
    assertEquals(200, value());
    hits.add(old, tooOld.plusMillis(1));
    hits.add(new Add(PAGE, 1, null), tooOld);
    assertEquals(202, value());
  }

  /** The counter is in the list of those to roll up before the edit is written. */
  @Test
  void anEditIsCompletedWhicheverCallCrashes() {
    int died = 0;
    for (int call = 1; call <= 20; call++) {
      for (boolean isAfter : List.of(false, true)) {
        died += new HitLogTest().editDiesAt(call, isAfter) ? 1 : 0;
      }
    }
    assertTrue(died > 10, "only " + died + " died");
  }

  /** Returns whether it crashed. */
  private boolean editDiesAt(int call, boolean isAfter) {
    // A client that follows the article wrote these, and notes nothing.
    driver.write(hit("hits/", clock.epochMillis(), Map.of()));
    driver.write(hit("amounts/", clock.epochMillis() + 1, Map.of(Item.VALUE, new Field.Number(7))));
    clock.advance(HitLogOptions.DEFAULT.window().plus(SETTLE));
    hits.rollUp(PAGE);
    HitLog.Hit seven = hits.page(PAGE, "", 10).hits().getLast();
    HitLog dying = new HitLog(new Store(ProcessCrash.of(driver, call, isAfter), clock));
    boolean died = false;
    try {
      assertTrue(dying.edit(PAGE, seven, 20));
      assertEquals(21, value());
    } catch (ProcessCrash.Crash e) {
      died = true;
    }
    hits.rollUpDue();
    long amount = hits.page(PAGE, "", 10).hits().getLast().amount();
    assertTrue(amount == 20 || (died && amount == 7), "amount " + amount);
    assertEquals(1 + amount, value(), "after call " + call);
    return died;
  }

  @Test
  void unneededHitsAreSwept() {
    for (int i = 0; i < 250; i++) {
      add(i % 3 == 0 ? -2 : 1);
    }
    hits.add(new Add(PAGE, 40, RequestId.of("a")));
    long value = value();
    clock.advance(SETTLE);
    hits.rollUp(PAGE);
    assertEquals(0, hits.sweep(PAGE), "repeats may still come");
    clock.advance(HitLogOptions.DEFAULT.window());
    clock.advance(SETTLE);
    assertEquals(0, hits.sweep(PAGE), "a reader may still know the old summary");
    clock.advance(SETTLE);
    assertEquals(251, hits.sweep(PAGE));
    assertEquals(0, stored("hits"));
    assertEquals(0, stored("amounts"));
    assertEquals(value, value());
    add(1);
    assertEquals(value + 1, value());
    clock.advance(SETTLE);
    assertEquals(new HitLog.RollUp(true, 0), hits.rollUp(PAGE));
    assertEquals(value + 1, value());
  }

  @Test
  void theCountIsExactWhicheverCallCrashes() {
    int died = 0;
    for (int call = 1; call <= 60; call++) {
      for (boolean isAfter : List.of(false, true)) {
        HitLogTest fresh = new HitLogTest();
        died += fresh.diesAt(call, isAfter) ? 1 : 0;
      }
    }
    assertTrue(died > 60, "only " + died + " died");
  }

  /** Returns whether it crashed. */
  private boolean diesAt(int call, boolean isAfter) {
    for (int i = 0; i < 30; i++) {
      add(i % 2 == 0 ? 1 : 3);
    }
    clock.advance(SETTLE);
    hits.rollUp(PAGE);
    clock.advance(HitLogOptions.DEFAULT.window().plus(SETTLE));
    hits.sweep(PAGE); // from now on, the summary is known
    add(1);
    clock.advance(SETTLE);
    HitLog dying = new HitLog(new Store(ProcessCrash.of(driver, call, isAfter), clock));
    boolean died = false;
    try {
      dying.rollUpDue();
    } catch (ProcessCrash.Crash e) {
      died = true;
    }
    assertEquals(61, value(), "after call " + call);
    hits.rollUpDue();
    assertEquals(61, value(), "repaired after call " + call);
    assertEquals(1, stored("hits"));
    assertEquals(0, stored("amounts"));
    return died;
  }

  @Test
  void whatWaitsIsKnownToAllProcesses() {
    for (int i = 0; i < 20; i++) {
      hits.add(new Add("page " + i, 1, null));
    }
    HitLog other = new HitLog(new Store(driver, clock));
    assertEquals(0, other.rollUpDue());
    clock.advance(SETTLE);
    assertEquals(20, other.rollUpDue());
    assertEquals(0, other.rollUpDue());
    assertEquals(20, ScanDriver.of(driver).count(Scan.all("hits-due")), "they are not swept yet");
    clock.advance(HitLogOptions.DEFAULT.window().plus(SETTLE));
    other.rollUpDue();
    clock.advance(SETTLE);
    other.rollUpDue();
    assertEquals(0, ScanDriver.of(driver).count(Scan.all("hits-due")));
    hits.add(new Add("page 3", 1, null));
    assertEquals(1, ScanDriver.of(driver).count(Scan.all("hits-due")));
    assertEquals(2, hits.read("page 3").orElseThrow().value());
  }

  @Test
  void aReadThatFindsManyHitsMakesASummary() {
    HitLog often = new HitLog(store, HitLogOptions.DEFAULT.summarizingAt(10));
    for (int i = 0; i < 9; i++) {
      add(1);
    }
    clock.advance(SETTLE);
    often.read(PAGE);
    assertFalse(isSummarised());
    add(1);
    assertEquals(10, often.read(PAGE).orElseThrow().value());
    assertTrue(isSummarised());
    assertEquals(10, often.read(PAGE).orElseThrow().value());
  }

  private boolean isSummarised() {
    return driver.get(new Key("counter/" + PAGE, "summary"), Consistency.STRONG).isPresent();
  }

  @Test
  void anEventualReadReturnsAPastCountAndItsUncertainty() {
    LaggingDriver lagging =
        new LaggingDriver(driver, clock, Randomness.seeded(3), Duration.ofSeconds(1));
    HitLog eventual =
        new HitLog(new Store(lagging, clock), HitLogOptions.DEFAULT.reading(Consistency.EVENTUAL));
    for (int i = 0; i < 10; i++) {
      eventual.add(new Add(PAGE, 1, null));
    }
    clock.advance(SETTLE.plusMillis(1));
    assertEquals(Reading.exact(10), eventual.read(PAGE).orElseThrow());
    eventual.add(new Add(PAGE, -4, null));
    eventual.add(new Add(PAGE, 3, null));
    clock.advance(Duration.ofSeconds(1));
    assertEquals(new Reading(9, 6, 13), eventual.read(PAGE).orElseThrow());
    clock.advance(SETTLE);
    assertEquals(Reading.exact(9), eventual.read(PAGE).orElseThrow());
  }

  @Test
  void aCacheMayStandBeforeIt() {
    DurableFirst shown =
        new DurableFirst(
            new Store(new MemoryDriver(), clock).operations(), hits, clock, Duration.ofSeconds(10));
    for (int i = 0; i < 7; i++) {
      shown.view(PAGE, Optional.empty());
    }
    DisplayReading reading = shown.read(PAGE).orElseThrow();
    assertEquals(7, reading.value());
    assertEquals(7, value());
  }

  @Test
  void boundsAreRejected() {
    Add bounded = new Add(PAGE, 1, Bounds.atMost(5), null);
    assertThrows(UnsupportedOperationException.class, () -> hits.add(bounded));
  }

  @Test
  void eventualReadsPromiseLessThanStrongOnes() {
    assertEquals(HitLog.SPEC, hits.spec());
    HitLogOptions eventual = HitLogOptions.DEFAULT.reading(Consistency.EVENTUAL);
    assertEquals(
        Set.of(Guarantee.AT_MOST_ONCE, Guarantee.IDEMPOTENT_WITHIN_WINDOW),
        new HitLog(store, eventual).spec().guarantees());
  }

  @Test
  void aCounterWithoutASummaryShowsNoEndOfOne() {
    add(3);
    assertEquals(new HitLog.Stored(0, Optional.empty(), 0, 1, 1, 3), hits.stored(PAGE));
    clock.advance(SETTLE.multipliedBy(2));
    assertTrue(hits.rollUp(PAGE).isStored());
    assertTrue(hits.stored(PAGE).end().isPresent());
  }

  /**
   * Otherwise the outcome "not applied" would be wrong: any process that finds the marker stores
   * the hit.
   */
  @Test
  void aCounterIsNotedForARollUpBeforeTheMarkerOfARequest() {
    CallScript script = new CallScript();
    script.before(
        CallScript.to("hits-due"),
        () -> {
          throw new NotAppliedException(Reason.DENIED, "read only");
        });
    HitLog unlucky = new HitLog(new Store(script.around(driver), clock));
    Add add = new Add(PAGE, 3, RequestId.of("id"));
    QuipuException e = assertThrows(QuipuException.class, () -> unlucky.add(add));
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertInstanceOf(AddResult.Applied.class, unlucky.add(add));
    assertEquals(3, value());
  }
}
