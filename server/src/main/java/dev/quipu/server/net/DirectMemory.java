package dev.quipu.server.net;

import io.netty.util.internal.OutOfDirectMemoryError;

/** Direct memory, used by network buffers. */
public final class DirectMemory {
  private DirectMemory() {}

  /**
   * Returns whether an error reports exhausted direct memory. Only the connection that requested it
   * is affected, unlike an {@link OutOfMemoryError} of the heap, which may interrupt any code.
   */
  public static boolean isExhausted(Throwable error) {
    return error instanceof OutOfDirectMemoryError
        || (error instanceof OutOfMemoryError
            && String.valueOf(error.getMessage()).contains("direct buffer memory"));
  }
}
