package dev.quipu.verify;

import dev.quipu.memory.MemoryDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.time.Randomness;
import dev.quipu.verify.contract.StoreContract;
import dev.quipu.verify.simulate.FaultingDriver;

/** Without faults it is the driver that it wraps. */
final class FaultingDriverTest extends StoreContract {
  @Override
  protected StoreDriver open() {
    return new FaultingDriver(new MemoryDriver(), Randomness.secure(), 0, () -> {});
  }
}
