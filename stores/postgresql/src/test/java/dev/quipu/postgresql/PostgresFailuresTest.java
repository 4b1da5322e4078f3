package dev.quipu.postgresql;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.verify.contract.FailureContract;
import dev.quipu.verify.proxy.PostgresProtocol;
import dev.quipu.verify.proxy.Protocol;

/** PostgreSQL behind a wire that fails. */
final class PostgresFailuresTest extends FailureContract {
  @Override
  protected int storePort() {
    return Databases.SERVER.port();
  }

  @Override
  protected Protocol protocol() {
    return new PostgresProtocol();
  }

  @Override
  protected StoreDriver open(int port) {
    return StoreProvider.open(Databases.newUri(port, TIMEOUT));
  }
}
