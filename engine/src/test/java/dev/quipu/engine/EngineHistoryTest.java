package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.backend.CounterHistory;
import dev.quipu.backend.CounterHistory.Changed;
import dev.quipu.backend.CounterHistory.Point;
import dev.quipu.backend.CounterHistory.Sum;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.history.HistoryRules;
import dev.quipu.engine.history.HistoryStep;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.testkit.pace.Progress;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Values at past boundaries, compared to all changes, which the test keeps. */
@SuppressWarnings("NullAway.Init") // each test opens the engine
final class EngineHistoryTest {
  private static final Instant START = Instant.parse("2026-10-24T21:17:31Z"); // before DST ends
  private static final HistoryRules RULES =
      HistoryRules.parse(
          "c*=minute:30d,hour:200d,day:5y,day@Europe/Berlin:5y;one=hour@Asia/Kolkata:90d");

  @TempDir Path directory;
  private final ManualClock clock = new ManualClock(START.toEpochMilli());
  private Engine engine;

  /** All changes of each counter: time and value; empty if it was removed. */
  private final Map<String, TreeMap<Long, Optional<Long>>> changes = new TreeMap<>();

  private void open(Optional<HistoryRules> rules) {
    EngineOptions options =
        EngineOptions.defaults()
            .withDurability(Durability.NONE)
            .withLog(1 << 16, 1 << 20)
            .withClock(clock);
    engine = Engine.open(directory, rules.isPresent() ? options.withHistory(rules.get()) : options);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  /** Stops the engine, which then writes nothing more, and opens it again. */
  private void kill() {
    engine.stop(new IllegalStateException("killed by the test"));
    engine.close();
    open(Optional.empty());
  }

  /**
   * Advances the clock between two groups of commits: a group that one of the engine's threads
   * began before would take the next change with it, at its own time.
   */
  private void advance(Duration time) {
    clock.advance(time);
    var unused = engine.read("any"); // returns when such a group has ended
  }

  private void changed(String name, Optional<Long> value) {
    changes.computeIfAbsent(name, key -> new TreeMap<>()).put(clock.epochMillis(), value);
  }

  private void add(String name, long delta) {
    long value = engine.add(new Add(name, delta, null)).orElseThrow().value();
    changed(name, Optional.of(value));
  }

  private Optional<Long> expected(String name, long millis) {
    var last = changes.getOrDefault(name, new TreeMap<>()).lowerEntry(millis);
    return last == null ? Optional.empty() : last.getValue();
  }

  /** Compares all boundaries of a step in a period. */
  private void check(String name, HistoryStep step, Instant from) {
    List<Instant> boundaries = boundaries(step, from);
    if (boundaries.isEmpty()) {
      return;
    }
    List<Point> points = engine.history().values(name, boundaries);
    for (int i = 0; i < points.size(); i++) {
      Point point = points.get(i);
      assertEquals(boundaries.get(i), point.at());
      assertEquals(
          expected(name, point.at().toEpochMilli()),
          point.reading().map(each -> each.value()),
          name + " at " + point.at() + ", " + step);
      assertTrue(point.isKnown(), point::toString);
    }
  }

  private List<Instant> boundaries(HistoryStep step, Instant from) {
    List<Instant> boundaries = new ArrayList<>();
    long now = clock.epochMillis();
    for (long at = step.next(from.toEpochMilli()); at <= now; at = step.next(at)) {
      boundaries.add(Instant.ofEpochMilli(at));
    }
    int size = boundaries.size();
    return boundaries.subList(Math.max(0, size - CounterHistory.BOUNDARIES_MAX), size);
  }

  /** Days of adds, removals and restarts, with snapshots, over the end of daylight saving time. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void everyBoundaryEqualsARecount(long seed) {
    Random random = new Random(seed);
    open(Optional.of(RULES));
    add("before", 3);
    int kills = 0;
    for (int i = 0; i < 3_000; i++) {
      String name = random.nextInt(8) == 0 ? "one" : "c" + random.nextInt(12);
      switch (random.nextInt(40)) {
        case 0 -> {
          engine.delete(name);
          changed(name, Optional.empty());
        }
        case 1 -> {
          long value = random.nextLong();
          var unused = engine.set(name, value, OptionalLong.empty());
          changed(name, Optional.of(value));
        }
        case 2 -> engine.checkpoint();
        case 3 -> {
          if (random.nextInt(10) == 0) {
            kill();
            kills++;
          }
        }
        case 4 -> engine.sweep();
        case 5 -> {
          String id = "id-" + i;
          long value = engine.add(new Add(name, 1, RequestId.of(id))).orElseThrow().value();
          changed(name, Optional.of(value));
        }
        default -> add(name, random.nextInt(5) + 1);
      }
      advance(pause(random));
      if (i % 1_500 == 1_499) {
        checkAll();
      }
    }
    checkAll();
    assertTrue(kills > 3, kills + " kills");
  }

  private static Duration pause(Random random) {
    return switch (random.nextInt(30)) {
      case 0 -> Duration.ofHours(random.nextInt(9));
      case 1 -> Duration.ofMinutes(random.nextInt(90));
      default -> Duration.ofMillis(random.nextInt(60_000));
    };
  }

  private void checkAll() {
    for (String name : List.of("c0", "c3", "c11")) {
      check(
          name,
          HistoryStep.parse("minute"),
          Instant.ofEpochMilli(clock.epochMillis()).minus(Duration.ofDays(2)));
      check(name, HistoryStep.parse("hour"), START);
      check(name, HistoryStep.parse("day"), START);
      check(name, HistoryStep.parse("day@Europe/Berlin"), START);
      check(name, HistoryStep.parse("hour@Asia/Kolkata"), START);
    }
    check("one", HistoryStep.parse("hour@Asia/Kolkata"), START);
    List<Instant> days = boundaries(HistoryStep.parse("day"), START);
    for (Sum each : engine.history().sums("c", days)) {
      BigDecimal sum = BigDecimal.ZERO;
      for (String name : changes.keySet()) {
        if (name.startsWith("c")) {
          sum = sum.add(BigDecimal.valueOf(expected(name, each.at().toEpochMilli()).orElse(0L)));
        }
      }
      assertEquals(sum, each.sum().orElseThrow(), "sum at " + each.at());
    }
  }

  @Test
  void whatWasNotKeptIsAnErrorThatNamesTheStep() {
    open(Optional.of(HistoryRules.parse("c*=minute:10m,hour:2d,day:5y")));
    for (int i = 0; i < 200; i++) {
      add("c", 1);
      advance(Duration.ofMinutes(20));
    }
    Instant day = Instant.parse("2026-10-26T00:00:00Z");
    assertTimeoutPreemptively(
        Progress.STALL_MAX,
        () -> {
          while (isKept(day.plusSeconds(60)) || files() > 150) {
            Thread.sleep(10); // the engine merges and deletes files every second
          }
        });
    assertEquals(1, engine.history().values("c", List.of(day)).size());
    IllegalArgumentException minute =
        assertThrows(
            IllegalArgumentException.class,
            () -> engine.history().values("c", List.of(day.plusSeconds(60))));
    String message = String.valueOf(minute.getMessage());
    assertTrue(message.contains("the shortest step there is "), message);
    IllegalArgumentException other =
        assertThrows(
            IllegalArgumentException.class, () -> engine.history().values("d", List.of(day)));
    assertTrue(String.valueOf(other.getMessage()).contains("--history"));
    assertFalse(engine.history().isKept("d"));
  }

  private boolean isKept(Instant boundary) {
    try {
      return !engine.history().values("c", List.of(boundary)).isEmpty();
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private long files() throws IOException {
    try (Stream<Path> files = Files.list(directory.resolve("history"))) {
      return files.count();
    }
  }

  @Test
  void beforeTheRulesNothingIsKnown() {
    open(Optional.empty());
    add("c", 5);
    engine.close();
    clock.advance(Duration.ofDays(1));
    open(Optional.of(HistoryRules.parse("c*=day:5y")));
    advance(Duration.ofDays(2));
    add("c", 1);
    advance(Duration.ofDays(1));
    List<Instant> days = boundaries(HistoryStep.parse("day"), START);
    List<Point> points = engine.history().values("c", days);
    assertEquals(List.of(false, true, true, true), points.stream().map(Point::isKnown).toList());
    Instant began = START.plus(Duration.ofDays(1));
    assertEquals(Optional.of(began), points.getFirst().since());
    assertEquals(Optional.of(began), engine.history().began("c"));
    assertEquals(
        List.of(5L, 5L, 5L, 6L), // the first one is of the time when the recording began
        points.stream()
            .flatMap(each -> each.reading().stream())
            .map(each -> each.value())
            .toList());
    engine.close();
    open(Optional.of(HistoryRules.none()));
    add("c", 1);
    assertThrows(IllegalArgumentException.class, () -> engine.history().values("c", days));
    engine.close();
    open(Optional.of(HistoryRules.parse("c*=day:5y")));
    assertFalse(engine.history().values("c", days).getLast().isKnown());
    assertEquals(Optional.empty(), engine.history().values("c", days).getLast().since());
    assertEquals(Optional.empty(), engine.history().began("c")); // there was a gap
  }

  /** From the expiry of a counter until it is removed, by a thread of the engine. */
  @Test
  void anExpiryDoesNotChangeTheValuesBefore() {
    open(Optional.of(RULES));
    Instant boundary = Instant.parse("2026-10-24T21:18:00Z");
    Instant expiry = boundary.plusMillis(100);
    add("c/a", 30);
    add("c/b", 4);
    TestOperation.run(engine, access -> access.expire("c/a", expiry.toEpochMilli()));
    advance(Duration.between(START, boundary).minusMillis(500));
    engine.sweep(); // the next one by the engine is in a second
    advance(Duration.ofMillis(800));
    Instant now = Instant.ofEpochMilli(clock.epochMillis());
    CounterHistory history = engine.history();
    List<Point> points = history.values("c/a", List.of(boundary, now));
    assertEquals(Optional.of(30L), points.getFirst().reading().map(Reading::value));
    assertEquals(Optional.empty(), points.getLast().reading());
    List<Sum> sums = history.sums("c/", List.of(boundary, now));
    assertEquals(Optional.of(new BigDecimal(34)), sums.getFirst().sum());
    assertEquals(Optional.of(new BigDecimal(4)), sums.getLast().sum());
    assertEquals(
        Map.of("c/a", Optional.of(30L)),
        history.changedSince("c/", boundary).stream()
            .collect(Collectors.toMap(Changed::name, each -> each.before().map(Reading::value))));
  }

  @Test
  void countersOfARuleThatBeganLaterAreNotRanked() {
    open(Optional.of(HistoryRules.parse("c*=hour:2d")));
    add("c", 1);
    advance(Duration.ofHours(1));
    Instant boundary = Instant.ofEpochMilli(clock.epochMillis()).truncatedTo(ChronoUnit.HOURS);
    add("c", 2);
    engine.close();
    open(Optional.of(HistoryRules.parse("c*=hour:2d;d*=hour:2d")));
    add("d", 4);
    assertEquals(
        List.of("c"),
        engine.history().changedSince("", boundary).stream().map(Changed::name).toList());
    String message =
        String.valueOf(
            assertThrows(
                    IllegalArgumentException.class,
                    () -> engine.history().changedSince("d", boundary))
                .getMessage());
    assertTrue(message.contains("the recording of d* began at "), message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "d*=day:5y",
        "c*=hour:3d",
        "c*=day:5y",
        "d*=none",
        "d*=none;c*=hour:9d",
        "c*=hour:2d;ca*=hour:2d",
        "c*=hour:2d;c=day:1y",
        "cc=hour:2d;c*=hour:2d"
      })
  void rulesThatWouldDiscardThePastAreRefused(String others) {
    open(Optional.of(HistoryRules.parse("c*=hour:2d")));
    add("c", 1);
    advance(Duration.ofHours(1));
    add("c", 2);
    engine.close();
    String message =
        String.valueOf(
            assertThrows(
                    IllegalArgumentException.class,
                    () -> open(Optional.of(HistoryRules.parse(others))))
                .getMessage());
    assertTrue(message.contains("recorded by 'c*=hour:2d'"), message);
    assertTrue(message.matches("(?s).*'(c|cc|ca\\*|c\\*)=none.*"), message);
    open(Optional.empty()); // nothing was changed
    Instant boundary = Instant.ofEpochMilli(clock.epochMillis()).truncatedTo(ChronoUnit.HOURS);
    assertEquals(
        1, engine.history().values("c", List.of(boundary)).getFirst().reading().get().value());
  }

  @Test
  void aPastThatIsNamedIsDiscarded() {
    open(Optional.of(HistoryRules.parse("c*=hour:2d;d=hour:2d")));
    add("c", 1);
    add("d", 1);
    advance(Duration.ofHours(1));
    Instant boundary = Instant.ofEpochMilli(clock.epochMillis()).truncatedTo(ChronoUnit.HOURS);
    HistoryRules others = HistoryRules.parse("c*=none, day:5y,hour:2d;d=none");
    engine.close();
    open(Optional.of(others));
    assertFalse(engine.history().isKept("d"));
    assertFalse(engine.history().values("c", List.of(boundary)).getFirst().isKnown());
    advance(Duration.ofHours(1));
    engine.close();
    open(Optional.of(others)); // the rules are those of the recorded past
    Instant later = boundary.plus(Duration.ofHours(1));
    assertTrue(engine.history().values("c", List.of(later)).getFirst().isKnown());
    engine.close();
    open(Optional.of(HistoryRules.parse("c*=none"))); // so that it may be closed
    assertFalse(engine.history().isKept("c"));
  }

  @Test
  void aDamagedFileIsAnErrorOfItsReadersOnly() throws Exception {
    open(Optional.of(HistoryRules.parse("c*=minute:2d,day:5y")));
    for (int i = 0; i < 5; i++) {
      add("c", 1);
      advance(Duration.ofMinutes(1));
    }
    engine.checkpoint(); // writes the files
    engine.close();
    try (Stream<Path> files = Files.list(directory.resolve("history"))) {
      for (Path each : files.filter(file -> file.toString().endsWith(".block")).toList()) {
        byte[] bytes = Files.readAllBytes(each);
        bytes[50] ^= 1;
        Files.write(each, bytes);
      }
    }
    open(Optional.empty());
    List<Instant> minutes = boundaries(HistoryStep.parse("minute"), START);
    assertThrows(DamageException.class, () -> engine.history().values("c", minutes));
    advance(Duration.ofDays(2)); // the day is to be merged from the minutes
    for (int i = 0; i < 25; i++) {
      add("c", 1);
      assertTrue(engine.failure().isEmpty());
      Thread.sleep(100);
    }
  }

  /** A machine without a clock of its own may start at any time. */
  @Test
  void afterAClockThatWasYearsAheadThePastBeginsAgain() {
    open(Optional.of(HistoryRules.parse("c*=minute:2d,day:50y")));
    add("c", 5);
    engine.close();
    clock.jump(Duration.ofDays(3_000));
    open(Optional.empty());
    add("c", 1);
    advance(Duration.ofHours(1));
    add("c", 1);
    engine.checkpoint();
    engine.close();
    clock.jump(Duration.ofDays(-2_999));
    for (int i = 0; i < 3; i++) {
      open(Optional.empty());
      add("c", 1);
      advance(Duration.ofDays(1));
      engine.close();
    }
    open(Optional.empty());
    List<Instant> days = boundaries(HistoryStep.parse("day"), START);
    assertEquals(
        List.of("false", "8", "9", "10"),
        engine.history().values("c", days).stream()
            .map(
                each -> each.reading().map(value -> "" + value.value()).orElse("" + each.isKnown()))
            .toList());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "c",
        "c=",
        "c=minute",
        "c=minute:2",
        "c=week:2d",
        "c*d=day:2d",
        "c=none,",
        "c=,none",
        "c=day:2d,none",
        "c=day@Mars:2d",
        "c=day:0d",
        "c=day:2d,day:3d",
        "c=day:2d;c=day:3d",
        "c=day:200y",
        "=day:2d"
      })
  void malformedRulesAreErrors(String text) {
    open(Optional.empty());
    assertThrows(IllegalArgumentException.class, () -> HistoryRules.parse(text));
  }

  @Test
  void rulesAreRememberedInTheirOwnForm() {
    open(Optional.of(RULES));
    assertEquals(RULES, HistoryRules.parse(RULES.toString()));
    engine.close();
    open(Optional.empty());
    assertTrue(engine.history().isKept("c5"));
    assertTrue(engine.history().isKept("one"));
    assertFalse(engine.history().isKept("two"));
  }
}
