package dev.quipu.simpledb;

import dev.quipu.store.StoreDriver;
import dev.quipu.testkit.store.StoreContract;

/** SimpleDB as a store, over three domains. */
final class SimpleDbDomainsTest extends StoreContract {
  @Override
  protected StoreDriver open() {
    return Servers.openAlone(3);
  }
}
