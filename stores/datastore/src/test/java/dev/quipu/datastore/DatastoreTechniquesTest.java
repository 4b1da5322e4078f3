package dev.quipu.datastore;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.verify.contract.TechniquesContract;
import java.time.Duration;

/** All techniques on Google's emulator. */
final class DatastoreTechniquesTest extends TechniquesContract {
  @Override
  protected StoreDriver openStore() {
    return StoreProvider.open(Emulator.newUri(Emulator.server().port(), Duration.ofSeconds(5)));
  }
}
