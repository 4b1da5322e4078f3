package dev.quipu.verify.contract;

import dev.quipu.Counters;
import dev.quipu.store.Store;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreOptions;
import dev.quipu.time.ManualClock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** {@link CountersContract} for a technique on a store. */
public abstract class TechniqueContract extends CountersContract {
  private static final StoreOptions PATIENT =
      new StoreOptions(100, Duration.ofMillis(1), Duration.ofMillis(2), Duration.ofDays(1));

  private final Function<Store, Counters> technique;
  private @Nullable StoreDriver driver;

  /** The contract for this technique. */
  protected TechniqueContract(Function<Store, Counters> technique) {
    this.technique = technique;
  }

  /** Opens an empty store. */
  protected abstract StoreDriver openStore() throws Exception;

  @Override
  protected final Counters open(ManualClock clock) throws Exception {
    StoreDriver opened = openStore();
    driver = opened;
    return technique.apply(new Store(opened, clock, Randomness.secure(), PATIENT));
  }

  @Override
  protected final void close() {
    if (driver != null) {
      driver.close();
    }
  }
}
