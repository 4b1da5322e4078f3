package dev.quipu.engine;

/** Something to do with counters, in one step; see {@link Engine#run}. */
public interface Operation {
  /**
   * Most bytes of log that the next call of {@link #on} writes; see {@link CounterAccess#bytesMax}.
   */
  int bytesMax(CounterAccess access);

  /**
   * Does it. What it throws before it has changed anything goes to {@link #failed}, and nothing
   * else is affected. What it throws later stops the engine: the operation is not in the log, as if
   * it had never been; so check first, and change then.
   */
  void on(CounterAccess access);

  /** Whether {@link #on} did all; if not, it is called again, and nobody else comes between. */
  default boolean isDone() {
    return true;
  }

  /** Hears what {@link #on} threw. */
  void failed(RuntimeException why);
}
