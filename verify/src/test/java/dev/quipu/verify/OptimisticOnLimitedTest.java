package dev.quipu.verify;

import dev.quipu.Counters;
import dev.quipu.store.Capability;
import dev.quipu.store.MemoryDriver;
import dev.quipu.store.Store;
import dev.quipu.technique.Optimistic;
import dev.quipu.time.ManualClock;
import dev.quipu.verify.contract.CountersContract;
import dev.quipu.verify.simulate.LimitedDriver;
import java.util.Set;

/** The technique for stores that can do next to nothing, on such a store. */
final class OptimisticOnLimitedTest extends CountersContract {
  @Override
  protected Counters open(ManualClock clock) {
    Set<Capability> left = Set.of(Capability.STRONG_READ, Capability.ORDERED_SCAN);
    return new Optimistic(new Store(new LimitedDriver(new MemoryDriver(), left), clock));
  }
}
