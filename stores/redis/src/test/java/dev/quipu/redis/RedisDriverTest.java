package dev.quipu.redis;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.store.StoreContract;
import dev.quipu.testservers.RedisServer;
import java.time.Duration;

/** Redis as a store. */
final class RedisDriverTest extends StoreContract {
  private static final RedisServer SERVER = RedisServer.startDurable();

  @Override
  protected StoreDriver open() {
    return StoreProvider.open(Stores.newUri("redis", SERVER.port(), Duration.ofMinutes(1)));
  }
}
