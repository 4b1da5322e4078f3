package dev.quipu.engine.environment;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Closes resources in the reverse order of opening, even if some fail to close. */
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
        LOGGER.atWarn().setCause(e).log("Failed to close a part of the engine");
      }
    }
  }
}
