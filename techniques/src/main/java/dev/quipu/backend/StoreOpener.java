package dev.quipu.backend;

import dev.quipu.Quipu;
import dev.quipu.layer.Store;
import dev.quipu.record.RecordGuard;
import dev.quipu.record.StoreRecord;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Duration;
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
      TechniqueSpec spec =
          settings
              .technique()
              .map(Techniques::named)
              .orElseGet(() -> Techniques.bestFor(driver.profile()));
      spec.requireWorksOn(driver.profile());
      Optional<Duration> retention = settings.requestIdRetention();
      RecordGuard.require(new Store(driver, Clock.system()), StoreRecord.of(spec, retention));
      return Backends.backend(
          driver,
          store -> Backends.technique(spec, store, Randomness.secure(), retention),
          driver::close);
    } catch (RuntimeException | Error e) {
      driver.close();
      throw e;
    }
  }
}
