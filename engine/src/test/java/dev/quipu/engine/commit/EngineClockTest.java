package dev.quipu.engine.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.RequestId;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.TestOperation;
import dev.quipu.engine.log.HighWater;
import dev.quipu.simulation.time.ManualClock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Wrong clocks. */
final class EngineClockTest {
  private static final Duration TEN_YEARS = Duration.ofDays(3_650);
  private static final long NOW = 1_800_000_000_000L;

  @TempDir Path directory;

  private final ManualClock clock = new ManualClock(NOW);
  private final EngineOptions options =
      EngineOptions.defaults().withLog(1 << 20, 4 << 20).withClock(clock);

  @Test
  void oneStartWithAClockYearsAheadDoesNotEndEveryLaterExpiry() {
    Engine.open(directory, options).close();
    clock.jump(TEN_YEARS);
    try (Engine engine = Engine.open(directory, options)) {
      engine.add(new Add("a", 1, null));
    }
    clock.jump(TEN_YEARS.negated());
    try (Engine engine = Engine.open(directory, options)) {
      long at = clock.epochMillis() + 60_000;
      TestOperation.run(engine, access -> assertTrue(access.expire("a", at)));
      assertEquals(1, engine.read("a").orElseThrow().value());
      clock.advance(Duration.ofSeconds(59));
      assertEquals(1, engine.read("a").orElseThrow().value());
      clock.advance(Duration.ofSeconds(2));
      assertEquals(Optional.empty(), engine.read("a"));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {30, 24 * 3_650, -24 * 3_650})
  void oneStartWithAWrongClockForgetsNoRequestId(long hours) {
    Add add = new Add("a", 1, RequestId.of("one"));
    try (Engine engine = Engine.open(directory, options)) {
      assertInstanceOf(AddResult.Applied.class, engine.add(add));
      engine.checkpoint();
    }
    clock.jump(Duration.ofHours(hours));
    try (Engine engine = Engine.open(directory, options)) {
      engine.add(new Add("b", 1, null));
      engine.checkpoint();
      assertInstanceOf(AddResult.Replayed.class, engine.add(add));
    }
    clock.jump(Duration.ofHours(-hours));
    try (Engine engine = Engine.open(directory, options)) {
      assertInstanceOf(AddResult.Replayed.class, engine.add(add));
      clock.advance(Duration.ofHours(20));
      engine.checkpoint();
      assertInstanceOf(AddResult.Replayed.class, engine.add(add));
    }
  }

  @Test
  void timeWithoutCallsCountsForTheWindow() {
    Add add = new Add("a", 1, RequestId.of("one"));
    try (Engine engine = Engine.open(directory, options)) {
      engine.add(add);
      clock.advance(Duration.ofHours(20));
    }
    try (Engine engine = Engine.open(directory, options)) {
      clock.advance(Duration.ofHours(3));
      assertInstanceOf(AddResult.Replayed.class, engine.add(add));
      clock.advance(Duration.ofHours(7));
      assertInstanceOf(AddResult.Applied.class, engine.add(add));
    }
  }

  /** A client that sets a time to live never reads a longer one. */
  @Test
  void theRemainingTimeToLiveNeverExceedsTheOneSet() {
    try (Engine engine =
        Engine.open(directory, EngineOptions.defaults().withLog(1 << 20, 4 << 20))) {
      for (int i = 0; i < 200; i++) {
        long before = System.currentTimeMillis();
        TestOperation.run(
            engine,
            access -> {
              access.set("a", 1);
              access.expire("a", before + 1_000);
            });
        long left = TestOperation.get(engine, access -> access.expiresAt("a") - access.nowMillis());
        assertTrue(left <= 1_001, "left: " + left);
      }
    }
  }

  private EngineClock started(long ageMillis, long keptAge, long keptWall, long leapMillis) {
    return new EngineClock(
        clock, ageMillis, new HighWater.Mark(1, 1, keptAge, keptWall), leapMillis);
  }

  @Test
  void theAgeGoesOnByTheTimeThatPassedUpToALimit() {
    assertEquals(700, started(500, 600, NOW - 100, 1_000).ageMillis());
    assertEquals(1_600, started(500, 600, NOW - 5_000, 1_000).ageMillis());
    assertEquals(600, started(500, 600, NOW + 5_000, 1_000).ageMillis(), "it never goes back");
    assertEquals(900, started(900, 600, NOW - 100, 1_000).ageMillis(), "the log is further on");
    assertEquals(NOW, started(500, 600, NOW - 100, 1_000).wallMillis());
  }

  /** The time follows a jump of the clock by an eighth of the elapsed time, both ways. */
  @Test
  void aJumpIsFollowedSlowly() {
    for (long way : new long[] {1, -1}) {
      ManualClock machine = new ManualClock(NOW);
      EngineClock engine = new EngineClock(machine, 0, new HighWater.Mark(1, 1, 0, NOW), 0);
      machine.jump(Duration.ofSeconds(2 * way));
      engine.tick();
      assertEquals(NOW, engine.wallMillis());
      machine.advance(Duration.ofSeconds(8));
      engine.tick();
      assertEquals(NOW + 8_000 + way * 1_000, engine.wallMillis());
      machine.advance(Duration.ofSeconds(80));
      engine.tick();
      assertEquals(machine.epochMillis(), engine.wallMillis(), "no further than the clock itself");
      assertEquals(88_000, engine.ageMillis(), "the age takes no notice");
    }
  }
}
