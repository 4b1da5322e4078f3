package dev.quipu.engine.environment;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What was opened, and is closed in the reverse order, whatever of it cannot be closed. */
public final class Closer {
  private static final Logger LOGGER = LoggerFactory.getLogger(Closer.class);

  private final Deque<Closeable> parts = new ArrayDeque<>();

  public <T extends Closeable> T add(T part) {
    parts.push(part);
    return part;
  }

  public void close() {
    for (Closeable part : parts) {
      try {
        part.close();
      } catch (IOException | RuntimeException e) {
        LOGGER.atWarn().setCause(e).log("Closing a part of the engine failed");
      }
    }
  }
}
