package dev.quipu.hits;

import dev.quipu.Limits;
import dev.quipu.store.StoreDriver.Consistency;
import java.time.Duration;

/**
 * The options of {@link HitLog}. All processes that use the technique on one store must have the
 * same options.
 *
 * @param reads consistency of reads: strong reads are exact, eventual ones are cheaper and return
 *     the count as it was a consistency window ago
 * @param settle the age at which a hit is summarized: more than twice the sum of the clock
 *     difference, the longest pause of a process, the delay of a write, and the store's consistency
 *     window; {@link #SETTLE_MIN} to {@link #SETTLE_MAX}
 * @param window how long a request id is remembered; hits are swept {@code settle} later, or more;
 *     at least {@code settle}, at most {@link #WINDOW_MAX}
 * @param hitsMax number of hits after the summary at which a read makes a new one; 1 or more
 */
public record HitLogOptions(Consistency reads, Duration settle, Duration window, long hitsMax) {
  /** The shortest age at which a hit is summarized. */
  public static final Duration SETTLE_MIN = Duration.ofMillis(100);

  /** The longest age at which a hit is summarized. */
  public static final Duration SETTLE_MAX = Duration.ofDays(1);

  /** The longest retention of request ids. */
  public static final Duration WINDOW_MAX = Duration.ofDays(365);

  /** Strong reads, summaries after a minute, ids for a day, a page of 1,000 hits. */
  public static final HitLogOptions DEFAULT =
      new HitLogOptions(Consistency.STRONG, Duration.ofMinutes(1), Duration.ofDays(1), 1_000);

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the value that is outside its limits
   */
  public HitLogOptions {
    check("settle", settle, SETTLE_MIN, SETTLE_MAX);
    check("window", window, settle, WINDOW_MAX);
    if (hitsMax < 1) {
      throw new IllegalArgumentException("hitsMax is %d; the minimum is 1".formatted(hitsMax));
    }
  }

  static void check(String name, Duration value, Duration min, Duration max) {
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(
          "%s is %s; it must be from %s to %s"
              .formatted(name, Limits.text(value), Limits.text(min), Limits.text(max)));
    }
  }

  /** Returns these options with another consistency of reads. */
  public HitLogOptions reading(Consistency other) {
    return new HitLogOptions(other, settle, window, hitsMax);
  }

  /** Returns these options with another settle time. */
  public HitLogOptions settling(Duration other) {
    return new HitLogOptions(reads, other, window, hitsMax);
  }

  /** Returns these options with another retention of request ids. */
  public HitLogOptions keeping(Duration other) {
    return new HitLogOptions(reads, settle, other, hitsMax);
  }

  /** Returns these options with another number of hits at which a summary is made. */
  public HitLogOptions summarizingAt(long hits) {
    return new HitLogOptions(reads, settle, window, hits);
  }
}
