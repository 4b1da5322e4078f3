package dev.quipu.datastore;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.technique.RevisionsContract;
import java.time.Duration;

/** Revisions on Google's emulator. */
final class DatastoreRevisionsTest extends RevisionsContract {
  @Override
  protected StoreDriver openStore() {
    return StoreProvider.open(Emulator.newUri(Emulator.server().port(), Duration.ofMinutes(1)));
  }
}
