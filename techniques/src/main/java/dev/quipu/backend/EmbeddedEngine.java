package dev.quipu.backend;

import dev.quipu.store.StoreDriver;
import dev.quipu.technique.Technique;

/**
 * A store in this process: it provides counters of its own, and is a store for every technique. The
 * artifact {@code quipu-engine} provides one.
 */
public interface EmbeddedEngine extends Technique, AutoCloseable {
  /** Returns the engine as a store; it is closed with the engine. */
  StoreDriver driver();

  @Override
  void close();
}
