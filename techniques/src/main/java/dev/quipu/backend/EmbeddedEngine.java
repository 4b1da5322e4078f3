package dev.quipu.backend;

import dev.quipu.Holds;
import dev.quipu.Transactions;
import dev.quipu.store.StoreDriver;
import dev.quipu.technique.Technique;
import java.util.List;

/**
 * A store in this process: it provides counters of its own, and is a store for every technique. The
 * artifact {@code quipu-engine} provides one.
 */
public interface EmbeddedEngine extends Technique, AutoCloseable {
  /** Returns the engine as a store; it is closed with the engine. */
  StoreDriver driver();

  /** Returns transactions over the counters of the engine itself. */
  Transactions transactions();

  /** Returns holds on the counters of the engine itself. */
  Holds holds();

  /**
   * Returns the counters that change from now on, of which it keeps a bit each until they are read.
   */
  CounterFeed follow();

  /** Returns the values at past boundaries. */
  CounterHistory history();

  /**
   * Returns the last requests with ids to a counter, the newest first, if they are among the last
   * 4,096 to all counters since the engine was opened.
   */
  List<RecentRequest> recentRequests(String counter, int limit);

  /** Returns the thresholds of counters. */
  CounterThresholds thresholds();

  @Override
  void close();
}
