package dev.quipu.testkit;

import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.testkit.technique.TechniquesContract;
import java.util.Set;

/** The techniques for stores with minimal capabilities, on such a store. */
final class LimitedTechniquesTest extends TechniquesContract {
  @Override
  protected StoreDriver openStore() {
    return new LimitedDriver(
        new MemoryDriver(), Set.of(Capability.STRONG_READ, Capability.ORDERED_SCAN));
  }
}
