package dev.quipu.engine;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import java.nio.file.Path;

/** Makes {@code Quipu.builder().directory(Path).build()} find the engine. */
public final class EngineProvider implements Quipu.Opener {
  /** For {@link java.util.ServiceLoader}. */
  public EngineProvider() {}

  @Override
  public Quipu open(Path directory) {
    return Backends.on(Engine.open(directory, EngineOptions.defaults()));
  }
}
