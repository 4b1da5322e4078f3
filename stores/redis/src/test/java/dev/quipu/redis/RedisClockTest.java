package dev.quipu.redis;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.store.StoreClockContract;
import dev.quipu.testservers.RedisServer;
import java.time.Duration;

/** Servers with wrong clocks on Redis. */
final class RedisClockTest extends StoreClockContract {
  private static final RedisServer SERVER = RedisServer.startDurable();

  @Override
  protected StoreDriver open() {
    return StoreProvider.open(Stores.newUri("redis", SERVER.port(), Duration.ofMinutes(1)));
  }
}
