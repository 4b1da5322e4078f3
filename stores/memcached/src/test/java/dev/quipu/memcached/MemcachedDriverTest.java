package dev.quipu.memcached;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.store.StoreContract;
import java.time.Duration;

/** memcached as a store. */
final class MemcachedDriverTest extends StoreContract {
  @Override
  protected StoreDriver open() {
    return StoreProvider.open(Caches.uri(Caches.emptyServer().port(), Duration.ofMinutes(1)));
  }
}
