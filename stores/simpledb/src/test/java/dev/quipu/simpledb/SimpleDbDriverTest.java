package dev.quipu.simpledb;

import dev.quipu.store.StoreDriver;
import dev.quipu.testkit.store.StoreContract;

/** SimpleDB as a store, in one domain. Domains are few, so they are taken away again. */
final class SimpleDbDriverTest extends StoreContract {
  @Override
  protected StoreDriver open() {
    return Servers.openAlone(1);
  }
}
