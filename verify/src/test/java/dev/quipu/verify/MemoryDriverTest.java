package dev.quipu.verify;

import dev.quipu.memory.MemoryDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.verify.contract.StoreContract;

final class MemoryDriverTest extends StoreContract {
  @Override
  protected StoreDriver open() {
    return new MemoryDriver();
  }
}
