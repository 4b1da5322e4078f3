package dev.quipu.redis;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.technique.TechniquesContract;
import dev.quipu.testservers.RedisServer;
import java.time.Duration;

/** All techniques on Redis. */
final class RedisTechniquesTest extends TechniquesContract {
  private static final RedisServer SERVER = RedisServer.startDurable();

  @Override
  protected StoreDriver openStore() {
    return StoreProvider.open(Stores.newUri("redis", SERVER.port(), Duration.ofMinutes(1)));
  }
}
