package dev.quipu.testkit;

import dev.quipu.memory.MemoryDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.testkit.technique.TechniquesContract;

/** All techniques in memory. */
final class MemoryTechniquesTest extends TechniquesContract {
  @Override
  protected StoreDriver openStore() {
    return new MemoryDriver();
  }
}
