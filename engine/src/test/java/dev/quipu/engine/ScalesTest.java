package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Counter;
import dev.quipu.Decimal;
import dev.quipu.Quipu;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.ScaleRules;
import dev.quipu.SetRequest;
import dev.quipu.SetResult;
import dev.quipu.backend.Backends;
import dev.quipu.engine.transfer.DirectoryExport;
import dev.quipu.engine.transfer.DirectoryImport;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.testkit.pace.Progress;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Counters with a scale: their values never change their meaning. */
final class ScalesTest {
  private static final ScaleRules CENTS = ScaleRules.parse(List.of("budget/*=2"));

  @TempDir Path directory;

  private final ManualClock clock = new ManualClock(1_700_000_000_000L);

  private EngineOptions options(ScaleRules rules) {
    return EngineOptions.defaults().withLog(1 << 16, 1 << 16).withClock(clock).withScales(rules);
  }

  private Engine open(ScaleRules rules) {
    return Engine.open(directory, options(rules));
  }

  private static AddResult add(Engine engine, String name, String delta) {
    return engine.add(Add.of(name, Decimal.parse("delta", delta), null, null, null));
  }

  private static AddResult once(Engine engine, String name, String delta, String id) {
    RequestId request = RequestId.of(id);
    return engine.add(Add.of(name, Decimal.parse("delta", delta), null, null, request));
  }

  private static String read(Engine engine, String name) {
    return engine.read(name).map(reading -> reading.decimal().toPlainString()).orElse("none");
  }

  private static SetResult fix(Engine engine, String name, int scale) {
    return engine.set(
        new SetRequest(name, Optional.empty(), Optional.empty(), OptionalInt.of(scale)));
  }

  @Test
  void aScaleIsFixedWhileThereIsNoValue() {
    try (Engine engine = open(ScaleRules.none())) {
      assertEquals(new SetResult.Done(0, 2), fix(engine, "a", 2));
      assertEquals(new SetResult.Done(0, 2), fix(engine, "a", 2));
      assertEquals(new SetResult.OtherScale(2), fix(engine, "a", 3));
      assertEquals(new SetResult.OtherScale(2), fix(engine, "a", 0));
      assertEquals(new AddResult.Applied(150, OptionalLong.of(150), 2), add(engine, "a", "1.5"));
      assertEquals(new AddResult.Applied(100, OptionalLong.of(250), 2), add(engine, "a", "1"));
      assertEquals(new SetResult.Done(250, 2), fix(engine, "a", 2));
      assertEquals("2.50", read(engine, "a"));
      engine.delete("a");
      assertEquals(new SetResult.Done(0, 3), fix(engine, "a", 3));
      assertEquals("0.000", read(engine, "a"));
      assertInstanceOf(AddResult.Applied.class, add(engine, "integer", "7"));
      assertEquals(new SetResult.OtherScale(0), fix(engine, "integer", 2));
    }
  }

  @Test
  void moreDigitsThanTheScaleAndOverflowChangeNothing() {
    try (Engine engine = open(CENTS)) {
      assertInstanceOf(AddResult.Applied.class, add(engine, "budget/a", "0.01"));
      for (String bad : List.of("0.001", "1.000", "92233720368547758.08")) {
        assertThrows(IllegalArgumentException.class, () -> add(engine, "budget/a", bad), bad);
      }
      assertThrows(IllegalArgumentException.class, () -> add(engine, "other", "0.1"));
      AddResult.Rejected over =
          (AddResult.Rejected) add(engine, "budget/a", "92233720368547758.07");
      assertEquals(Rejection.OVERFLOW, over.why());
      assertEquals("0.01", read(engine, "budget/a"));
      assertEquals("none", read(engine, "other"));
    }
  }

  @Test
  void boundsAreConvertedToTheScale() {
    try (Engine engine = open(CENTS)) {
      Decimal one = Decimal.parse("delta", "1");
      Decimal floor = Decimal.parse("floor", "-0.5");
      Decimal down = Decimal.parse("delta", "-1.51");
      assertInstanceOf(
          AddResult.Applied.class, engine.add(Add.of("budget/a", one, null, null, null)));
      AddResult.Rejected rejected =
          (AddResult.Rejected) engine.add(Add.of("budget/a", down, floor, null, null));
      assertEquals(Rejection.FLOOR, rejected.why());
      assertEquals(2, rejected.scale());
      assertInstanceOf(
          AddResult.Applied.class,
          engine.add(Add.of("budget/a", Decimal.parse("delta", "-1.50"), floor, null, null)));
      assertEquals("-0.50", read(engine, "budget/a"));
    }
  }

  @Test
  void aLongIsInUnits() {
    try (Quipu quipu = Backends.on(open(CENTS))) {
      Counter counter = quipu.counter("budget/a");
      var unusedUnits = counter.add(150);
      AddResult.Success sum = counter.add(new BigDecimal("0.25"), RequestId.of("x")).orElseThrow();
      assertEquals(new BigDecimal("1.75"), sum.valueDecimal());
      assertEquals(175, counter.read().orElseThrow().value());
      counter.set(new BigDecimal("3"));
      assertEquals(300, counter.read().orElseThrow().value());
      AddResult bounded = counter.withBounds(BigDecimal.ZERO, null).add(new BigDecimal("-3.01"));
      assertEquals(Rejection.FLOOR, ((AddResult.Rejected) bounded).why());
      assertThrows(
          IllegalStateException.class,
          () -> counter.withBounds(Bounds.atLeast(0)).add(BigDecimal.ONE).isApplied());
      assertThrows(
          IllegalStateException.class,
          () -> counter.withBounds(BigDecimal.ZERO, null).add(1).isApplied());
      assertEquals(new SetResult.Done(0, 4), quipu.counter("free").fixScale(4));
    }
  }

  @Test
  void aRestartWithOtherRulesKeepsTheScale() {
    Engine killed = open(CENTS); // never closed
    var unusedAdd = add(killed, "budget/a", "1.25");
    var unusedId = once(killed, "budget/b", "0.75", "x");
    killed.delete("budget/b");
    var unusedFixed = fix(killed, "c", 18);
    killed.stop(new IllegalStateException("killed"));
    killed.close();
    for (List<String> rules : List.of(List.<String>of(), List.of("budget/*=5", "c=0"))) {
      try (Engine engine = open(ScaleRules.parse(rules))) {
        assertEquals("1.25", read(engine, "budget/a"));
        assertEquals("0E-18", engine.read("c").orElseThrow().decimal().toString());
        assertEquals(
            new RequestOutcome.Applied(75, OptionalLong.of(75), 2),
            engine.outcome("budget/b", RequestId.of("x")));
        assertEquals(new SetResult.OtherScale(2), fix(engine, "budget/b", 3));
        assertEquals(
            new AddResult.Replayed(75, OptionalLong.of(75), 2),
            once(engine, "budget/b", "0.75", "x"));
        engine.checkpoint();
      }
    }
  }

  @Test
  void aCounterWithoutRequestIdsGetsTheScaleOfItsNameAgain() {
    try (Engine engine = open(CENTS)) {
      var unusedFirst = add(engine, "budget/a", "1.25");
      engine.delete("budget/a");
    }
    try (Engine engine = open(ScaleRules.parse(List.of("budget/*=3", "budget/x=0")))) {
      assertEquals(
          new AddResult.Applied(1, OptionalLong.of(1), 3), add(engine, "budget/a", "0.001"));
      assertEquals(new AddResult.Applied(1, OptionalLong.of(1), 0), add(engine, "budget/x", "1"));
    }
  }

  @Test
  void requestIdsKeepTheScaleUntilTheyAreForgotten() throws Exception {
    Duration window = Duration.ofMinutes(1);
    try (Engine engine = Engine.open(directory, options(CENTS).withWindow(window))) {
      var unusedId = once(engine, "budget/a", "0.75", "x");
      engine.delete("budget/a");
      assertEquals(new SetResult.OtherScale(2), fix(engine, "budget/a", 3));
      Progress.await( // the sealer writes the ids to a file before they are forgotten
          "the scale is free",
          () -> {
            clock.advance(window.dividedBy(4));
            return fix(engine, "budget/a", 3) instanceof SetResult.Done;
          });
      assertEquals("0.000", read(engine, "budget/a"));
      assertEquals(new RequestOutcome.NotSeen(), engine.outcome("budget/a", RequestId.of("x")));
    }
  }

  @Test
  void anExportHasTheScales(@TempDir Path other) throws Exception {
    try (Engine engine = open(CENTS)) {
      var unusedAdd = once(engine, "budget/a", "1.25", "x");
      var unusedGone = once(engine, "budget/b", "2.50", "y");
      engine.delete("budget/b");
      var unusedInteger = add(engine, "integer", "7");
    }
    Path copy = other.resolve("copy");
    try (DirectoryImport target = DirectoryImport.begin(copy)) {
      DirectoryExport.read(directory, target::add);
      assertTrue(target.end() > 0);
    }
    try (Engine engine = Engine.open(copy, options(ScaleRules.none()))) {
      assertEquals("1.25", read(engine, "budget/a"));
      assertEquals("7", read(engine, "integer"));
      assertEquals(
          new AddResult.Replayed(250, OptionalLong.of(250), 2),
          once(engine, "budget/b", "2.50", "y"));
    }
  }

  @Test
  void randomAddsEqualTheDecimalSumOverRestarts() {
    SplittableRandom random = new SplittableRandom(20_261_128);
    Map<String, BigDecimal> sums = new HashMap<>();
    for (int round = 0; round < 5; round++) {
      ScaleRules rules = ScaleRules.parse(List.of("n0*=" + random.nextInt(19)));
      try (Engine engine = open(rules)) {
        for (int i = 0; i < 2_000; i++) {
          int scale = random.nextInt(19);
          String name = "n%02d".formatted(scale);
          if (!sums.containsKey(name)) {
            assertInstanceOf(SetResult.Done.class, fix(engine, name, scale));
            sums.put(name, BigDecimal.ZERO);
          }
          BigDecimal delta =
              BigDecimal.valueOf(
                  random.nextLong(-1_000, 1_000), scale - random.nextInt(Math.min(scale, 3) + 1));
          if (delta.signum() != 0) {
            AddResult result = add(engine, name, delta.toPlainString());
            sums.merge(name, delta, BigDecimal::add);
            BigDecimal after = result.orElseThrow().valueDecimal();
            assertEquals(0, sums.get(name).compareTo(after), name);
          }
        }
      }
    }
    try (Engine engine = open(ScaleRules.none())) {
      sums.forEach((name, sum) -> {
        BigDecimal found = engine.read(name).orElseThrow().decimal();
        assertEquals(0, sum.compareTo(found), name);
        assertEquals(Integer.parseInt(name.substring(1)), found.scale());
      });
    }
  }
}
