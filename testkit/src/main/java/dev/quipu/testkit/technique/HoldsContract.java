package dev.quipu.testkit.technique;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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
import dev.quipu.Holds.Balance;
import dev.quipu.NotAppliedException;
import dev.quipu.Quipu;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.ScaleRules;
import dev.quipu.SetResult;
import dev.quipu.Settlement;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.TransactionResult.Added;
import dev.quipu.Transactions;
import dev.quipu.backend.Backends;
import dev.quipu.backend.ScaledCounters;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.technique.MarkerItem;
import dev.quipu.testkit.ConcurrentClients;
import dev.quipu.time.Randomness;
import dev.quipu.transaction.StoredHolds;
import dev.quipu.transaction.StoredTransactions;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of holds, on every store. */
public abstract class HoldsContract extends EmptyStoreFixture {
  private static final RequestId ID = RequestId.of("hold-1");
  private static final Duration TTL = Duration.ofMinutes(10);
  private static final Bounds NOT_NEGATIVE = Bounds.atLeast(0);

  private MarkerItem counters;
  private StoredHolds holds;

  /** For subclasses. */
  @SuppressWarnings("NullAway.Init") // JUnit calls openHolds before each test
  protected HoldsContract() {}

  @BeforeEach
  final void openHolds() {
    boolean isSupported =
        MarkerItem.SPEC.over(Atomicity.STORE).worksOn(store.profile())
            && store.profile().has(Capability.ORDERED_SCAN);
    if (!isSupported && MarkerItem.SPEC.worksOn(store.profile())) {
      MarkerItem above = new MarkerItem(store);
      UnsupportedOperationException e =
          assertThrows(
              UnsupportedOperationException.class,
              () -> new StoredHolds(above, store, Randomness.secure()));
      assertExplains("PostgreSQL", e);
    }
    assumeTrue(isSupported, () -> store.profile().name() + " does not support holds");
    counters = new MarkerItem(store);
    holds = new StoredHolds(counters, store, Randomness.secure());
  }

  private void fund(String counter, long amount) {
    assertTrue(counters.add(new Add(counter, amount, null)).isApplied());
  }

  private static HoldRequest request(RequestId id, Late late, Excess excess, Add... adds) {
    return new HoldRequest(id, List.of(adds), TTL, late, excess);
  }

  private static HoldRequest request(RequestId id, Add... adds) {
    return request(id, Late.REJECT, Excess.REJECT, adds);
  }

  private static Add take(String counter, long amount) {
    return new Add(counter, -amount, NOT_NEGATIVE, null);
  }

  private long value(String counter) {
    return counters.read(counter).map(Reading::value).orElse(0L);
  }

  private Balance balance(String counter) {
    return holds.balance(counter).orElseThrow();
  }

  private static HoldResult.Done done(State state, boolean isReplayed, HoldResult result) {
    HoldResult.Done done = assertInstanceOf(HoldResult.Done.class, result, result.explanation());
    assertEquals(state, done.hold().state());
    assertEquals(isReplayed, done.isReplayed());
    return done;
  }

  private static void closed(State state, HoldResult result) {
    assertEquals(state, assertInstanceOf(HoldResult.Closed.class, result).hold().state());
  }

  private void expire() {
    clock.advance(TTL);
  }

  @Test
  final void aHoldTakesEffectAtOnceAndIsSettledForWhatWasUsed() {
    fund("a", 10);
    HoldReading placed = done(State.OPEN, false, holds.place(request(ID, take("a", 6)))).hold();
    assertEquals(
        new HoldReading(
            ID,
            State.OPEN,
            List.of(new HoldReading.Part("a", -6, OptionalLong.empty())),
            Instant.ofEpochMilli(clock.epochMillis()).plus(TTL),
            false),
        placed);
    assertEquals(4, value("a"));
    assertEquals(new Balance(4, -6, OptionalLong.of(4), OptionalLong.empty()), balance("a"));
    assertEquals(List.of(placed), holds.list("a", null, 10));
    HoldReading settled = done(State.SETTLED, false, holds.settle(ID, Settlement.each(-2))).hold();
    assertEquals(List.of(new HoldReading.Part("a", -6, OptionalLong.of(-2))), settled.counters());
    assertEquals(Optional.of(settled), holds.find(ID));
    assertEquals(new Balance(8, 0, OptionalLong.empty(), OptionalLong.empty()), balance("a"));
    assertEquals(List.of(), holds.list("a", null, 10));
    expire();
    assertEquals(0, holds.releaseExpired());
    assertEquals(8, value("a"));
  }

  @Test
  final void eachStepIsIdempotentAndClosesTheOthers() {
    fund("a", 10);
    done(State.OPEN, false, holds.place(request(ID, take("a", 6))));
    done(State.OPEN, true, holds.place(request(ID, take("a", 6))));
    done(State.SETTLED, false, holds.settle(ID, Settlement.each(-2)));
    done(State.SETTLED, true, holds.settle(ID, Settlement.each(-2)));
    done(State.SETTLED, true, holds.place(request(ID, take("a", 6))));
    closed(State.SETTLED, holds.settle(ID, Settlement.each(-3)));
    closed(State.SETTLED, holds.release(ID));
    closed(State.SETTLED, holds.extend(ID, TTL));
    RequestId other = RequestId.of("hold-2");
    done(State.OPEN, false, holds.place(request(other, take("a", 8))));
    done(State.RELEASED, false, holds.release(other));
    done(State.RELEASED, true, holds.release(other));
    closed(State.RELEASED, holds.settle(other, Settlement.each(0)));
    closed(State.RELEASED, holds.extend(other, TTL));
    RequestId unknown = RequestId.of("unknown");
    assertEquals(new HoldResult.NotFound(), holds.release(unknown));
    assertEquals(new HoldResult.NotFound(), holds.settle(unknown, Settlement.each(0)));
    assertEquals(new HoldResult.NotFound(), holds.extend(unknown, TTL));
    assertEquals(Optional.empty(), holds.find(unknown));
    assertEquals(8, value("a"));
  }

  @Test
  final void anExpiredHoldIsReleasedOnceBySweepersOrByACall() throws Exception {
    fund("a", 10);
    RequestId other = RequestId.of("hold-2");
    done(State.OPEN, false, holds.place(request(ID, take("a", 6))));
    done(State.OPEN, false, holds.place(request(other, take("a", 1))));
    clock.advance(TTL.minusMillis(1));
    assertEquals(0, holds.releaseExpired());
    done(State.OPEN, false, holds.extend(other, TTL));
    clock.advance(Duration.ofMillis(1));
    List<Long> released =
        ConcurrentClients.run(
            4, i -> new StoredHolds(counters, store, Randomness.secure()).releaseExpired());
    assertEquals(1, released.stream().mapToLong(Long::longValue).sum());
    assertEquals(9, value("a"));
    assertEquals(State.EXPIRED, holds.find(ID).orElseThrow().state());
    closed(State.EXPIRED, holds.settle(ID, Settlement.each(-6)));
    closed(State.EXPIRED, holds.release(ID));
    done(State.EXPIRED, true, holds.place(request(ID, take("a", 6))));
    expire();
    assertEquals(List.of(), holds.list("a", null, 10), "it has expired");
    closed(State.EXPIRED, holds.extend(other, TTL));
    assertEquals(10, value("a"));
    assertEquals(0, holds.releaseExpired());
    assertEquals(new Balance(10, 0, OptionalLong.empty(), OptionalLong.empty()), balance("a"));
  }

  @Test
  final void aLateSettlementFollowsThePolicyWithinTheBounds() {
    fund("a", 10);
    for (boolean isSwept : List.of(true, false)) {
      RequestId id = RequestId.of("late-" + isSwept);
      done(State.OPEN, false, holds.place(request(id, Late.APPLY, Excess.REJECT, take("a", 4))));
      expire();
      assertEquals(isSwept ? 1 : 0, isSwept ? holds.releaseExpired() : 0);
      HoldReading late = done(State.SETTLED, false, holds.settle(id, Settlement.each(-3))).hold();
      assertTrue(late.isLate());
      assertEquals(OptionalLong.of(-3), late.counters().getFirst().settled());
      done(State.SETTLED, true, holds.settle(id, Settlement.each(-3)));
      closed(State.SETTLED, holds.settle(id, Settlement.each(-4)));
    }
    assertEquals(4, value("a"));
    RequestId id = RequestId.of("late");
    done(State.OPEN, false, holds.place(request(id, Late.APPLY, Excess.REJECT, take("a", 4))));
    expire();
    assertEquals(1, holds.releaseExpired());
    assertTrue(counters.add(take("a", 2)).isApplied());
    assertEquals(
        new HoldResult.Rejected("a", Rejection.FLOOR, OptionalLong.of(2)),
        holds.settle(id, Settlement.each(-3)));
    assertFalse(holds.find(id).orElseThrow().isLate());
    done(State.SETTLED, false, holds.settle(id, Settlement.each(-2)));
    assertEquals(0, value("a"));
  }

  @Test
  final void aSettlementOfMoreFollowsThePolicyWithinTheBounds() {
    fund("a", 10);
    done(State.OPEN, false, holds.place(request(ID, take("a", 4))));
    assertEquals(new HoldResult.Exceeded("a", -4), holds.settle(ID, Settlement.each(-5)));
    done(State.SETTLED, false, holds.settle(ID, Settlement.each(-4)));
    RequestId more = RequestId.of("more");
    done(State.OPEN, false, holds.place(request(more, Late.REJECT, Excess.ALLOW, take("a", 4))));
    assertEquals(
        new HoldResult.Rejected("a", Rejection.FLOOR, OptionalLong.of(2)),
        holds.settle(more, Settlement.each(-7)));
    done(State.SETTLED, false, holds.settle(more, Settlement.each(-6)));
    assertEquals(0, value("a"));
    assertEquals(0, balance("a").held());
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> holds.settle(more, Settlement.each(1)));
    assertExplains("sign", e);
  }

  @Test
  final void aHoldSpansSeveralCountersOrNone() {
    fund("day", 5);
    fund("month", 10);
    Add[] adds = {take("day", 4), take("month", 4)};
    done(State.OPEN, false, holds.place(request(ID, adds)));
    assertEquals(
        new HoldResult.Rejected("day", Rejection.FLOOR, OptionalLong.of(1)),
        holds.place(request(RequestId.of("hold-2"), take("month", 6), take("day", 2))));
    assertEquals(List.of(1L, 6L), List.of(value("day"), value("month")));
    assertThrows(
        IllegalArgumentException.class, () -> holds.settle(ID, Settlement.of(Map.of("day", -1L))));
    Settlement used = Settlement.of(Map.of("day", -1L, "month", -3L));
    done(State.SETTLED, false, holds.settle(ID, used));
    assertEquals(List.of(4L, 7L), List.of(value("day"), value("month")));
  }

  @Test
  final void theLargestHoldFitsAndOneMoreIsRejectedWithTheLimit() {
    int most = Math.min(Transactions.COUNTERS_MAX, (store.profile().batchItemsMax() - 2) / 2);
    Add[] adds =
        IntStream.range(0, most)
            .mapToObj(i -> new Add("c" + i, 2, Bounds.atMost(100 + i), null))
            .toArray(Add[]::new);
    done(State.OPEN, false, holds.place(request(ID, adds)));
    assertEquals(new Balance(2, 2, OptionalLong.empty(), OptionalLong.of(98)), balance("c0"));
    done(State.OPEN, false, holds.extend(ID, TTL.multipliedBy(2)));
    done(State.SETTLED, false, holds.settle(ID, Settlement.each(1)));
    assertEquals(1, value("c" + (most - 1)));
    List<Add> more = new ArrayList<>(List.of(adds));
    more.add(take("one more", 1));
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class,
            () -> holds.place(request(RequestId.of("more"), more.toArray(Add[]::new))));
    assertExplains(Integer.toString(most), e);
    IllegalArgumentException least =
        assertThrows(
            IllegalArgumentException.class,
            () ->
                holds.place(
                    request(
                        RequestId.of("least"),
                        new Add("least", Long.MIN_VALUE, Bounds.none(), null))));
    assertExplains("least", least);
    assertEquals(Optional.empty(), counters.read("least"));
  }

  @Test
  final void openHoldsAreListedInPagesByTheirBits() {
    fund("a", 100);
    List<RequestId> ids =
        IntStream.range(0, 60)
            .mapToObj(i -> RequestId.of(i * 0x0404_0404_0404_0404L, i))
            .sorted((x, y) -> x.bits().compareTo(y.bits()))
            .toList();
    ids.forEach(id -> done(State.OPEN, false, holds.place(request(id, take("a", 1)))));
    done(State.RELEASED, false, holds.release(ids.get(10)));
    List<RequestId> open = new ArrayList<>(ids);
    open.remove(10);
    assertEquals(open, holds.list("a", null, 1_000).stream().map(HoldReading::id).toList());
    assertEquals(
        open.subList(20, 25),
        holds.list("a", open.get(19), 5).stream().map(HoldReading::id).toList());
    assertEquals(List.of(), holds.list("a", open.getLast(), 5));
    assertEquals(List.of(), holds.list("b", null, 5));
    assertThrows(IllegalArgumentException.class, () -> holds.list("a", null, 0));
    assertThrows(IllegalArgumentException.class, () -> holds.list("a", null, 1_001));
  }

  @Test
  final void theBalanceHasTheNarrowestBoundsOfOpenHolds() {
    assertEquals(Optional.empty(), holds.balance("a"));
    fund("a", 10);
    assertEquals(new Balance(10, 0, OptionalLong.empty(), OptionalLong.empty()), balance("a"));
    Add wide = new Add("a", -1, Bounds.between(-5, 30), null);
    Add narrow = new Add("a", 2, Bounds.between(3, 20), null);
    done(State.OPEN, false, holds.place(request(ID, wide)));
    done(State.OPEN, false, holds.place(request(RequestId.of("narrow"), narrow)));
    assertEquals(new Balance(11, 1, OptionalLong.of(8), OptionalLong.of(9)), balance("a"));
    done(State.RELEASED, false, holds.release(RequestId.of("narrow")));
    assertEquals(new Balance(9, -1, OptionalLong.of(14), OptionalLong.of(21)), balance("a"));
  }

  @Test
  final void aCounterWithOpenHoldsIsNotDeletedAndASetKeepsThem() {
    fund("a", 10);
    done(State.OPEN, false, holds.place(request(ID, take("a", 4))));
    NotAppliedException e = assertThrows(NotAppliedException.class, () -> counters.delete("a"));
    assertExplains("1 open hold", e);
    assertEquals(Reason.HELD, e.reason());
    assertInstanceOf(SetResult.Done.class, counters.set("a", 50, OptionalLong.empty()));
    assertEquals(-4, balance("a").held());
    done(State.RELEASED, false, holds.release(ID));
    assertEquals(54, value("a"));
    counters.delete("a");
    assertEquals(Optional.empty(), holds.balance("a"));
    closed(State.RELEASED, holds.settle(ID, Settlement.each(0)));
  }

  @Test
  final void idsOfTransactionsAndHoldsAreOneNamespace() {
    Transactions transactions = new StoredTransactions(counters, store, Randomness.secure());
    fund("a", 10);
    List<Add> adds = List.of(take("a", 4));
    HoldReading held = done(State.OPEN, false, holds.place(request(ID, take("a", 4)))).hold();
    assertEquals(new TransactionResult.Conflict(), transactions.commit(ID, adds));
    assertEquals(new TransactionOutcome.Held(held), transactions.outcome(ID));
    assertThrows(NotAppliedException.class, () -> transactions.cancel(ID));
    HoldRequest other = new HoldRequest(ID, adds, TTL.plusSeconds(1));
    assertEquals(new HoldResult.Conflict(), holds.place(other));
    assertEquals(new HoldResult.Conflict(), holds.place(request(ID, take("b", 4))));
    RequestId applied = RequestId.of("transaction");
    assertInstanceOf(TransactionResult.Applied.class, transactions.commit(applied, adds));
    assertEquals(new HoldResult.Conflict(), holds.place(request(applied, take("a", 4))));
    assertEquals(new HoldResult.NotFound(), holds.release(applied));
    RequestId canceled = RequestId.of("canceled");
    assertInstanceOf(TransactionOutcome.Canceled.class, transactions.cancel(canceled));
    assertEquals(
        new HoldResult.Rejected("", Rejection.CANCELED, OptionalLong.empty()),
        holds.place(request(canceled, take("a", 1))));
    assertEquals(2, value("a"));
  }

  @Test
  final void closedHoldsAreRememberedAsLongAsRequestIds() {
    Duration keep = Duration.ofHours(1);
    MarkerItem forgetting = new MarkerItem(store, keep);
    StoredHolds forgotten = new StoredHolds(forgetting, store, Randomness.secure());
    fund("a", 10);
    HoldRequest longer = new HoldRequest(ID, List.of(take("a", 4)), keep.multipliedBy(3));
    done(State.OPEN, false, forgotten.place(longer));
    clock.advance(keep.multipliedBy(2));
    done(State.SETTLED, false, forgotten.settle(ID, Settlement.each(-1)));
    clock.advance(keep.minusMillis(1));
    done(State.SETTLED, true, forgotten.place(longer));
    clock.advance(Duration.ofMillis(1));
    assertEquals(new HoldResult.NotFound(), forgotten.settle(ID, Settlement.each(-1)));
    done(State.OPEN, false, forgotten.place(longer));
    assertEquals(5, value("a"));
  }

  @Test
  final void amountsThatExceed64BitsAreRejected() {
    fund("a", Long.MAX_VALUE);
    Add add = new Add("a", 1, Bounds.none(), null);
    assertEquals(
        new HoldResult.Rejected("a", Rejection.OVERFLOW, OptionalLong.of(Long.MAX_VALUE)),
        holds.place(request(ID, add)));
    Add take = new Add("a", -Long.MAX_VALUE, Bounds.none(), null);
    done(State.OPEN, false, holds.place(request(ID, take)));
    RequestId other = RequestId.of("hold-2");
    assertTrue(counters.add(new Add("a", 5, null)).isApplied());
    assertEquals(
        new HoldResult.Rejected("a", Rejection.OVERFLOW, OptionalLong.of(5)),
        holds.place(request(other, new Add("a", -Long.MAX_VALUE, Bounds.none(), null))),
        "the sum of holds exceeds 64 bits");
    assertEquals(
        new HoldResult.Rejected("a", Rejection.OVERFLOW, OptionalLong.of(5)), holds.release(ID));
    expire();
    assertEquals(0, holds.releaseExpired(), "it can not be returned yet");
    assertEquals(State.OPEN, holds.find(ID).orElseThrow().state());
    assertTrue(counters.add(new Add("a", -5, null)).isApplied());
    assertEquals(1, holds.releaseExpired());
    assertEquals(Long.MAX_VALUE, value("a"));
  }

  @Test
  final void amountsMayBeDecimals() {
    ScaleRules rules = ScaleRules.parse(List.of("money/*=2", "fine/*=6"));
    try (Quipu quipu = Backends.on(driver, on -> new ScaledCounters(new MarkerItem(on), rules))) {
      assertTrue(quipu.counter("money/a").add(new BigDecimal("10")).isApplied());
      TransactionResult.Applied moved =
          quipu
              .transaction(RequestId.of("t"))
              .add("money/a", new BigDecimal("-1.5"), BigDecimal.ZERO, null)
              .add("fine/b", new BigDecimal("1.5"), null, null)
              .commit()
              .orElseThrow();
      List<Added> adds =
          List.of(new Added("money/a", -150, 850, 2), new Added("fine/b", 1_500_000, 1_500_000, 6));
      assertEquals(adds, moved.adds());
      assertEquals(
          new TransactionOutcome.Applied(adds),
          quipu.part(Transactions.class).outcome(RequestId.of("t")));
      Hold.Builder tooFine = quipu.hold(ID).add("money/a", new BigDecimal("-0.001"), null, null);
      assertThrows(IllegalArgumentException.class, () -> tooFine.place(TTL));
      try (Hold hold =
          quipu
              .hold(ID)
              .add("money/a", new BigDecimal("-2.5"), BigDecimal.ZERO, null)
              .add("fine/b", new BigDecimal("-2.5"), null, null)
              .place(TTL)) {
        assertEquals(
            Optional.of(new Balance(600, -250, OptionalLong.of(600), OptionalLong.empty(), 2)),
            quipu.part(Holds.class).balance("money/a"));
        assertEquals(
            new HoldResult.Exceeded("money/a", -250, 2), hold.settle(new BigDecimal("-2.51")));
        HoldReading settled = hold.settle(new BigDecimal("-0.25")).orElseThrow().hold();
        assertEquals(
            List.of(
                new HoldReading.Part("money/a", -250, OptionalLong.of(-25), 2),
                new HoldReading.Part("fine/b", -2_500_000, OptionalLong.of(-250_000), 6)),
            settled.counters());
        assertEquals(Optional.of(settled), quipu.part(Holds.class).find(ID));
      }
      assertEquals("8.25", quipu.counter("money/a").read().orElseThrow().decimal().toString());
    }
  }
}
