package dev.quipu.server.protocol;

import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.CounterAccess;
import io.netty.buffer.ByteBuf;

/** A decoded command, executed in the next commit of its event loop and answered in its place. */
public interface PendingCommand {
  /** Returns the most bytes of log that it writes next; see {@link CounterAccess#bytesMax}. */
  int bytesMax(CounterAccess turn);

  /** Looks up what it will need, so that memory is waited for once. */
  default void touch(CounterAccess turn) {}

  /**
   * Executes it and writes the reply, which may be an error if nothing was changed.
   *
   * @throws RuntimeException if it changed something and failed; the engine stops, so that this is
   *     never in its log
   */
  void run(CounterAccess turn, ByteBuf out);

  /**
   * Rethrows the failure of a command that has changed something.
   *
   * @param changesBefore the {@link CounterAccess#changeCount} when it began
   */
  static void requireWhole(CounterAccess turn, long changesBefore, RuntimeException why) {
    // Without memory for the rest, what is done is whole in itself, and said to be unknown.
    boolean isFull = why instanceof QuipuException store && store.reason() == Reason.FULL;
    if (turn.changeCount() != changesBefore && !isFull) {
      throw why;
    }
  }

  /** Writes the reply when it is unknown whether the changes have reached the disk. */
  void failed(RuntimeException why, ByteBuf out);

  /** Returns whether {@link #run} did all; if not, it is called again, before other commands. */
  default boolean isDone() {
    return true;
  }
}
