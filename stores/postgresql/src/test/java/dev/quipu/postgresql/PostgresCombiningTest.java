package dev.quipu.postgresql;

import dev.quipu.simulation.proxy.PostgresProtocol;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.store.CombiningContract;

/** PostgreSQL executes a group of adds by one transaction. */
final class PostgresCombiningTest extends CombiningContract {
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
