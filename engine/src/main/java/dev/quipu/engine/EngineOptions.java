package dev.quipu.engine;

import dev.quipu.time.Clock;
import java.time.Duration;

/**
 * How an engine works.
 *
 * @param window how long a request id is remembered, at least; 1 s to 366 days. Up to an eighth
 *     more, for ids are forgotten in generations.
 * @param segmentBytes size of one file of the log; 1 MiB to 1 GiB. Twice that is always in use.
 * @param checkpointBytes log after which a snapshot is taken
 * @param idsInMemoryMax request ids kept in memory, at 80 to 135 bytes each, before they are sealed
 *     to disk; 1,024 to 32 Mi. Four times as many while the disk is slow.
 * @param durability when what was counted has reached the disk
 * @param callDeadline longest wait for the answer to one call
 * @param clock what tells the time
 */
public record EngineOptions(
    Duration window,
    int segmentBytes,
    long checkpointBytes,
    int idsInMemoryMax,
    Durability durability,
    Duration callDeadline,
    Clock clock) {
  private static final Duration WINDOW_MIN = Duration.ofSeconds(1);
  static final Duration WINDOW_MAX = Duration.ofDays(366);
  private static final int SEGMENT_BYTES_MIN = 1 << 20;
  private static final int SEGMENT_BYTES_MAX = 1 << 30;
  private static final int IDS_IN_MEMORY_MIN = 1 << 10;
  private static final int IDS_IN_MEMORY_LIMIT = 1 << 25;

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the option that breaks one
   */
  public EngineOptions {
    if (window.compareTo(WINDOW_MIN) < 0 || window.compareTo(WINDOW_MAX) > 0) {
      throw outside("window", window, WINDOW_MIN, WINDOW_MAX);
    }
    if (segmentBytes < SEGMENT_BYTES_MIN || segmentBytes > SEGMENT_BYTES_MAX) {
      throw outside("segmentBytes", segmentBytes, SEGMENT_BYTES_MIN, SEGMENT_BYTES_MAX);
    }
    if (checkpointBytes < segmentBytes) {
      throw outside("checkpointBytes", checkpointBytes, segmentBytes, Long.MAX_VALUE);
    }
    if (idsInMemoryMax < IDS_IN_MEMORY_MIN || idsInMemoryMax > IDS_IN_MEMORY_LIMIT) {
      throw outside("idsInMemoryMax", idsInMemoryMax, IDS_IN_MEMORY_MIN, IDS_IN_MEMORY_LIMIT);
    }
    if (callDeadline.isNegative() || callDeadline.isZero()) {
      throw new IllegalArgumentException("callDeadline is not positive");
    }
  }

  /** A window of 24 h, segments of 64 MiB, a snapshot every 128 MiB, 2 Mi ids, fsync, 10 s. */
  public static EngineOptions defaults() {
    return new EngineOptions(
        Duration.ofHours(24),
        64 << 20,
        256L << 20,
        2 << 20,
        Durability.FSYNC,
        Duration.ofSeconds(10),
        Clock.system());
  }

  /** The same with another window. */
  public EngineOptions withWindow(Duration other) {
    return new EngineOptions(
        other, segmentBytes, checkpointBytes, idsInMemoryMax, durability, callDeadline, clock);
  }

  /** The same with other sizes of the log. */
  public EngineOptions withLog(int segment, long checkpoint) {
    return new EngineOptions(
        window, segment, checkpoint, idsInMemoryMax, durability, callDeadline, clock);
  }

  /** The same with another number of ids in memory. */
  public EngineOptions withIdsInMemoryMax(int other) {
    return new EngineOptions(
        window, segmentBytes, checkpointBytes, other, durability, callDeadline, clock);
  }

  /** The same with another durability. */
  public EngineOptions withDurability(Durability other) {
    return new EngineOptions(
        window, segmentBytes, checkpointBytes, idsInMemoryMax, other, callDeadline, clock);
  }

  /** The same with another clock. */
  public EngineOptions withClock(Clock other) {
    return new EngineOptions(
        window, segmentBytes, checkpointBytes, idsInMemoryMax, durability, callDeadline, other);
  }

  private static IllegalArgumentException outside(
      String option, Object value, Object min, Object max) {
    return new IllegalArgumentException(
        "%s is %s, the limits are %s and %s".formatted(option, value, min, max));
  }
}
