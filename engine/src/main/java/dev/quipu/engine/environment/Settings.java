package dev.quipu.engine.environment;

import dev.quipu.Limits;
import dev.quipu.time.Clock;
import java.time.Duration;

/**
 * The options of an engine in the form that its parts read.
 *
 * @param window minimum time that a request id is remembered
 * @param leapMillisMax maximum by which a start may advance the age of request ids according to the
 *     wall clock
 * @param checkpointBytes log bytes after which a snapshot is taken
 * @param idsInMemoryMax request ids kept in memory before they are sealed to disk
 * @param idIndexBytesMax heap of the index of the request ids in files
 * @param memoryBytesMax heap limit of counters, texts and items
 * @param syncsEach whether each group is synced before it is acknowledged
 * @param callDeadline deadline of one call
 * @param clock the clock of the engine
 */
public record Settings(
    Duration window,
    long leapMillisMax,
    long checkpointBytes,
    int idsInMemoryMax,
    long idIndexBytesMax,
    long memoryBytesMax,
    boolean syncsEach,
    Duration callDeadline,
    Clock clock) {
  /** Log bytes per counter, so that all counters take a small part of the log that they replace. */
  private static final int LOG_BYTES_PER_COUNTER = 2_048;

  /** Of the counters of a file, as many may have changed: a start reads them one by one. */
  private static final int CHANGED_SHARE = 32;

  private static final int CHANGED_SHARE_OF_FEW = 4;

  /** Returns from how many counters on snapshots refer to a file of counters. */
  public long countersOfFileMin() {
    return checkpointBytes / LOG_BYTES_PER_COUNTER;
  }

  /** Returns how many counters may have changed since a file until another one is written. */
  public long changedCountersMax(long counters) {
    return Math.max(counters / CHANGED_SHARE, countersOfFileMin() / CHANGED_SHARE_OF_FEW);
  }

  /**
   * Returns settings to read a directory completely: with the longest window, so that no id is
   * dropped that an engine with any window would remember.
   */
  public static Settings forReading(int idsInMemoryMax) {
    return new Settings(
        Limits.RETENTION_MAX,
        0,
        Long.MAX_VALUE,
        idsInMemoryMax,
        0,
        Long.MAX_VALUE,
        true,
        Limits.RETENTION_MAX,
        Clock.system());
  }
}
