package dev.quipu.datastore;

import dev.quipu.simulation.proxy.DatastoreProtocol;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.store.CombiningContract;

/** Datastore executes a group of adds by one transaction. */
final class DatastoreCombiningTest extends CombiningContract {
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
}
