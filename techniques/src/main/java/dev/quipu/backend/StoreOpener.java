package dev.quipu.backend;

import dev.quipu.Quipu;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import java.util.Optional;

/** Opens a technique on a store, for {@link Quipu#builder} with a store. */
public final class StoreOpener implements Quipu.Opener {
  /** For {@link java.util.ServiceLoader}. */
  public StoreOpener() {}

  @Override
  public Optional<Quipu.Backend> open(Quipu.Settings settings) {
    return settings.store().map(uri -> open(StoreProvider.open(uri), settings));
  }

  private static Quipu.Backend open(StoreDriver driver, Quipu.Settings settings) {
    try {
      return Backends.backend(
          driver,
          settings.technique(),
          settings.requestIdRetention(),
          settings.scales(),
          driver::close);
    } catch (RuntimeException | Error e) {
      driver.close();
      throw e;
    }
  }
}
