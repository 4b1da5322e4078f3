package dev.quipu.redis;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.store.StoreContract;
import dev.quipu.testservers.RedisCluster;
import java.time.Duration;

/** Redis Cluster as a store. */
final class RedisClusterDriverTest extends StoreContract {
  private static final RedisCluster CLUSTER = RedisCluster.start();

  @Override
  protected StoreDriver open() {
    return StoreProvider.open(
        Stores.newUri("redis-cluster", CLUSTER.ports().getFirst(), Duration.ofMinutes(1)));
  }
}
