package dev.quipu.postgresql;

import dev.quipu.simulation.proxy.PostgresProtocol;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.store.FailureContract;

/** PostgreSQL behind a faulty connection. */
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
