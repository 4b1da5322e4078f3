package dev.quipu.redis;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.technique.TechniquesContract;
import dev.quipu.testservers.RedisCluster;
import java.time.Duration;

/** All techniques on Redis Cluster. */
final class RedisClusterTechniquesTest extends TechniquesContract {
  private static final RedisCluster CLUSTER = RedisCluster.start();

  @Override
  protected StoreDriver openStore() {
    return StoreProvider.open(
        Stores.newUri("redis-cluster", CLUSTER.ports().getFirst(), Duration.ofMinutes(1)));
  }
}
