package dev.quipu.engine;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import java.util.Optional;

/** Opens the embedded engine when {@link Quipu#builder} is given a directory. */
public final class EngineProvider implements Quipu.Opener {
  /** Public for {@link java.util.ServiceLoader}. */
  public EngineProvider() {}

  @Override
  public Optional<Quipu.Backend> open(Quipu.Settings settings) {
    return settings
        .directory()
        .map(directory -> {
          if (settings.technique().isPresent()) {
            throw new IllegalArgumentException(
                "technique is %s, but a directory uses the engine only. Remove technique, or set a"
                        .formatted(settings.technique().get())
                    + " store");
          }
          EngineOptions options = EngineOptions.defaults().withScales(settings.scales());
          return Backends.backend(
              Engine.open(
                  directory,
                  settings.requestIdRetention().map(options::withWindow).orElse(options)));
        });
  }
}
