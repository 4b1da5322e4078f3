package dev.quipu.datastore;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.store.StoreContract;
import java.time.Duration;

/** Google's emulator as a store. */
final class DatastoreDriverTest extends StoreContract {
  @Override
  protected StoreDriver open() {
    return StoreProvider.open(Emulator.newUri(Emulator.server().port(), Duration.ofMinutes(1)));
  }
}
