package dev.quipu.server.resp.wire;

import dev.quipu.engine.CounterAccess;

/** What is left of a command when it was taken from its connection: to be done on a turn. */
public interface DeferredCommand {
  /** Most bytes of log that it writes. */
  default int bytesMax(CounterAccess turn) {
    return 0;
  }

  /** Does it. */
  Reply on(CounterAccess turn);

  /** Whether {@link #on} did all; if not, it is called again, and its last answer is given. */
  default boolean isDone() {
    return true;
  }
}
