package dev.quipu.engine;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What was opened, and is closed in the reverse order, whatever of it cannot be closed. */
final class Opened {
  private static final Logger LOGGER = LoggerFactory.getLogger(Opened.class);

  private final Deque<Closeable> parts = new ArrayDeque<>();

  <T extends Closeable> T add(T part) {
    parts.push(part);
    return part;
  }

  void close() {
    for (Closeable part : parts) {
      try {
        part.close();
      } catch (IOException | RuntimeException e) {
        LOGGER.atWarn().setCause(e).log("Closing a part of the engine failed");
      }
    }
  }
}
