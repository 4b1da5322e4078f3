package dev.quipu.memcached;

import dev.quipu.store.StoreDriver;
import dev.quipu.verify.contract.StoreContract;

/** memcached as a store. */
final class MemcachedDriverTest extends StoreContract {
  @Override
  protected StoreDriver open() {
    return Caches.openEmpty();
  }
}
