package dev.quipu.presence;

import dev.quipu.Limits;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.time.Instant;

/**
 * A time window, divided into buckets of equal length that are aligned on all machines.
 *
 * @param length of the window, at most {@link #LENGTH_MAX}
 * @param resolution length of a bucket, at least {@link #RESOLUTION_MIN}; it divides the window
 *     into 1 to {@link #BUCKETS_MAX} buckets
 */
public record Window(Duration length, Duration resolution) {
  /** Longest window. */
  public static final Duration LENGTH_MAX = Duration.ofDays(30);

  /** Shortest bucket: the expiry of stores has a resolution of a second. */
  public static final Duration RESOLUTION_MIN = Duration.ofSeconds(1);

  /** Maximum number of buckets. */
  public static final int BUCKETS_MAX = 60;

  /** Five minutes, a bucket per minute. Depends on the limits, so it is declared after them. */
  public static final Window DEFAULT = new Window(Duration.ofMinutes(5), Duration.ofMinutes(1));

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the value that is outside its limits
   */
  public Window {
    if (resolution.compareTo(RESOLUTION_MIN) < 0) {
      throw new IllegalArgumentException(
          "resolution is %s; the minimum is %s"
              .formatted(Limits.text(resolution), Limits.text(RESOLUTION_MIN)));
    }
    if (length.compareTo(LENGTH_MAX) > 0) {
      throw new IllegalArgumentException(
          "window is %s; the maximum is %s"
              .formatted(Limits.text(length), Limits.text(LENGTH_MAX)));
    }
    long whole = length.toMillis() / resolution.toMillis();
    if (whole < 1
        || whole > BUCKETS_MAX
        || whole * resolution.toNanos() != length.toNanos()) { // a Duration computes in decimals
      throw new IllegalArgumentException(
          "window is %s and resolution %s: it must divide the window into 1 to %d buckets"
              .formatted(Limits.text(length), Limits.text(resolution), BUCKETS_MAX));
    }
  }

  /**
   * Returns a window with a single bucket: its count is shown from when it is full until the next
   * one is.
   */
  public static Window ofTwoKeys(Duration length) {
    return new Window(length, length);
  }

  /** Returns the number of buckets. */
  public int buckets() {
    return Math.toIntExact(length.toMillis() / resolution.toMillis());
  }

  /** Returns the number of the current bucket. */
  public long current(Clock clock) {
    return bucket(Instant.ofEpochMilli(clock.epochMillis()));
  }

  /** Returns the number of the bucket of a time. */
  public long bucket(Instant time) {
    return Math.floorDiv(time.toEpochMilli(), resolution.toMillis());
  }

  /** Returns the start of a bucket. */
  public Instant start(long bucket) {
    return Instant.ofEpochMilli(bucket * resolution.toMillis());
  }

  /** Returns the duration of a number of buckets. */
  public Duration time(int buckets) {
    return resolution.multipliedBy(buckets);
  }

  /** Returns the part of a key that separates windows of different shape. */
  public String shape() {
    return length.toMillis() + "x" + buckets();
  }
}
