package dev.quipu.testkit.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.QuipuException;
import dev.quipu.layer.Backoff;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** How often a call is retried, after which pauses, and until when. */
final class RetryPolicyTest {
  private static final Duration HOUR = Duration.ofHours(1);

  private final ManualClock clock = new ManualClock(0);
  private final RandomGenerator random = Randomness.seeded(1);

  @Test
  void pausesDoubleUpToTheLongestAndAreRandomFromHalfToAllOfIt() {
    RetryPolicy policy = new RetryPolicy(40, Duration.ofMillis(4), Duration.ofMillis(100), HOUR);
    double shares = 0;
    for (int call = 0; call < 100; call++) {
      RetryPolicy.Attempts attempts = policy.begin(clock, random);
      for (int i = 0; i < 39; i++) {
        long before = clock.nanoTime();
        assertTrue(attempts.again());
        double longest = i < 5 ? 4e6 * (1 << i) : 100e6;
        double share = (clock.nanoTime() - before) / longest;
        assertTrue(share >= 0.5 && share <= 1, "pause " + i + ": " + share);
        shares += share;
      }
      assertFalse(attempts.again());
    }
    assertEquals(0.75, shares / 3_900, 0.01);
  }

  @Test
  void theFirstAttemptIsCounted() {
    RetryPolicy policy = new RetryPolicy(1, Duration.ofMillis(4), Duration.ofMillis(4), HOUR);
    assertFalse(policy.begin(clock, random).again());
    assertEquals(0, clock.nanoTime());
  }

  @Test
  void noAttemptBeginsAfterTheDeadline() {
    RetryPolicy policy = new RetryPolicy(9, Duration.ofNanos(2), Duration.ofNanos(2), HOUR);
    clock.advance(HOUR); // which the deadline is not counted from
    RetryPolicy.Attempts attempts = policy.begin(clock, random);
    clock.advance(HOUR.minusNanos(2));
    assertTrue(attempts.again());
    clock.advance(Duration.ofNanos(3));
    assertFalse(attempts.again());
    assertEquals("2 attempts in 3600000 ms", attempts.toString());
  }

  @Test
  void anInterruptEndsTheAttemptsAndIsKept() {
    RetryPolicy.Attempts attempts = RetryPolicy.DEFAULT.begin(Clock.system(), random);
    Thread.currentThread().interrupt();
    assertFalse(attempts.again());
    assertTrue(Thread.interrupted());
  }

  @Test
  void roundsOfATechniqueWaitFiftyMillisecondsAtMost() {
    long longest = 0;
    for (int i = 0; i < 1_000; i++) {
      long before = clock.nanoTime();
      Backoff.pause(clock, random, 60);
      longest = Math.max(longest, clock.nanoTime() - before);
    }
    assertTrue(longest > 49e6 && longest <= 50e6, "longest: " + longest);
    long start = clock.nanoTime();
    for (int i = 0; i < 1_000; i++) {
      Backoff.pause(clock, random, 0);
    }
    assertTrue(clock.nanoTime() - start < 1_000 * 2e6, "of round 0: " + clock.nanoTime());
  }

  @Test
  void anInterruptBetweenRoundsIsKept() {
    Thread.currentThread().interrupt();
    assertThrows(QuipuException.class, () -> Backoff.pause(Clock.system(), random, 60));
    assertTrue(Thread.interrupted());
  }
}
