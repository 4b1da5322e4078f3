package dev.quipu.engine.measure;

/**
 * Receives the work of an engine, on the threads that do it. Calls wait while it runs: it must
 * neither block nor throw.
 */
@FunctionalInterface
public interface EngineObserver {
  /**
   * A piece of work has ended.
   *
   * @param size how much it was, in the unit of the kind of work
   */
  void ended(Work work, long size, long nanos);

  /** A kind of work. */
  enum Work {
    /** Commit of one group of calls, with its sync; in changes. */
    GROUP,
    /** Sync of the log to the disk; in bytes since the last one. */
    SYNC,
    /** Writing of a snapshot; in snapshots. */
    CHECKPOINT,
    /** Writing of a table of request ids to a file; in ids. */
    SEAL
  }
}
