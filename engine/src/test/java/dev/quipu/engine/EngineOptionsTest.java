package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Limits;
import dev.quipu.ScaleRules;
import dev.quipu.engine.history.HistoryRules;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** The limits of the options, and that changing one leaves the others unchanged. */
final class EngineOptionsTest {
  private static final Clock CLOCK = new ManualClock(1);
  private static final EngineOptions ALL =
      new EngineOptions(
          Duration.ofMinutes(7),
          1 << 17,
          1 << 20,
          123,
          1 << 19,
          1 << 21,
          Durability.NONE,
          Duration.ofSeconds(3),
          CLOCK,
          ScaleRules.parse(List.of("a=1")),
          Optional.of(HistoryRules.parse("a=day:1y")));

  private static void rejected(String message, Supplier<EngineOptions> made) {
    assertEquals(
        message, assertThrows(IllegalArgumentException.class, made::get).getMessage(), message);
  }

  @Test
  void aWindowLastsFromOneSecondToAYear() {
    assertDoesNotThrow(() -> ALL.withWindow(Duration.ofSeconds(1)));
    assertDoesNotThrow(() -> ALL.withWindow(Duration.ofDays(366)));
    rejected(
        "window is 999ms; it must be from 1s to 366d",
        () -> ALL.withWindow(Duration.ofMillis(999)));
    rejected(
        "window is 31622400001ms; it must be from 1s to 366d",
        () -> ALL.withWindow(Duration.ofDays(366).plusMillis(1)));
  }

  @Test
  void aSegmentHas64KibTo1Gib() {
    assertDoesNotThrow(() -> ALL.withLog(65_536, 65_536));
    assertDoesNotThrow(() -> ALL.withLog(1_073_741_824, 1_073_741_824));
    rejected(
        "segmentBytes is 65535; it must be from 65536 to 1073741824",
        () -> ALL.withLog(65_535, 1 << 20));
    rejected(
        "segmentBytes is 1073741825; it must be from 65536 to 1073741824",
        () -> ALL.withLog(1_073_741_825, 1L << 40));
  }

  @Test
  void aSnapshotIsNotTakenBeforeASegmentIsFull() {
    assertDoesNotThrow(() -> ALL.withLog(1 << 17, 1 << 17));
    rejected(
        "checkpointBytes is 131071; it must be from 131072 to 9223372036854775807",
        () -> ALL.withLog(1 << 17, (1 << 17) - 1));
  }

  @Test
  void sixteenTo32MebiIdsAreInMemory() {
    assertDoesNotThrow(() -> ALL.withIdsInMemoryMax(16));
    assertDoesNotThrow(() -> ALL.withIdsInMemoryMax(33_554_432));
    rejected(
        "idsInMemoryMax is 15; it must be from 16 to 33554432", () -> ALL.withIdsInMemoryMax(15));
    rejected(
        "idsInMemoryMax is 33554433; it must be from 16 to 33554432",
        () -> ALL.withIdsInMemoryMax(33_554_433));
  }

  @Test
  void theIndexOfIdsMayHaveNoMemory() {
    assertDoesNotThrow(() -> ALL.withIdIndexBytesMax(0));
    rejected(
        "idIndexBytesMax is -1; it must be from 0 to 9223372036854775807",
        () -> ALL.withIdIndexBytesMax(-1));
  }

  @Test
  void memoryIs64KibAtLeast() {
    assertDoesNotThrow(() -> ALL.withMemoryBytesMax(65_536));
    rejected(
        "memoryBytesMax is 65535; it must be from 65536 to 9223372036854775807",
        () -> ALL.withMemoryBytesMax(65_535));
  }

  @Test
  void aDeadlineIsBetweenAMillisecondAndADay() {
    Duration day = Duration.ofDays(1);
    assertDoesNotThrow(() -> ALL.withCallDeadline(Duration.ofMillis(1)));
    assertDoesNotThrow(() -> ALL.withCallDeadline(day));
    for (Duration other :
        List.of(Duration.ZERO, Duration.ofNanos(999_999), day.plusNanos(1), day.negated())) {
      rejected(
          "callDeadline is %s; it must be from 1ms to 24h".formatted(Limits.text(other)),
          () -> ALL.withCallDeadline(other));
    }
  }

  @Test
  void aChangeOfOneOptionLeavesTheOthers() {
    Duration hour = Duration.ofHours(1);
    Duration minute = Duration.ofMinutes(1);
    Clock other = new ManualClock(2);
    List<EngineOptions> changed =
        List.of(
            ALL.withWindow(hour),
            ALL.withLog(1 << 18, 1 << 22),
            ALL.withIdsInMemoryMax(77),
            ALL.withMemoryBytesMax(1 << 23),
            ALL.withDurability(Durability.FSYNC),
            ALL.withCallDeadline(minute),
            ALL.withClock(other),
            ALL.withScales(ScaleRules.none()),
            ALL.withIdIndexBytesMax(1 << 9));
    for (int i = 0; i < changed.size(); i++) {
      EngineOptions each = changed.get(i);
      assertEquals(i == 0 ? hour : Duration.ofMinutes(7), each.window());
      assertEquals(i == 1 ? 1 << 18 : 1 << 17, each.segmentBytes());
      assertEquals(i == 1 ? 1 << 22 : 1 << 20, each.checkpointBytes());
      assertEquals(i == 2 ? 77 : 123, each.idsInMemoryMax());
      assertEquals(i == 3 ? 1 << 23 : 1 << 21, each.memoryBytesMax());
      assertEquals(i == 4 ? Durability.FSYNC : Durability.NONE, each.durability());
      assertEquals(i == 5 ? minute : Duration.ofSeconds(3), each.callDeadline());
      assertSame(i == 6 ? other : CLOCK, each.clock());
      assertEquals(i == 7 ? "" : "a=1", each.scales().toString());
      assertEquals(i == 8 ? 1 << 9 : 1 << 19, each.idIndexBytesMax());
    }
  }

  /** For heaps of 96 MiB to some TiB; the effective limit depends on the machine. */
  @Test
  void theDefaultsGoByTheHeap() {
    EngineOptions defaults = EngineOptions.defaults();
    long heap = Runtime.getRuntime().maxMemory();
    assertEquals(Duration.ofHours(24), defaults.window());
    assertEquals(67_108_864, defaults.segmentBytes());
    assertEquals(268_435_456, defaults.checkpointBytes());
    assertEquals(heap / 2, defaults.memoryBytesMax());
    long idsBytes = 192L * defaults.idsInMemoryMax(); // four tables of 48 bytes per id
    assertTrue(idsBytes <= heap / 8, "no more than an eighth of the heap");
    assertTrue(
        defaults.idsInMemoryMax() == 2_097_152 || idsBytes > heap / 8 - 1_000, "and no less");
    assertEquals(heap / 8, defaults.idIndexBytesMax());
    assertEquals(Durability.FSYNC, defaults.durability());
    assertEquals(Duration.ofSeconds(10), defaults.callDeadline());
  }
}
