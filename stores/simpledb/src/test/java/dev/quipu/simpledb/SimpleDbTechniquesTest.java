package dev.quipu.simpledb;

import dev.quipu.store.StoreDriver;
import dev.quipu.verify.contract.TechniquesContract;

/** All techniques on SimpleDB. */
final class SimpleDbTechniquesTest extends TechniquesContract {
  @Override
  protected StoreDriver openStore() {
    return Servers.openAlone(2);
  }
}
