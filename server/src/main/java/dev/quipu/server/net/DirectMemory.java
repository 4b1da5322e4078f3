package dev.quipu.server.net;

import io.netty.util.internal.OutOfDirectMemoryError;

/** The memory outside the heap that bytes come and go through. */
public final class DirectMemory {
  private DirectMemory() {}

  /**
   * Whether an error says that this memory is used up. Then the connection that asked for it ends,
   * and nothing else is harmed: unlike an {@link OutOfMemoryError} of the heap, which may have
   * stopped any code anywhere.
   */
  public static boolean isExhausted(Throwable error) {
    return error instanceof OutOfDirectMemoryError
        || (error instanceof OutOfMemoryError
            && String.valueOf(error.getMessage()).contains("direct buffer memory"));
  }
}
