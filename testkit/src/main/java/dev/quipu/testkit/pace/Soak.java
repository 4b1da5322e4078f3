package dev.quipu.testkit.pace;

import dev.quipu.time.Clock;
import java.time.Duration;

/**
 * Number of repetitions of tests: a few in {@code ./dev check}; with {@code -Dsoak.seconds=N},
 * which {@code ./dev soak} sets, for about {@code N} seconds each.
 */
public final class Soak {
  private static final int SECONDS_EACH = 10;
  private static final Duration TIME = Duration.ofSeconds(Integer.getInteger("soak.seconds", 0));

  private Soak() {}

  /** Returns the size of a test: one for {@code ./dev check}, another for a soak. */
  public static int size(int inCheck, int inSoak) {
    return TIME.isZero() ? inCheck : inSoak;
  }

  /**
   * Returns the number of seeds for a test that needs to know it in advance: {@code inCheck}, and
   * in a soak that number again for every ten seconds.
   */
  public static int seeds(int inCheck) {
    return Math.toIntExact(inCheck * (1 + TIME.toSeconds() / SECONDS_EACH));
  }

  /** Returns rounds that begin now: at least {@code least}, and more while the soak lasts. */
  public static Rounds rounds(int least) {
    return new Rounds(least, TIME, Clock.system());
  }

  /** The rounds of a test. */
  public static final class Rounds {
    private final int least;
    private final long timeNanos;
    private final Clock clock;
    private final long startNanos;
    private int begun;

    Rounds(int least, Duration time, Clock clock) {
      this.least = least;
      this.timeNanos = time.toNanos();
      this.clock = clock;
      this.startNanos = clock.nanoTime();
    }

    /** Begins another round; returns false when all are over. */
    public boolean next() {
      if (begun >= least && clock.nanoTime() - startNanos >= timeNanos) {
        return false;
      }
      begun++;
      return true;
    }

    /** Returns the number of begun rounds. */
    public int begun() {
      return begun;
    }
  }
}
