package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Decimal;
import dev.quipu.RequestId;
import dev.quipu.ScaleRules;
import dev.quipu.backend.CounterThresholds;
import dev.quipu.backend.CounterThresholds.Crossing;
import dev.quipu.backend.CounterThresholds.Direction;
import dev.quipu.backend.CounterThresholds.Status;
import dev.quipu.backend.CounterThresholds.Threshold;
import dev.quipu.simulation.time.ManualClock;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Crossings of thresholds, compared to a model that knows every change. */
@SuppressWarnings("NullAway.Init") // each test opens the engine
final class EngineThresholdsTest {
  private static final URI WEBHOOK = URI.create("http://localhost:1/hook");
  private static final int ALL = CounterThresholds.CROSSINGS_MAX;

  @TempDir Path directory;
  private final ManualClock clock =
      new ManualClock(Instant.parse("2026-11-29T12:00:00Z").toEpochMilli());
  private Engine engine;

  private void open() {
    engine =
        Engine.open(
            directory,
            EngineOptions.defaults()
                .withDurability(Durability.NONE)
                .withLog(1 << 16, 1 << 18)
                .withScales(ScaleRules.parse(List.of("money/*=2")))
                .withClock(clock));
  }

  @AfterEach
  void close() {
    engine.close();
  }

  /** Stops the engine, which then writes nothing more, and opens it again. */
  private void kill() {
    engine.stop(new IllegalStateException("killed by the test"));
    engine.close();
    open();
  }

  private CounterThresholds thresholds() {
    return engine.thresholds();
  }

  private static Threshold on(String id, String counter, long at, Direction direction) {
    return new Threshold(id, false, counter, new Decimal(at, 0), direction, WEBHOOK);
  }

  private static Threshold under(String id, String prefix, long at, Direction direction) {
    return new Threshold(id, true, prefix, new Decimal(at, 0), direction, WEBHOOK);
  }

  private void add(String name, long delta) {
    var unused = engine.add(new Add(name, delta, null));
  }

  private List<String> crossings(String id) {
    return thresholds().waiting(id, 0, ALL).stream()
        .map(each -> each.counter() + " " + each.before() + " " + each.after())
        .toList();
  }

  @Test
  void aValueCrossesAThresholdWhenItReachesItFromTheOtherSide() {
    open();
    assertTrue(thresholds().put(on("up", "c", 10, Direction.UP)));
    assertTrue(thresholds().put(on("down", "c", 10, Direction.DOWN)));
    add("c", 9);
    assertEquals(List.of(), crossings("up"));
    add("c", 1);
    add("c", 1);
    assertEquals(List.of("c 9 10"), crossings("up"));
    add("c", -1);
    add("c", -1);
    assertEquals(List.of("c 11 10"), crossings("down"));
    add("other", 50);
    add("c", 2);
    assertEquals(List.of("c 9 10", "c 9 11"), crossings("up"));
    var unusedSet = engine.set("c", -50, OptionalLong.empty());
    assertEquals(List.of("c 11 10", "c 11 -50"), crossings("down"));
    Crossing first = thresholds().waiting("up", 0, 1).getFirst();
    assertEquals(clock.epochMillis(), first.time().toEpochMilli());
    List<Crossing> rest = thresholds().waiting("up", first.sequence(), ALL);
    assertEquals(1, rest.size());
    assertFalse(rest.getFirst().id().equals(first.id()));
  }

  @Test
  void aRemovalCrossesNothingAndACounterBeginsAtZero() {
    open();
    assertTrue(thresholds().put(on("down", "c", 0, Direction.DOWN)));
    assertTrue(thresholds().put(on("up", "c", 3, Direction.UP)));
    add("c", 5);
    engine.delete("c");
    assertEquals(List.of(), crossings("down"));
    add("c", 5);
    assertEquals(List.of("c 0 5", "c 0 5"), crossings("up"));
    kill();
    add("c", -5);
    assertEquals(List.of("c 5 0"), crossings("down"));
  }

  @Test
  void aRepeatAndARejectedAddCrossNothing() {
    open();
    assertTrue(thresholds().put(under("up", "", 1, Direction.UP)));
    assertTrue(thresholds().put(under("down", "", -1, Direction.DOWN)));
    Add once = new Add("c", 1, RequestId.of("r"));
    for (int i = 0; i < 3; i++) {
      var unused = engine.add(once);
    }
    var unused = engine.add(new Add("stock", -1, Bounds.atLeast(0), null));
    assertEquals(List.of("c 0 1"), crossings("up"));
    assertEquals(List.of(), crossings("down"));
  }

  @Test
  void decimalsAreCompared() {
    open();
    assertTrue(
        thresholds()
            .put(
                new Threshold(
                    "t", true, "", new Decimal(1_005, 2), Direction.UP, WEBHOOK))); // 10.05
    var unusedMoney = engine.set("money/a", 1_004, OptionalLong.empty());
    add("whole", 10);
    assertEquals(List.of(), crossings("t"));
    add("whole", 1);
    var unused = engine.add(new Add("money/a", 1, null));
    assertEquals(List.of("whole 10 11", "money/a 10.04 10.05"), crossings("t"));
  }

  @Test
  void aReplacedThresholdKeepsItsCrossingsAndARemovedOneLosesThem() {
    open();
    assertTrue(thresholds().put(on("t", "c", 1, Direction.UP)));
    add("c", 1);
    assertFalse(thresholds().put(on("t", "c", 5, Direction.UP)));
    add("c", 4);
    kill();
    assertEquals(List.of("c 0 1", "c 1 5"), crossings("t"));
    assertEquals(
        List.of("1 up", "5 up"),
        thresholds().waiting("t", 0, ALL).stream()
            .map(each -> each.at() + " " + each.direction())
            .toList());
    assertTrue(thresholds().remove("t"));
    assertFalse(thresholds().remove("t"));
    assertTrue(thresholds().put(on("t", "c", 7, Direction.UP)));
    add("c", 2);
    kill();
    assertEquals(List.of("c 5 7"), crossings("t"));
    engine.checkpoint();
    kill();
    assertEquals(List.of("c 5 7"), crossings("t"));
  }

  @Test
  void deliveredCrossingsAreForgotten() {
    open();
    assertTrue(thresholds().put(under("t", "c", 1, Direction.UP)));
    for (int i = 0; i < 2_500; i++) {
      add("c" + i, 1);
    }
    engine.checkpoint(); // in several pieces
    kill();
    List<Long> all = new ArrayList<>();
    for (List<Crossing> page = thresholds().waiting("t", 0, ALL);
        !page.isEmpty();
        page = thresholds().waiting("t", all.getLast(), ALL)) {
      page.forEach(each -> all.add(each.sequence()));
    }
    assertEquals(2_500, all.size());
    thresholds().delivered("t", all.subList(0, 1_000));
    thresholds().delivered("t", all.subList(500, 1_500)); // again
    kill();
    assertEquals(all.get(1_500), thresholds().waiting("t", 0, 1).getFirst().sequence());
    assertEquals(1_000, thresholds().get("t").orElseThrow().waiting());
    long bytes = engine.statistics().memoryBytes();
    thresholds().delivered("t", all.subList(1_500, 2_500));
    assertTrue(engine.statistics().memoryBytes() < bytes - 1_000 * 100);
  }

  @Test
  void limitsAreStated() {
    open();
    for (int i = 0; i < CounterThresholds.PER_COUNTER_MAX; i++) {
      assertTrue(thresholds().put(under("t" + i, "abc".substring(0, i % 3), i, Direction.UP)));
    }
    IllegalArgumentException few =
        assertThrows(
            IllegalArgumentException.class,
            () -> thresholds().put(on("more", "abcd", 1, Direction.UP)));
    assertEquals(
        "17 thresholds would apply to a counter named abcd; the limit is 16", few.getMessage());
    assertThrows(
        IllegalArgumentException.class, () -> thresholds().put(under("more", "", 1, Direction.UP)));
    assertFalse(thresholds().put(under("t0", "", 1, Direction.UP)));
    assertThrows(
        IllegalArgumentException.class, () -> thresholds().put(on("é", "x", 1, Direction.UP)));
    for (String each :
        List.of("ftp://host/", "http:/x", "http://user@host/", "https://h/#f", "x")) {
      URI webhook = URI.create(each);
      Threshold wrong = new Threshold("w", false, "y", new Decimal(1, 0), Direction.UP, webhook);
      assertThrows(IllegalArgumentException.class, () -> thresholds().put(wrong), each);
    }
  }

  @Test
  void noMoreThresholdsThanTheLimit() {
    open();
    for (int i = 0; i < CounterThresholds.THRESHOLDS_MAX; i++) {
      assertTrue(thresholds().put(on("t" + i, "c" + i, 1, Direction.UP)));
    }
    IllegalArgumentException many =
        assertThrows(
            IllegalArgumentException.class, () -> thresholds().put(on("t", "c", 1, Direction.UP)));
    assertTrue(String.valueOf(many.getMessage()).contains("1000 thresholds"), many.getMessage());
    assertFalse(thresholds().put(on("t7", "c", 1, Direction.UP)));
    assertEquals(CounterThresholds.THRESHOLDS_MAX, thresholds().list().size());
  }

  /** One crossing of the model: {@code counter before after}. */
  private final Map<String, Deque<String>> expected = new HashMap<>();

  private final Map<String, Long> values = new HashMap<>();
  private final Map<String, Threshold> defined = new TreeMap<>();
  private final Set<String> ids = new HashSet<>();

  private void expectChange(String name, long after) {
    long before = values.getOrDefault(name, 0L);
    values.put(name, after);
    for (Threshold each : defined.values()) {
      boolean applies =
          each.isPrefix() ? name.startsWith(each.selector()) : name.equals(each.selector());
      long at = each.at().units();
      boolean isCrossed =
          each.direction() == Direction.UP
              ? before < at && at <= after
              : before > at && at >= after;
      if (applies && isCrossed) {
        expectedOf(each).add("%s %d %d".formatted(name, before, after));
      }
    }
  }

  private Deque<String> expectedOf(Threshold threshold) {
    return expected.computeIfAbsent(threshold.id(), key -> new ArrayDeque<>());
  }

  private void checkAll() {
    for (Threshold each : defined.values()) {
      assertEquals(List.copyOf(expectedOf(each)), crossings(each.id()), each.id());
    }
    assertEquals(
        List.copyOf(defined.values()),
        thresholds().list().stream().map(Status::threshold).toList());
  }

  /** Changes, definitions, deliveries, snapshots and kills in any order. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void everyCrossingIsRecordedOnceAndInOrder(long seed) {
    Random random = new Random(seed);
    open();
    for (int i = 0; i < 12_000; i++) {
      String name = "abc".substring(random.nextInt(3)) + random.nextInt(4);
      switch (random.nextInt(60)) {
        case 0 -> {
          engine.delete(name);
          values.remove(name);
        }
        case 1 -> {
          long value = random.nextInt(40) - 20L;
          var unused = engine.set(name, value, OptionalLong.empty());
          expectChange(name, value);
        }
        case 2 -> {
          if (defined.size() < 14) {
            define(random);
          }
        }
        case 3 -> {
          if (random.nextInt(4) == 0 && !defined.isEmpty()) {
            String id = List.copyOf(defined.keySet()).get(random.nextInt(defined.size()));
            assertTrue(thresholds().remove(id));
            defined.remove(id);
            expected.remove(id);
          }
        }
        case 4, 5, 6 -> deliver(random);
        case 7 -> {
          if (random.nextInt(20) == 0) {
            kill();
            checkAll();
          }
        }
        case 8 -> {
          if (random.nextInt(20) == 0) {
            engine.checkpoint();
          }
        }
        case 9 -> addGroup(random);
        default -> {
          long delta = delta(random);
          add(name, delta);
          expectChange(name, values.getOrDefault(name, 0L) + delta);
        }
      }
    }
    checkAll();
    kill();
    checkAll();
  }

  private static long delta(Random random) {
    return (random.nextBoolean() ? 1L : -1L) * (1 + random.nextInt(6));
  }

  /** Several changes of a counter in one frame, of which the log has only the last value. */
  private void addGroup(Random random) {
    List<Add> adds = new ArrayList<>();
    for (int j = 0; j < 20; j++) {
      adds.add(new Add("a" + random.nextInt(2), delta(random), null));
    }
    var unused = engine.addAll(adds);
    adds.forEach(each ->
        expectChange(each.counter(), values.getOrDefault(each.counter(), 0L) + each.delta()));
  }

  private void define(Random random) {
    Threshold threshold =
        new Threshold(
            "t" + random.nextInt(14),
            random.nextBoolean(),
            "abc".substring(random.nextInt(3)) + (random.nextBoolean() ? "" : random.nextInt(4)),
            new Decimal(random.nextInt(21) - 10, 0),
            random.nextBoolean() ? Direction.UP : Direction.DOWN,
            WEBHOOK);
    assertEquals(!defined.containsKey(threshold.id()), thresholds().put(threshold));
    defined.put(threshold.id(), threshold);
  }

  private void deliver(Random random) {
    for (Threshold each : defined.values()) {
      List<Crossing> some = thresholds().waiting(each.id(), 0, 1 + random.nextInt(50));
      some.forEach(crossing -> assertTrue(ids.add(crossing.id()), "an id was used twice"));
      some.forEach(crossing -> expectedOf(each).removeFirst());
      if (!some.isEmpty()) {
        thresholds().delivered(each.id(), some.stream().map(Crossing::sequence).toList());
      }
    }
  }
}
