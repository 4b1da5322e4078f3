package dev.quipu.layer;

import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;

/**
 * When a call is retried, and when it is given up: exponential backoff with jitter from half to the
 * full pause, so that callers that failed together do not retry together.
 *
 * @param attemptsMax maximum number of attempts
 * @param pauseMin longest pause before the second attempt
 * @param pauseMax longest pause
 * @param deadline time after which no further attempt begins
 */
public record RetryPolicy(
    int attemptsMax, Duration pauseMin, Duration pauseMax, Duration deadline) {
  /** 8 attempts, 5 to 200 ms apart, within 10 s. */
  public static final RetryPolicy DEFAULT =
      new RetryPolicy(8, Duration.ofMillis(5), Duration.ofMillis(200), Duration.ofSeconds(10));

  private static final int DOUBLINGS_MAX = 20;

  /** The attempts of one call, the first of which has begun. */
  public static final class Attempts {
    private final RetryPolicy policy;
    private final Clock clock;
    private final RandomGenerator random;
    private final LongAdder retries;
    private final long startNanos;
    private int begun = 1;

    private Attempts(RetryPolicy policy, Clock clock, RandomGenerator random, LongAdder retries) {
      this.policy = policy;
      this.clock = clock;
      this.random = random;
      this.retries = retries;
      this.startNanos = clock.nanoTime();
    }

    /**
     * Pauses before another attempt; returns false if there is none left. An interrupt ends the
     * attempts, and the interrupt status is preserved.
     */
    public boolean again() {
      if (begun >= policy.attemptsMax || elapsedNanos() > policy.deadline.toNanos()) {
        return false;
      }
      long longest =
          Math.min(
              policy.pauseMax.toNanos(),
              policy.pauseMin.toNanos() << Math.min(begun - 1, DOUBLINGS_MAX));
      try {
        clock.sleep(Duration.ofNanos(longest / 2 + random.nextLong(longest / 2 + 1)));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
      begun++;
      retries.increment();
      return true;
    }

    private long elapsedNanos() {
      return clock.nanoTime() - startNanos;
    }

    @Override
    public String toString() {
      return "%d attempts in %d ms".formatted(begun, elapsedNanos() / 1_000_000);
    }
  }

  /** Begins the attempts of a call. */
  public Attempts begin(Clock clock, RandomGenerator random) {
    return begin(clock, random, new LongAdder());
  }

  /** Begins the attempts of a call, all but the first of which are counted. */
  Attempts begin(Clock clock, RandomGenerator random, LongAdder retries) {
    return new Attempts(this, clock, random, retries);
  }
}
