package dev.quipu.engine.environment;

import java.io.Closeable;
import java.io.IOException;

/** A lock of a data directory; closing releases it. */
public interface HeldLock extends Closeable {
  /**
   * Checks that the directory at the path is still the one that was locked.
   *
   * @throws IOException if its lock file was removed or replaced, so that another engine may hold
   *     the lock
   */
  void check() throws IOException;

  /** Stops an engine if the check fails: acknowledged writes would be lost. */
  default void require(Failure failure) {
    try {
      check();
    } catch (IOException e) {
      failure.stop(e);
    }
  }
}
