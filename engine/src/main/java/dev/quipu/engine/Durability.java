package dev.quipu.engine;

import java.time.Duration;

/**
 * When what was counted has reached the disk. A process that is killed loses nothing whichever it
 * is: what was answered is with the operating system. It is the power cut that tells them apart.
 */
public sealed interface Durability {
  /** Before the answer: no cut loses what was answered. */
  Durability FSYNC = new Fsync();

  /** When the operating system sees fit: a cut may lose minutes. */
  Durability NONE = new None();

  /** See {@link #FSYNC}. */
  record Fsync() implements Durability {
    @Override
    public String toString() {
      return "fsync";
    }
  }

  /** See {@link #NONE}. */
  record None() implements Durability {
    @Override
    public String toString() {
      return "none";
    }
  }

  /**
   * Every so often: a cut loses what was answered since.
   *
   * @param every 1 ms to 1 h
   */
  record Interval(Duration every) implements Durability {
    private static final Duration MIN = Duration.ofMillis(1);
    private static final Duration MAX = Duration.ofHours(1);

    /** Checks the limits. */
    public Interval {
      if (every.compareTo(MIN) < 0 || every.compareTo(MAX) > 0) {
        throw new IllegalArgumentException(
            "the interval is %s, the limits are %s and %s".formatted(every, MIN, MAX));
      }
    }

    @Override
    public String toString() {
      return "interval=" + every;
    }
  }
}
