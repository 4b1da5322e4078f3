package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Decimal;
import dev.quipu.HoldReading;
import dev.quipu.HoldRequest;
import dev.quipu.HoldRequest.Excess;
import dev.quipu.HoldRequest.Late;
import dev.quipu.HoldResult;
import dev.quipu.Holds;
import dev.quipu.Reading;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.ScaleRules;
import dev.quipu.Settlement;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.TransactionResult.Added;
import dev.quipu.simulation.time.ManualClock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Transactions and holds on counters of the engine that are decimals. */
final class DecimalHoldsTest {
  private static final RequestId ID = RequestId.of("id");
  private static final Duration TTL = Duration.ofMinutes(10);

  @TempDir Path directory;

  private final ManualClock clock = new ManualClock(1_800_000_000_000L);
  private final EngineOptions options =
      EngineOptions.defaults()
          .withClock(clock)
          .withScales(ScaleRules.parse(List.of("money/*=2", "fine/*=6")));
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

  private static Decimal decimal(String text) {
    return Decimal.parse("text", text);
  }

  private static Add add(String counter, String delta, @Nullable String floor) {
    return Add.of(counter, decimal(delta), floor == null ? null : decimal(floor), null, null);
  }

  private Optional<Reading> value(String counter) {
    return engine.read(counter);
  }

  private HoldResult hold(Add... adds) {
    return holds.place(new HoldRequest(ID, List.of(adds), TTL, Late.APPLY, Excess.ALLOW));
  }

  private static HoldReading done(HoldResult result) {
    return assertInstanceOf(HoldResult.Done.class, result).hold();
  }

  @Test
  void aTransactionConvertsEachAmountToTheScaleOfItsCounter() {
    List<Add> adds =
        List.of(add("money/a", "1.5", null), add("fine/b", "-0.25", "-1"), add("count", "3", null));
    TransactionResult.Applied applied = engine.transactions().commit(ID, adds).orElseThrow();
    List<Added> added =
        List.of(
            new Added("money/a", 150, 150, 2),
            new Added("fine/b", -250_000, -250_000, 6),
            new Added("count", 3, 3, 0));
    assertEquals(added, applied.adds());
    assertEquals("1.50", applied.adds().getFirst().valueDecimal().toPlainString());
    reopen();
    List<Add> same =
        List.of(
            add("money/a", "1.50", null), add("fine/b", "-0.250", "-1.0"), add("count", "3", null));
    assertEquals(
        new TransactionResult.Applied(added, true), engine.transactions().commit(ID, same));
    assertEquals(new TransactionOutcome.Applied(added), engine.transactions().outcome(ID));
    List<Add> inUnits =
        List.of(
            new Add("money/a", 150, null),
            new Add("fine/b", -250_000, Bounds.atLeast(-1_000_000), null),
            new Add("count", 3, null));
    assertEquals(
        new TransactionResult.Applied(added, true), engine.transactions().commit(ID, inUnits));
    for (Add other : List.of(add("money/a", "1.501", null), add("money/a", "150", null))) {
      List<Add> others = List.of(other, adds.get(1), adds.get(2));
      assertEquals(new TransactionResult.Conflict(), engine.transactions().commit(ID, others));
    }
  }

  @Test
  void moreDigitsThanTheScaleAreRejectedBeforeAnythingChanges() {
    List<Add> adds = List.of(add("count", "1", null), add("money/a", "0.125", null));
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> engine.transactions().commit(ID, adds));
    assertEquals(
        "amount of money/a: field delta has 3 digits after the point; the limit is 2, the scale of"
            + " the counter",
        e.getMessage());
    assertThrows(IllegalArgumentException.class, () -> hold(adds.toArray(Add[]::new)));
    assertThrows(IllegalArgumentException.class, () -> hold(add("count", "1.0", null)));
    assertEquals(Optional.empty(), value("count"));
    assertTrue(engine.failure().isEmpty());
  }

  @Test
  void aRejectionHasTheScaleOfItsCounter() {
    assertEquals(
        new TransactionResult.Rejected("money/a", Rejection.FLOOR, OptionalLong.of(0), 2),
        engine.transactions().commit(ID, List.of(add("money/a", "-0.01", "0"))));
    assertEquals(
        new HoldResult.Rejected("money/a", Rejection.FLOOR, OptionalLong.of(0), 2),
        hold(add("money/a", "-0.01", "0")));
  }

  @Test
  void aHoldReservesAndSettlesDecimals() {
    engine.set("money/a", 1_000, OptionalLong.empty());
    done(hold(add("money/a", "-7", "0"), add("fine/b", "-7", null)));
    assertEquals(
        Optional.of(new Holds.Balance(300, -700, OptionalLong.of(300), OptionalLong.empty(), 2)),
        holds.balance("money/a"));
    reopen();
    done(hold(add("money/a", "-7.00", "0.0"), add("fine/b", "-7", null)));
    assertThrows(
        IllegalArgumentException.class, () -> holds.settle(ID, Settlement.each(decimal("-0.125"))));
    assertEquals(
        new HoldResult.Rejected("money/a", Rejection.FLOOR, OptionalLong.of(300), 2),
        holds.settle(ID, Settlement.each(decimal("-10.01"))));
    Settlement used =
        Settlement.ofDecimals(Map.of("money/a", decimal("-1.25"), "fine/b", decimal("-0.000001")));
    List<HoldReading.Part> parts =
        List.of(
            new HoldReading.Part("money/a", -700, OptionalLong.of(-125), 2),
            new HoldReading.Part("fine/b", -7_000_000, OptionalLong.of(-1), 6));
    assertEquals(parts, done(holds.settle(ID, used)).counters());
    reopen();
    assertEquals(parts, done(holds.settle(ID, used)).counters());
    assertEquals(parts, holds.find(ID).orElseThrow().counters());
    assertEquals(Optional.of(Reading.exact(875, 2)), value("money/a"));
    assertEquals(Optional.of(Reading.exact(-1, 6)), value("fine/b"));
  }

  @Test
  void aLateSettlementIsOfTheSameScale() {
    done(hold(add("money/a", "-7", null)));
    clock.advance(TTL);
    engine.sweep();
    assertTrue(done(holds.settle(ID, Settlement.each(decimal("-0.5")))).isLate());
    assertEquals(Optional.of(Reading.exact(-50, 2)), value("money/a"));
  }

  @Test
  void aHoldKeepsItsScaleWhenTheCounterGetsAnother() {
    done(hold(add("money/a", "-7", null), add("count", "-7", null)));
    TestOperation.run(engine, access -> access.remove("money/a"));
    TestOperation.run(engine, access -> access.set("money/a", 5_000, 3));
    List<HoldReading.Part> parts =
        List.of(
            new HoldReading.Part("money/a", -700, OptionalLong.empty(), 2),
            new HoldReading.Part("count", -7, OptionalLong.empty(), 0));
    assertEquals(parts, holds.find(ID).orElseThrow().counters());
    done(holds.release(ID));
    for (int i = 0; i < 2; i++) {
      assertEquals(parts, holds.find(ID).orElseThrow().counters());
      assertEquals(Optional.of(Reading.exact(5_000, 3)), value("money/a"));
      assertEquals(Optional.of(Reading.exact(0)), value("count"));
      reopen();
    }
  }
}
