package dev.quipu.server.protocol;

import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.CounterAccess;
import io.netty.buffer.ByteBuf;

/** A decoded command that runs in the next commit of its event loop. */
public interface PendingCommand {
  /** Returns the maximum log bytes of its next run; see {@link CounterAccess#bytesMax}. */
  int bytesMax(CounterAccess counters);

  /** Announces the counter of the command; called before {@link #touch} if there are many. */
  default void expect(CounterAccess counters) {}

  /** Prefetches the counters of the command, so that cache misses overlap. */
  default void touch(CounterAccess counters) {}

  /**
   * Runs the command and writes the reply, which may be an error if nothing was changed.
   *
   * @throws RuntimeException if it failed after a change; the engine stops, so that the partial
   *     change never reaches the log
   */
  void run(CounterAccess counters, ByteBuf out);

  /**
   * Rethrows the failure of a command that has changed counters.
   *
   * @param changesBefore the {@link CounterAccess#changeCount} before the command
   */
  static void requireWhole(CounterAccess counters, long changesBefore, RuntimeException why) {
    // Out of memory: the changes so far are consistent, and the outcome is reported as unknown.
    boolean isFull = why instanceof QuipuException store && store.reason() == Reason.FULL;
    if (counters.changeCount() != changesBefore && !isFull) {
      throw why;
    }
  }

  /** Writes the error reply when it is unknown whether the changes are durable. */
  void failed(RuntimeException why, ByteBuf out);

  /** Returns whether {@link #run} is complete; if not, it runs again before other commands. */
  default boolean isDone() {
    return true;
  }
}
