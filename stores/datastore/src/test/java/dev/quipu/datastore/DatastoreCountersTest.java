package dev.quipu.datastore;

import dev.quipu.Counters;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.technique.MarkerItem;
import dev.quipu.testkit.technique.CountersContract;
import dev.quipu.time.Randomness;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The technique that {@code quipu serve} selects, on Google's emulator. It commits about fifty
 * transactions per second on one entity, so the other techniques run on App Engine's stubs, whose
 * driver shares all code but the client.
 */
final class DatastoreCountersTest extends CountersContract {
  private @Nullable StoreDriver driver;

  @Override
  protected Counters open(ManualClock clock) {
    StoreDriver opened =
        StoreProvider.open(Emulator.newUri(Emulator.server().port(), Duration.ofMinutes(1)));
    driver = opened;
    RetryPolicy patient =
        new RetryPolicy(100, Duration.ofMillis(1), Duration.ofMillis(2), Duration.ofDays(1));
    return new MarkerItem(new Store(opened, clock, Randomness.secure(), patient));
  }

  @Override
  protected void close() {
    if (driver != null) {
      driver.close();
    }
  }
}
