package dev.quipu.server.net;

import dev.quipu.Reason;
import dev.quipu.StoreException;
import dev.quipu.engine.CounterAccess;
import io.netty.buffer.ByteBuf;

/** One command on its way: taken apart, to be done on the next turn, and answered in its place. */
public interface Step {
  /** Most bytes of log that it writes next; see {@link CounterAccess#bytesMax}. */
  int bytesMax(CounterAccess turn);

  /** Looks for what it will need, soon before it is done, so that memory is waited for once. */
  default void touch(CounterAccess turn) {}

  /**
   * Does it and writes the answer: what went wrong before it changed anything is the answer too.
   *
   * @throws RuntimeException if it is half done; the engine stops, so that this is never in its log
   */
  void run(CounterAccess turn, ByteBuf out);

  /**
   * Makes sure that a step which failed has changed nothing.
   *
   * @param changesBefore the {@link CounterAccess#changeCount} when it began
   */
  static void requireWhole(CounterAccess turn, long changesBefore, RuntimeException why) {
    // Without memory for the rest, what is done is whole in itself, and said to be unknown.
    boolean isFull = why instanceof StoreException store && store.reason() == Reason.FULL;
    if (turn.changeCount() != changesBefore && !isFull) {
      throw why;
    }
  }

  /** Writes the answer when nobody knows whether what was done has reached the disk. */
  void failed(RuntimeException why, ByteBuf out);

  /** Whether {@link #run} did all; if not, it is called again, and nobody else comes between. */
  default boolean isDone() {
    return true;
  }
}
