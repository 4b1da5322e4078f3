package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreClock;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How the time of a store is estimated between two readings. */
final class StoreClockTest {
  private static final Duration DAY = Duration.ofDays(1);
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualClock store = new ManualClock(1_000_000);
  private final ManualClock local = new ManualClock(1_000_000 + DAY.toMillis());
  private int readings;
  private boolean isAway;
  private Duration roundTrip = Duration.ZERO;

  private Optional<Instant> read() {
    readings++;
    if (isAway) {
      throw new NotAppliedException(Reason.UNAVAILABLE, "away");
    }
    pass(roundTrip.dividedBy(2));
    Instant now = Instant.ofEpochMilli(store.epochMillis());
    pass(roundTrip.dividedBy(2));
    return Optional.of(now);
  }

  private void pass(Duration time) {
    store.advance(time);
    local.advance(time);
  }

  private Clock clock() {
    return StoreClock.of(this::read, local);
  }

  @Test
  void itIsTheStoresWhateverTheMachineShows() {
    Clock clock = clock();
    assertEquals(store.epochMillis(), clock.epochMillis());
    pass(SECOND);
    assertEquals(store.epochMillis(), clock.epochMillis());
    assertEquals(1, readings);
    local.jump(DAY);
    assertEquals(store.epochMillis(), clock.epochMillis());
    assertEquals(2, readings);
  }

  @Test
  void aJumpOfTheStoreIsSeenWithinAMinute() {
    Clock clock = clock();
    store.jump(Duration.ofMinutes(10));
    pass(StoreClock.INTERVAL);
    assertEquals(store.epochMillis(), clock.epochMillis());
    assertEquals(2, readings);
  }

  @Test
  void whileTheStoreIsAwayTimeGoesOn() {
    Clock clock = clock();
    isAway = true;
    for (int i = 0; i < 10; i++) {
      pass(StoreClock.INTERVAL);
      assertEquals(store.epochMillis(), clock.epochMillis());
      assertEquals(store.epochMillis(), clock.epochMillis());
    }
    assertEquals(11, readings); // once a minute, not with each call
  }

  @Test
  void aSlowReadingIsHalfItsRoundTripWrongAtMostAndReplacesNone() {
    Clock clock = clock();
    roundTrip = Duration.ofMillis(800);
    pass(StoreClock.INTERVAL);
    assertEquals(store.epochMillis() + 800, clock.epochMillis());
    roundTrip = Duration.ofSeconds(5);
    store.jump(Duration.ofHours(1));
    pass(StoreClock.INTERVAL);
    clock.epochMillis();
    assertEquals(store.epochMillis() - Duration.ofHours(1).toMillis(), clock.epochMillis());
  }

  @Test
  void aStoreWithoutAClockLeavesTheMachines() {
    assertSame(local, StoreClock.of(new MemoryDriver(), local));
  }

  @Test
  void whatNeedsTheTimeOfAStoreThatIsAwayFailsUntilItIsRead() {
    isAway = true;
    Clock clock = clock();
    assertThrows(QuipuException.class, clock::epochMillis);
    isAway = false;
    assertEquals(store.epochMillis(), clock.epochMillis());
  }
}
