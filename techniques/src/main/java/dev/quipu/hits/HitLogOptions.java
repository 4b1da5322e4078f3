package dev.quipu.hits;

import dev.quipu.store.StoreDriver.Consistency;
import java.time.Duration;

/**
 * How {@link HitLog} counts. All processes that count on a store must agree on them.
 *
 * @param reads what readers ask of the store: strong reads are exact, eventual ones are cheaper and
 *     tell the count as it was a consistency window ago
 * @param settle the age at which a hit is summarised: more than twice of what clocks differ by, a
 *     process stands still, a write is late, and the store's consistency window, together; {@link
 *     #SETTLE_MIN} to {@link #SETTLE_MAX}
 * @param window how long a request id is remembered; hits are swept {@code settle} later, or more;
 *     at least {@code settle}, at most {@link #WINDOW_MAX}
 * @param hitsMax a read that finds as many hits behind the summary makes a new one; 1 or more
 */
public record HitLogOptions(Consistency reads, Duration settle, Duration window, long hitsMax) {
  /** The shortest age at which a hit is summarised. */
  public static final Duration SETTLE_MIN = Duration.ofMillis(100);

  /** The longest age at which a hit is summarised. */
  public static final Duration SETTLE_MAX = Duration.ofDays(1);

  /** The longest time for which request ids are remembered. */
  public static final Duration WINDOW_MAX = Duration.ofDays(365);

  /** Strong reads, summaries after a minute, ids for a day, a page of 1,000 hits. */
  public static final HitLogOptions DEFAULT =
      new HitLogOptions(Consistency.STRONG, Duration.ofMinutes(1), Duration.ofDays(1), 1_000);

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming what is outside them
   */
  public HitLogOptions {
    check("settle", settle, SETTLE_MIN, SETTLE_MAX);
    check("window", window, settle, WINDOW_MAX);
    if (hitsMax < 1) {
      throw new IllegalArgumentException("hitsMax is %d, the least is 1".formatted(hitsMax));
    }
  }

  static void check(String name, Duration value, Duration min, Duration max) {
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(
          "%s is %s, the limits are %s and %s".formatted(name, value, min, max));
    }
  }

  /** The same with reads that may be stale. */
  public HitLogOptions reading(Consistency other) {
    return new HitLogOptions(other, settle, window, hitsMax);
  }

  /** The same with another age at which hits are summarised. */
  public HitLogOptions settling(Duration other) {
    return new HitLogOptions(reads, other, window, hitsMax);
  }

  /** The same with request ids that are remembered for so long. */
  public HitLogOptions keeping(Duration other) {
    return new HitLogOptions(reads, settle, other, hitsMax);
  }

  /** The same with another number of hits that calls for a summary. */
  public HitLogOptions summarisingAt(long hits) {
    return new HitLogOptions(reads, settle, window, hits);
  }
}
