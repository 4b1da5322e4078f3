package dev.quipu.testkit.pace;

import dev.quipu.time.Clock;
import java.time.Duration;

/**
 * How often tests repeat: a few times in {@code ./dev check}, and with {@code -Dsoak.seconds=N},
 * which {@code ./dev soak} sets, for about {@code N} seconds each.
 */
public final class Soak {
  private static final int SECONDS_EACH = 10;
  private static final Duration TIME = Duration.ofSeconds(Integer.getInteger("soak.seconds", 0));

  private Soak() {}

  /** Returns the size that a test has in {@code ./dev check}, or the one it has in a soak. */
  public static int size(int inCheck, int inSoak) {
    return TIME.isZero() ? inCheck : inSoak;
  }

  /**
   * Returns how many seeds a test tries that needs to know beforehand: {@code inCheck}, and in a
   * soak as many again for every ten seconds of it.
   */
  public static int seeds(int inCheck) {
    return Math.toIntExact(inCheck * (1 + TIME.toSeconds() / SECONDS_EACH));
  }

  /** Returns rounds that begin now: {@code least}, and more while there is time in the soak. */
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

    /** Begins another round, unless all are over. */
    public boolean next() {
      if (begun >= least && clock.nanoTime() - startNanos >= timeNanos) {
        return false;
      }
      begun++;
      return true;
    }

    /** Returns how many have begun. */
    public int begun() {
      return begun;
    }
  }
}
