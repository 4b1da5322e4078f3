package dev.quipu.datastore;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.verify.contract.FailureContract;
import dev.quipu.verify.proxy.DatastoreProtocol;
import dev.quipu.verify.proxy.Protocol;

/** Google's emulator behind a wire that fails. */
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
  protected boolean isTransaction() {
    return true;
  }
}
