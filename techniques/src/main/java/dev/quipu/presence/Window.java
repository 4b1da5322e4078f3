package dev.quipu.presence;

import dev.quipu.time.Clock;
import java.time.Duration;
import java.time.Instant;

/**
 * A window of time, cut into buckets of one length that begin at the same moments everywhere.
 *
 * @param length of the window, {@link #LENGTH_MAX} at most
 * @param resolution length of a bucket, {@link #RESOLUTION_MIN} or more; it divides the window into
 *     1 to {@link #BUCKETS_MAX} buckets
 */
public record Window(Duration length, Duration resolution) {
  /** Longest window. */
  public static final Duration LENGTH_MAX = Duration.ofDays(30);

  /** Shortest bucket: stores expire by the second. */
  public static final Duration RESOLUTION_MIN = Duration.ofSeconds(1);

  /** Most buckets. */
  public static final int BUCKETS_MAX = 60;

  /** Five minutes, a bucket a minute. Made from the limits, so it stands behind them. */
  public static final Window DEFAULT = new Window(Duration.ofMinutes(5), Duration.ofMinutes(1));

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the one that is broken
   */
  public Window {
    if (resolution.compareTo(RESOLUTION_MIN) < 0) {
      throw new IllegalArgumentException(
          "resolution is %s, the least is %s".formatted(resolution, RESOLUTION_MIN));
    }
    if (length.compareTo(LENGTH_MAX) > 0) {
      throw new IllegalArgumentException(
          "window is %s, the most is %s".formatted(length, LENGTH_MAX));
    }
    long whole = length.toMillis() / resolution.toMillis();
    if (!resolution.multipliedBy(whole).equals(length) || whole < 1 || whole > BUCKETS_MAX) {
      throw new IllegalArgumentException(
          "window is %s and resolution %s: it must divide the window into 1 to %d buckets"
              .formatted(length, resolution, BUCKETS_MAX));
    }
  }

  /** One bucket only: what was counted is shown when it is full, and until the next one is. */
  public static Window ofTwoKeys(Duration length) {
    return new Window(length, length);
  }

  /** How many buckets it has. */
  public int buckets() {
    return Math.toIntExact(length.toMillis() / resolution.toMillis());
  }

  /** The number of the bucket that is filled now. */
  public long current(Clock clock) {
    return Math.floorDiv(clock.epochMillis(), resolution.toMillis());
  }

  /** When a bucket begins. */
  public Instant start(long bucket) {
    return Instant.ofEpochMilli(bucket * resolution.toMillis());
  }

  /** So many buckets, as a time. */
  public Duration time(int buckets) {
    return resolution.multipliedBy(buckets);
  }

  /** Part of a key: windows of different shape do not meet. */
  public String shape() {
    return length.toMillis() + "x" + buckets();
  }
}
