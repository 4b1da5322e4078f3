package dev.quipu.memcached;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.store.StoreClockContract;
import java.time.Duration;

/** Servers with wrong clocks on memcached. */
final class MemcachedClockTest extends StoreClockContract {
  @Override
  protected StoreDriver open() {
    return StoreProvider.open(Caches.uri(Caches.emptyServer().port(), Duration.ofMinutes(1)));
  }
}
