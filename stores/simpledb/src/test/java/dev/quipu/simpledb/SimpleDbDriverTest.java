package dev.quipu.simpledb;

import dev.quipu.store.StoreDriver;
import dev.quipu.testkit.store.StoreContract;

/** SimpleDB as a store, in one domain, which is removed after each test. */
final class SimpleDbDriverTest extends StoreContract {
  @Override
  protected StoreDriver open() {
    return Servers.openAlone(1);
  }
}
