package dev.quipu.engine;

import dev.quipu.Limits;
import java.time.Duration;

/**
 * When acknowledged writes reach the disk. A killed process loses nothing with any of these:
 * acknowledged writes are in the operating system. They differ after a power failure.
 */
public sealed interface Durability {
  /** Sync before the acknowledgement: a power failure loses nothing. */
  Durability FSYNC = new Fsync();

  /** Never sync explicitly: a power failure may lose minutes. */
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
   * Sync periodically: a power failure loses what was acknowledged since the last sync.
   *
   * @param every interval between syncs, 1 ms to 1 h
   */
  record Interval(Duration every) implements Durability {
    private static final Duration MIN = Duration.ofMillis(1);
    private static final Duration MAX = Duration.ofHours(1);

    /** Checks the limits. */
    public Interval {
      if (every.compareTo(MIN) < 0 || every.compareTo(MAX) > 0) {
        throw new IllegalArgumentException(
            "the interval is %s; it must be from %s to %s"
                .formatted(Limits.text(every), Limits.text(MIN), Limits.text(MAX)));
      }
    }

    @Override
    public String toString() {
      return "interval=" + Limits.text(every);
    }
  }
}
