package dev.quipu.engine;

/** Something to do with counters, in one step; see {@link Engine#run}. */
public interface Operation {
  /** Most changes of counters that it makes. */
  int changesMax();

  /** Length of all names of counters that it may write, in chars, together. */
  int namesLength();

  /** Does it. What it throws goes to {@link #failed}, and what it did before is done. */
  void on(CounterTurn turn);

  /** Hears what {@link #on} threw. */
  void failed(RuntimeException why);
}
