package dev.quipu.redis;

import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.simulation.proxy.RedisProtocol;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.store.CombiningContract;
import dev.quipu.testservers.RedisServer;

/** Redis executes a group of adds by one call of the script. */
final class RedisCombiningTest extends CombiningContract {
  private static final RedisServer SERVER = RedisServer.startDurable();

  @Override
  protected int storePort() {
    return SERVER.port();
  }

  @Override
  protected Protocol protocol() {
    return new RedisProtocol();
  }

  @Override
  protected StoreDriver open(int port) {
    return StoreProvider.open(Stores.newUri("redis", port, TIMEOUT));
  }
}
