package dev.quipu.datastore;

import dev.quipu.simulation.proxy.DatastoreProtocol;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.store.FailureContract;

/** Google's emulator behind a faulty connection. */
final class DatastoreFailuresTest extends FailureContract {
  @Override
  protected int storePort() {
    return Emulator.server().port();
  }

  @Override
  protected Protocol protocol() {
    return new DatastoreProtocol();
  }

  @Override
  protected StoreDriver open(int port) {
    return StoreProvider.open(Emulator.newUri(port, TIMEOUT));
  }

  @Override
  protected boolean appliesDuplicatesOnce() {
    return true;
  }

  @Override
  protected boolean appliesNothingLate() {
    return true;
  }
}
