package dev.quipu.layer;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.random.RandomGenerator;

/** Random exponential pauses between attempts of writers under contention. */
public final class Backoff {
  private static final Duration PAUSE_MIN = Duration.ofNanos(100_000);
  private static final Duration PAUSE_MAX = Duration.ofMillis(50);

  private Backoff() {}

  /**
   * Pauses after a round, for at most 50 ms.
   *
   * @param round from 0
   * @throws QuipuException if interrupted
   */
  public static void pause(Clock clock, RandomGenerator random, int round) {
    long longest = Math.min(PAUSE_MAX.toNanos(), PAUSE_MIN.toNanos() << Math.min(round, 20));
    try {
      clock.sleep(Duration.ofNanos(random.nextLong(longest + 1)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new NotAppliedException(Reason.UNAVAILABLE, "interrupted between two rounds");
    }
  }
}
