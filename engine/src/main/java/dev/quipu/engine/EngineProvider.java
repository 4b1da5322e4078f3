package dev.quipu.engine;

import dev.quipu.EmbeddedEngine;
import java.nio.file.Path;

/** Makes {@code Quipu.open(Path)} find the engine. */
public final class EngineProvider implements EmbeddedEngine.Provider {
  /** For {@link java.util.ServiceLoader}. */
  public EngineProvider() {}

  @Override
  public EmbeddedEngine open(Path directory) {
    return Engine.open(directory, EngineOptions.defaults());
  }
}
