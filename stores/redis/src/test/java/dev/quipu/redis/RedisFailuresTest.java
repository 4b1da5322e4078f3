package dev.quipu.redis;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testservers.RedisServer;
import dev.quipu.verify.contract.FailureContract;
import dev.quipu.verify.proxy.Protocol;
import dev.quipu.verify.proxy.RedisProtocol;

/** Redis behind a wire that fails. */
final class RedisFailuresTest extends FailureContract {
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
