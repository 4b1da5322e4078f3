package dev.quipu.server.net;

import dev.quipu.engine.CounterTurn;
import io.netty.buffer.ByteBuf;

/** One command on its way: taken apart, to be done on the next turn, and answered in its place. */
public interface Step {
  /** Most bytes of log that it writes next; see {@link CounterTurn#bytesMax}. */
  int bytesMax(CounterTurn turn);

  /** Looks for what it will need, soon before it is done, so that memory is waited for once. */
  default void touch(CounterTurn turn) {}

  /** Does it and writes the answer. Must not throw: what went wrong is the answer. */
  void run(CounterTurn turn, ByteBuf out);

  /** Writes the answer when nobody knows whether what was done has reached the disk. */
  void failed(RuntimeException why, ByteBuf out);

  /** Whether {@link #run} did all; if not, it is called again, and nobody else comes between. */
  default boolean isDone() {
    return true;
  }
}
