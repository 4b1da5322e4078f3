package dev.quipu.testkit;

import dev.quipu.memory.MemoryDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.testkit.store.StoreContract;

final class MemoryDriverTest extends StoreContract {
  @Override
  protected StoreDriver open() {
    return new MemoryDriver();
  }
}
