package dev.quipu.engine;

/** Something to do with counters, in one step; see {@link Engine#run}. */
public interface Operation {
  /**
   * Most bytes of log that the next call of {@link #on} writes; see {@link CounterTurn#bytesMax}.
   */
  int bytesMax(CounterTurn turn);

  /** Does it. What it throws goes to {@link #failed}, and what it did before is done. */
  void on(CounterTurn turn);

  /** Whether {@link #on} did all; if not, it is called again, and nobody else comes between. */
  default boolean isDone() {
    return true;
  }

  /** Hears what {@link #on} threw. */
  void failed(RuntimeException why);
}
