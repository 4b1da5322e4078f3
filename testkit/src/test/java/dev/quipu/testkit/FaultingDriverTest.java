package dev.quipu.testkit;

import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.FaultingDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.testkit.store.StoreContract;
import dev.quipu.time.Randomness;

/** Without faults it behaves like the driver that it wraps. */
final class FaultingDriverTest extends StoreContract {
  @Override
  protected StoreDriver open() {
    return new FaultingDriver(new MemoryDriver(), Randomness.secure(), 0, () -> {});
  }
}
