package dev.quipu.memcached;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.verify.contract.FailureContract;
import dev.quipu.verify.proxy.MemcachedProtocol;
import dev.quipu.verify.proxy.Protocol;

/** memcached behind a wire that fails. */
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
