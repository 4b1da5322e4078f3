package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Hold;
import dev.quipu.HoldReading;
import dev.quipu.HoldReading.State;
import dev.quipu.HoldRequest;
import dev.quipu.HoldRequest.Excess;
import dev.quipu.HoldRequest.Late;
import dev.quipu.HoldResult;
import dev.quipu.Holds;
import dev.quipu.NotAppliedException;
import dev.quipu.Quipu;
import dev.quipu.Reason;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.Settlement;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.backend.Backends;
import dev.quipu.simulation.time.ManualClock;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Holds on the counters of an engine. */
final class HoldsTest {
  private static final RequestId ID = RequestId.of("hold-1");
  private static final Duration TTL = Duration.ofMinutes(10);

  @TempDir Path directory;

  private final ManualClock clock = new ManualClock(1_800_000_000_000L);
  private final EngineOptions options =
      EngineOptions.defaults().withLog(1 << 20, 4 << 20).withClock(clock);
  private Engine engine;
  private Holds holds;

  @BeforeEach
  void open() {
    engine = Engine.open(directory, options);
    holds = engine.holds();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void reopen() {
    close();
    open();
  }

  private void fill(String counter, long value) {
    engine.set(counter, value, OptionalLong.empty());
  }

  private long value(String counter) {
    return engine.read(counter).orElseThrow().value();
  }

  private static Add take(String counter, long amount) {
    return new Add(counter, -amount, Bounds.atLeast(0), null);
  }

  private static HoldRequest request(Add... adds) {
    return new HoldRequest(ID, List.of(adds), TTL);
  }

  private static HoldReading done(HoldResult result, State state, boolean isReplayed) {
    HoldResult.Done done = assertInstanceOf(HoldResult.Done.class, result);
    assertEquals(state, done.hold().state());
    assertEquals(isReplayed, done.isReplayed());
    return done.hold();
  }

  private static void closed(HoldResult result, State state) {
    assertEquals(state, assertInstanceOf(HoldResult.Closed.class, result).hold().state());
  }

  @Test
  void reservesAtOnceAndReturnsTheRest() {
    fill("budget", 10);
    done(holds.place(request(take("budget", 7))), State.OPEN, false);
    assertEquals(3, value("budget"));
    assertEquals(
        new Holds.Balance(3, -7, OptionalLong.of(3), OptionalLong.empty()),
        holds.balance("budget").orElseThrow());
    HoldReading settled = done(holds.settle(ID, Settlement.each(-4)), State.SETTLED, false);
    assertEquals(
        List.of(new HoldReading.Part("budget", -7, OptionalLong.of(-4))), settled.counters());
    assertEquals(6, value("budget"));
    assertEquals(0, holds.balance("budget").orElseThrow().held());
  }

  @Test
  void aRejectionNamesTheFirstCounterAndConsumesNothing() {
    fill("team", 10);
    fill("key", 3);
    HoldResult.Rejected rejected =
        assertInstanceOf(
            HoldResult.Rejected.class,
            holds.place(request(take("team", 5), take("key", 5), take("none", 5))));
    assertEquals(new HoldResult.Rejected("key", Rejection.FLOOR, OptionalLong.of(3)), rejected);
    assertEquals(10, value("team"));
    assertTrue(holds.find(ID).isEmpty());
    done(holds.place(request(take("team", 3), take("key", 3))), State.OPEN, false);
  }

  @Test
  void eachStepIsRepeatable() {
    fill("budget", 10);
    for (boolean again : new boolean[] {false, true}) {
      done(holds.place(request(take("budget", 7))), State.OPEN, again);
      reopen();
    }
    for (boolean again : new boolean[] {false, true}) {
      done(holds.settle(ID, Settlement.each(-7)), State.SETTLED, again);
      reopen();
    }
    done(holds.place(request(take("budget", 7))), State.SETTLED, true);
    closed(holds.settle(ID, Settlement.each(-6)), State.SETTLED);
    closed(holds.release(ID), State.SETTLED);
    closed(holds.extend(ID, TTL), State.SETTLED);
    assertInstanceOf(HoldResult.Conflict.class, holds.place(request(take("budget", 6))));
    assertEquals(3, value("budget"));
  }

  @Test
  void releaseReturnsEverythingOnce() {
    fill("budget", 10);
    done(holds.place(request(take("budget", 7))), State.OPEN, false);
    done(holds.release(ID), State.RELEASED, false);
    done(holds.release(ID), State.RELEASED, true);
    closed(holds.settle(ID, Settlement.each(-1)), State.RELEASED);
    assertEquals(10, value("budget"));
  }

  @Test
  void expiresExactlyOnceAlsoAfterARestart() {
    fill("budget", 10);
    done(holds.place(request(take("budget", 7))), State.OPEN, false);
    reopen();
    clock.advance(TTL.minusMillis(1));
    engine.sweep();
    assertEquals(3, value("budget"));
    engine.checkpoint();
    reopen();
    clock.advance(Duration.ofMillis(1));
    engine.sweep();
    engine.sweep();
    assertEquals(10, value("budget"));
    closed(holds.settle(ID, Settlement.each(-1)), State.EXPIRED);
    reopen();
    assertEquals(State.EXPIRED, holds.find(ID).orElseThrow().state());
    assertEquals(10, value("budget"));
  }

  /** Regression: the end of a hold was thought to need more of a frame than placing it. */
  @Test
  void whatFitsIntoASmallLogExpires() {
    Path small = directory.resolve("small");
    List<Add> adds = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      adds.add(new Add(i + "n".repeat(511), 1, null));
    }
    try (Engine other = Engine.open(small, options.withLog(1 << 16, 1 << 17))) {
      done(other.holds().place(new HoldRequest(ID, adds, TTL)), State.OPEN, false);
      clock.advance(TTL);
      other.sweep();
      assertEquals(0, other.read(adds.getFirst().counter()).orElseThrow().value());
      closed(other.holds().release(ID), State.EXPIRED);
    }
  }

  @Test
  void extendSetsTheExpiryFromNow() {
    fill("budget", 10);
    done(holds.place(request(take("budget", 7))), State.OPEN, false);
    clock.advance(TTL.minusMillis(1));
    HoldReading extended = done(holds.extend(ID, Duration.ofHours(1)), State.OPEN, false);
    assertEquals(clock.epochMillis() + 3_600_000, extended.expires().toEpochMilli());
    reopen();
    clock.advance(Duration.ofMinutes(59));
    engine.sweep();
    assertEquals(3, value("budget"));
    clock.advance(Duration.ofMinutes(1));
    assertEquals(State.EXPIRED, holds.find(ID).orElseThrow().state());
    closed(holds.extend(ID, TTL), State.EXPIRED);
    assertEquals(10, value("budget"));
  }

  @Test
  void aLateSettlementFollowsThePolicy() {
    fill("budget", 10);
    HoldRequest request =
        new HoldRequest(ID, List.of(take("budget", 7)), TTL, Late.APPLY, Excess.REJECT);
    done(holds.place(request), State.OPEN, false);
    clock.advance(TTL);
    HoldResult.Rejected rejected;
    fill("budget", -3); // others spent 6 of the 3 that were left
    rejected = assertInstanceOf(HoldResult.Rejected.class, holds.settle(ID, Settlement.each(-5)));
    assertEquals(new HoldResult.Rejected("budget", Rejection.FLOOR, OptionalLong.of(4)), rejected);
    HoldReading late = done(holds.settle(ID, Settlement.each(-4)), State.SETTLED, false);
    assertTrue(late.isLate());
    reopen();
    assertTrue(done(holds.settle(ID, Settlement.each(-4)), State.SETTLED, true).isLate());
    assertEquals(0, value("budget"));
  }

  @Test
  void excessFollowsThePolicyAndTheBounds() {
    fill("budget", 10);
    done(holds.place(request(take("budget", 7))), State.OPEN, false);
    assertEquals(new HoldResult.Exceeded("budget", -7), holds.settle(ID, Settlement.each(-8)));
    var unused = holds.release(ID);
    RequestId other = RequestId.of("hold-2");
    var placed =
        holds.place(
            new HoldRequest(other, List.of(take("budget", 7)), TTL, Late.REJECT, Excess.ALLOW));
    assertInstanceOf(HoldResult.Done.class, placed);
    assertInstanceOf(HoldResult.Rejected.class, holds.settle(other, Settlement.each(-11)));
    done(holds.settle(other, Settlement.each(-10)), State.SETTLED, false);
    assertEquals(0, value("budget"));
  }

  @Test
  void aSettlementNamesEveryCounterOrGivesOneDeltaForAll() {
    fill("day", 10);
    fill("month", 100);
    done(holds.place(request(take("day", 7), take("month", 7))), State.OPEN, false);
    IllegalArgumentException error =
        assertThrows(
            IllegalArgumentException.class,
            () -> holds.settle(ID, Settlement.of(Map.of("day", -1L))));
    assertTrue(String.valueOf(error.getMessage()).contains("month"));
    assertThrows(IllegalArgumentException.class, () -> holds.settle(ID, Settlement.each(1)));
    done(holds.settle(ID, Settlement.of(Map.of("day", -1L, "month", 0L))), State.SETTLED, false);
    assertEquals(9, value("day"));
    assertEquals(100, value("month"));
  }

  @Test
  void whatIsHeldOnARemovedCounterIsGone() {
    fill("day", 10);
    fill("month", 100);
    HoldRequest request =
        new HoldRequest(
            ID, List.of(take("day", 7), take("month", 7)), TTL, Late.APPLY, Excess.REJECT);
    done(holds.place(request), State.OPEN, false);
    TestOperation.run(engine, access -> access.remove("day"));
    engine.checkpoint();
    reopen();
    fill("day", 50); // of the next day
    assertEquals(0, holds.balance("day").orElseThrow().held());
    assertEquals(List.of(), holds.list("day", null, 10));
    reopen();
    done(holds.release(ID), State.RELEASED, false);
    assertEquals(50, value("day"));
    assertEquals(100, value("month"));
  }

  /** Found by seed 26837 of the simulation: the settlement had the expiry of before. */
  @Test
  void aHoldWhoseReturnWouldOverflowIsPostponedAndMayBeSettled() {
    fill("day", 10);
    done(holds.place(request(take("day", 3))), State.OPEN, false);
    engine.set("day", Long.MAX_VALUE - 1, OptionalLong.empty());
    clock.advance(TTL);
    Instant before = holds.find(ID).orElseThrow().expires();
    HoldResult.Done settled =
        assertInstanceOf(HoldResult.Done.class, holds.settle(ID, Settlement.each(-2)));
    assertEquals(State.SETTLED, settled.hold().state());
    assertEquals(before.plusSeconds(60), settled.hold().expires());
    assertEquals(settled.hold(), holds.find(ID).orElseThrow());
    assertEquals(Long.MAX_VALUE, value("day"));
  }

  @Test
  void aCounterWithOpenHoldsIsNotDeleted() {
    fill("day", 10);
    done(holds.place(request(take("day", 7))), State.OPEN, false);
    NotAppliedException e = assertThrows(NotAppliedException.class, () -> engine.delete("day"));
    assertEquals(Reason.HELD, e.reason());
    assertEquals(3, value("day"));
    done(holds.settle(ID, Settlement.each(-1)), State.SETTLED, false);
    engine.delete("day");
    assertTrue(engine.read("day").isEmpty());
  }

  @Test
  void aCounterThatBecameATextIsNotSettledLate() {
    fill("day", 10);
    HoldRequest request =
        new HoldRequest(ID, List.of(take("day", 7)), TTL, Late.APPLY, Excess.REJECT);
    done(holds.place(request), State.OPEN, false);
    TestOperation.run(engine, access -> access.setText("day", new byte[] {1}));
    clock.advance(TTL);
    closed(holds.settle(ID, Settlement.each(-1)), State.EXPIRED);
    assertTrue(engine.failure().isEmpty());
  }

  @Test
  void aCounterThatBecameADecimalIsNotSettledLate() {
    fill("day", 10);
    HoldRequest request =
        new HoldRequest(ID, List.of(take("day", 7)), TTL, Late.APPLY, Excess.REJECT);
    done(holds.place(request), State.OPEN, false);
    TestOperation.run(engine, access -> access.remove("day"));
    TestOperation.run(engine, access -> access.set("day", 500, 2));
    clock.advance(TTL);
    closed(holds.settle(ID, Settlement.each(-1)), State.EXPIRED);
    assertTrue(engine.failure().isEmpty());
    assertEquals(500, value("day"));
  }

  @Test
  void aLateSettlementDoesNotTouchALaterCounterOfTheSameName() {
    fill("day", 100);
    HoldRequest request =
        new HoldRequest(ID, List.of(take("day", 30)), TTL, Late.APPLY, Excess.REJECT);
    done(holds.place(request), State.OPEN, false);
    TestOperation.run(engine, access -> access.remove("day"));
    clock.advance(TTL);
    engine.sweep();
    closed(holds.settle(ID, Settlement.each(-30)), State.EXPIRED);
    assertTrue(engine.read("day").isEmpty());
    fill("day", 100);
    closed(holds.settle(ID, Settlement.each(-30)), State.EXPIRED);
    assertEquals(100, value("day"));
    done(holds.place(request), State.EXPIRED, true);
  }

  @Test
  void idsAreOneNamespaceWithTransactions() {
    fill("budget", 10);
    done(holds.place(request(take("budget", 7))), State.OPEN, false);
    assertInstanceOf(
        TransactionResult.Conflict.class,
        engine.transactions().commit(ID, List.of(take("budget", 7))));
    assertInstanceOf(TransactionOutcome.Held.class, engine.transactions().outcome(ID));
    assertThrows(NotAppliedException.class, () -> engine.transactions().cancel(ID));
    assertEquals(3, value("budget"));
    RequestId canceled = RequestId.of("never");
    assertInstanceOf(TransactionOutcome.Canceled.class, engine.transactions().cancel(canceled));
    reopen();
    assertEquals(
        new HoldResult.Rejected("", Rejection.CANCELED, OptionalLong.empty()),
        holds.place(new HoldRequest(canceled, List.of(take("budget", 1)), TTL)));
    assertEquals(new HoldResult.NotFound(), holds.settle(canceled, Settlement.each(0)));
  }

  @Test
  void listsTheOpenHoldsOfACounterInPages() {
    fill("stock", 100);
    for (int i = 0; i < 7; i++) {
      var placed =
          holds.place(new HoldRequest(RequestId.of(i, -i), List.of(take("stock", 1)), TTL));
      assertInstanceOf(HoldResult.Done.class, placed);
    }
    var unused = holds.release(RequestId.of(3, -3));
    List<HoldReading> first = holds.list("stock", null, 4);
    assertEquals(List.of(0L, 1L, 2L, 4L), first.stream().map(each -> each.id().high()).toList());
    List<HoldReading> rest = holds.list("stock", first.getLast().id(), 4);
    assertEquals(List.of(5L, 6L), rest.stream().map(each -> each.id().high()).toList());
    assertEquals(-6, holds.balance("stock").orElseThrow().held());
  }

  @Test
  void aReturnThatWouldOverflowIsPostponed() {
    fill("much", 5);
    done(holds.place(request(take("much", 5))), State.OPEN, false);
    fill("much", Long.MAX_VALUE);
    clock.advance(TTL);
    engine.sweep();
    assertEquals(Long.MAX_VALUE, value("much"));
    fill("much", 0);
    clock.advance(Duration.ofMinutes(1));
    engine.sweep();
    assertEquals(5, value("much"));
  }

  @Test
  void closingReleasesWhatWasNotSettled() {
    try (Quipu quipu = Backends.on(engine)) {
      fill("budget", 10);
      try (Hold hold = quipu.hold(ID).add("budget", -7, Bounds.atLeast(0)).place(TTL)) {
        assertEquals(3, value("budget"));
        assertEquals(ID, hold.id());
      }
      assertEquals(10, value("budget"));
      RequestId second = RequestId.of("second");
      try (Hold hold = quipu.hold(second).add("budget", -7, Bounds.atLeast(0)).place(TTL)) {
        assertFalse(hold.settle(-2).orElseThrow().isReplayed());
      }
      assertEquals(8, value("budget"));
      NotAppliedException rejected =
          assertThrows(
              NotAppliedException.class,
              () -> quipu.hold(RequestId.of("x")).add("budget", -9, Bounds.atLeast(0)).place(TTL));
      assertTrue(String.valueOf(rejected.getMessage()).contains("budget"));
    }
  }
}
