package dev.quipu.testkit;

import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.testkit.store.StoreContract;
import java.util.Set;

/** What {@code Store} emulates behaves like what a driver does natively. */
final class LimitedDriverTest extends StoreContract {
  @Override
  protected StoreDriver open() {
    return new LimitedDriver(new MemoryDriver(), Set.of(Capability.STRONG_READ));
  }
}
