package dev.quipu;

import dev.quipu.store.StoreDriver;
import java.nio.file.Path;

/**
 * A store inside this process: counts by itself, and is a store for every technique. The artifact
 * {@code quipu-engine} provides one.
 */
public interface EmbeddedEngine extends Counters, AutoCloseable {
  /** The engine as a store. Closed with the engine. */
  StoreDriver driver();

  @Override
  void close();

  /** Opens engines; found by {@link java.util.ServiceLoader}. */
  interface Provider {
    /**
     * Opens the engine over a directory, which it creates if need be.
     *
     * @throws dev.quipu.store.StoreException if the directory is locked, damaged or not writable
     */
    EmbeddedEngine open(Path directory);
  }
}
