package dev.quipu.backend;

import dev.quipu.Reading;
import java.util.List;
import java.util.Optional;

/**
 * The counters of an engine that changed, for one reader. What it returns is on disk. Not
 * thread-safe.
 */
public interface CounterFeed extends AutoCloseable {
  /**
   * A counter that changed.
   *
   * @param reading its value, which may include later changes; empty if it no longer exists
   */
  record Change(String name, Optional<Reading> reading) {}

  /**
   * Counters that changed.
   *
   * @param changes without an order, each counter once
   * @param isLast whether there were no more; otherwise call again
   * @param isComplete false if more counters were removed since the last call than are remembered,
   *     so that not all of them are here: then list the counters
   */
  record Changes(List<Change> changes, boolean isLast, boolean isComplete) {}

  /**
   * Returns counters that changed since they were returned last. Several changes of a counter are
   * returned as one.
   *
   * @param max maximum number of counters, 1 to {@link dev.quipu.Limits#PAGE_COUNTERS_MAX}
   * @throws dev.quipu.QuipuException if the engine has stopped
   */
  Changes next(int max);

  /** Ends the feed, and frees its memory: a bit for each counter. */
  @Override
  void close();
}
