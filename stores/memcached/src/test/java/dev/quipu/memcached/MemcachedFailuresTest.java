package dev.quipu.memcached;

import dev.quipu.simulation.proxy.MemcachedProtocol;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.store.FailureContract;

/** memcached behind a faulty connection. */
final class MemcachedFailuresTest extends FailureContract {
  @Override
  protected int storePort() {
    return Caches.emptyServer().port();
  }

  @Override
  protected Protocol protocol() {
    return new MemcachedProtocol();
  }

  @Override
  protected StoreDriver open(int port) {
    return StoreProvider.open(Caches.uri(port, TIMEOUT));
  }
}
