package dev.quipu.server.resp.wire;

import dev.quipu.engine.CounterAccess;

/** The part of a command that runs in the next commit. */
public interface DeferredCommand {
  /** Returns the maximum log bytes of the next run. */
  default int bytesMax(CounterAccess counters) {
    return 0;
  }

  /** Prefetches what the command looks up, so that cache misses overlap. */
  default void touch(CounterAccess counters) {}

  /** Runs the command and returns the reply. */
  Reply run(CounterAccess counters);

  /** Returns whether {@link #run} is complete; if not, it runs again, and the last reply counts. */
  default boolean isDone() {
    return true;
  }
}
