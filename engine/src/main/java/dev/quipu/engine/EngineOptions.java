package dev.quipu.engine;

import dev.quipu.engine.environment.Settings;
import dev.quipu.time.Clock;
import java.time.Duration;

/**
 * How an engine works.
 *
 * @param window how long a request id is remembered, at least; 1 s to 366 days. Up to a quarter
 *     more, for ids are forgotten in generations, and a wrong clock must not cost any.
 * @param segmentBytes size of one file of the log; 64 KiB to 1 GiB. Twice that is always in use,
 *     and half of it is the largest change.
 * @param checkpointBytes log after which a snapshot is taken
 * @param idsInMemoryMax request ids kept in memory, at 80 to 135 bytes each, before they are sealed
 *     to disk; 16 to 32 Mi. Four times as many while the disk is slow.
 * @param memoryBytesMax heap that counters, texts and items may take; what needs more is rejected,
 *     and all else goes on; 64 KiB or more
 * @param durability when what was counted has reached the disk
 * @param callDeadline longest wait for the answer to one call; 1 ms to 1 day
 * @param clock what tells the time
 */
public record EngineOptions(
    Duration window,
    int segmentBytes,
    long checkpointBytes,
    int idsInMemoryMax,
    long memoryBytesMax,
    Durability durability,
    Duration callDeadline,
    Clock clock) {
  private static final Duration WINDOW_MIN = Duration.ofSeconds(1);

  /**
   * The longest window. With it, nothing is forgotten that an engine with another window remembers:
   * ids age by the time that passes while an engine runs, and not by what the wall clock says at
   * its start.
   */
  public static final Duration WINDOW_MAX = Duration.ofDays(366);

  private static final int SEGMENT_BYTES_MIN = 1 << 16;
  private static final int SEGMENT_BYTES_MAX = 1 << 30;
  private static final int IDS_IN_MEMORY_MIN = 1 << 4;
  private static final int IDS_IN_MEMORY_LIMIT = 1 << 25;
  private static final int IDS_IN_MEMORY_DEFAULT = 2 << 20;
  private static final long MEMORY_BYTES_MIN = 64 << 10;
  private static final Duration DEADLINE_MIN = Duration.ofMillis(1);
  private static final Duration DEADLINE_MAX = Duration.ofDays(1);

  /** Heap of an id in memory, in bytes, and tables of ids at most: one active, three that wait. */
  private static final int ID_BYTES = 135 * 4;

  /** Parts of the heap: half for what clients store, a quarter for request ids in memory. */
  private static final int STATE_SHARE = 2;

  private static final int IDS_SHARE = 4;

  /** Part of the window by which a start may move the age of request ids. */
  private static final int LEAP_SHARE = 8;

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
    if (memoryBytesMax < MEMORY_BYTES_MIN) {
      throw outside("memoryBytesMax", memoryBytesMax, MEMORY_BYTES_MIN, Long.MAX_VALUE);
    }
    if (callDeadline.compareTo(DEADLINE_MIN) < 0 || callDeadline.compareTo(DEADLINE_MAX) > 0) {
      throw outside("callDeadline", callDeadline, DEADLINE_MIN, DEADLINE_MAX);
    }
  }

  /**
   * A window of 24 h, segments of 64 MiB or what goes into two thirds of the heap, a snapshot every
   * 256 MiB, 2 Mi ids or as many as go into a quarter of the heap, half of the heap for counters,
   * texts and items, fsync, 10 s.
   */
  public static EngineOptions defaults() {
    long heap = Runtime.getRuntime().maxMemory();
    return new EngineOptions(
        Duration.ofHours(24),
        Integer.highestOneBit(Math.clamp(heap / 3 * 2, SEGMENT_BYTES_MIN, 64 << 20)),
        256L << 20,
        Math.clamp(heap / IDS_SHARE / ID_BYTES, IDS_IN_MEMORY_MIN, IDS_IN_MEMORY_DEFAULT),
        Math.max(MEMORY_BYTES_MIN, heap / STATE_SHARE),
        Durability.FSYNC,
        Duration.ofSeconds(10),
        Clock.system());
  }

  /** Returns what the parts of the engine read of the options. */
  Settings settings() {
    return new Settings(
        window,
        window.equals(WINDOW_MAX) ? 0 : window.toMillis() / LEAP_SHARE,
        checkpointBytes,
        idsInMemoryMax,
        memoryBytesMax,
        durability instanceof Durability.Fsync,
        callDeadline,
        clock);
  }

  /** The same with another window. */
  public EngineOptions withWindow(Duration other) {
    return new EngineOptions(
        other,
        segmentBytes,
        checkpointBytes,
        idsInMemoryMax,
        memoryBytesMax,
        durability,
        callDeadline,
        clock);
  }

  /** The same with other sizes of the log. */
  public EngineOptions withLog(int segment, long checkpoint) {
    return new EngineOptions(
        window,
        segment,
        checkpoint,
        idsInMemoryMax,
        memoryBytesMax,
        durability,
        callDeadline,
        clock);
  }

  /** The same with another number of ids in memory. */
  public EngineOptions withIdsInMemoryMax(int other) {
    return new EngineOptions(
        window,
        segmentBytes,
        checkpointBytes,
        other,
        memoryBytesMax,
        durability,
        callDeadline,
        clock);
  }

  /** The same with another limit of memory. */
  public EngineOptions withMemoryBytesMax(long other) {
    return new EngineOptions(
        window,
        segmentBytes,
        checkpointBytes,
        idsInMemoryMax,
        other,
        durability,
        callDeadline,
        clock);
  }

  /** The same with another durability. */
  public EngineOptions withDurability(Durability other) {
    return new EngineOptions(
        window,
        segmentBytes,
        checkpointBytes,
        idsInMemoryMax,
        memoryBytesMax,
        other,
        callDeadline,
        clock);
  }

  /** The same with another longest wait for an answer. */
  public EngineOptions withCallDeadline(Duration other) {
    return new EngineOptions(
        window,
        segmentBytes,
        checkpointBytes,
        idsInMemoryMax,
        memoryBytesMax,
        durability,
        other,
        clock);
  }

  /** The same with another clock. */
  public EngineOptions withClock(Clock other) {
    return new EngineOptions(
        window,
        segmentBytes,
        checkpointBytes,
        idsInMemoryMax,
        memoryBytesMax,
        durability,
        callDeadline,
        other);
  }

  private static IllegalArgumentException outside(
      String option, Object value, Object min, Object max) {
    return new IllegalArgumentException(
        "%s is %s, the limits are %s and %s".formatted(option, value, min, max));
  }
}
