package dev.quipu.datastore;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.technique.SequencesContract;
import java.time.Duration;

/** Sequences on Google's emulator. */
final class DatastoreSequencesTest extends SequencesContract {
  @Override
  protected StoreDriver openStore() {
    return StoreProvider.open(Emulator.newUri(Emulator.server().port(), Duration.ofMinutes(1)));
  }
}
