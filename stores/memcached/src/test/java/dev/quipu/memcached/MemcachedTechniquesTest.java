package dev.quipu.memcached;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.technique.TechniquesContract;
import java.time.Duration;

/** All techniques on memcached. */
final class MemcachedTechniquesTest extends TechniquesContract {
  @Override
  protected StoreDriver openStore() {
    return StoreProvider.open(Caches.uri(Caches.emptyServer().port(), Duration.ofMinutes(1)));
  }
}
