package dev.quipu.simpledb;

import dev.quipu.store.StoreDriver;
import dev.quipu.testkit.technique.TechniquesContract;

/** All techniques on SimpleDB. */
final class SimpleDbTechniquesTest extends TechniquesContract {
  @Override
  protected StoreDriver openStore() {
    return Servers.openAlone(2);
  }
}
