package dev.quipu.datastore;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.technique.RangeJobsContract;
import java.time.Duration;

/** Range jobs on Google's emulator. */
final class DatastoreRangeJobsTest extends RangeJobsContract {
  @Override
  protected StoreDriver openStore() {
    return StoreProvider.open(Emulator.newUri(Emulator.server().port(), Duration.ofMinutes(1)));
  }
}
