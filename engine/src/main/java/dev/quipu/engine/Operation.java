package dev.quipu.engine;

/** An atomic operation on counters; see {@link Engine#run}. */
public interface Operation {
  /**
   * Returns an upper bound of the log bytes that the next call of {@link #on} writes; see {@link
   * CounterAccess#bytesMax}.
   */
  int bytesMax(CounterAccess access);

  /**
   * Runs the operation. An exception thrown before any change goes to {@link #failed}, and nothing
   * else is affected. An exception thrown after a change stops the engine: the operation never
   * reaches the log. So check first, then change.
   */
  void on(CounterAccess access);

  /**
   * Returns whether {@link #on} is complete; if not, it is called again, with no other operation in
   * between.
   */
  default boolean isDone() {
    return true;
  }

  /** Receives the exception that {@link #on} threw. */
  void failed(RuntimeException why);
}
