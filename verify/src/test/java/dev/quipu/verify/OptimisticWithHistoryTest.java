package dev.quipu.verify;

import dev.quipu.Counters;
import dev.quipu.store.MemoryDriver;
import dev.quipu.store.Store;
import dev.quipu.technique.OptimisticWithHistory;
import dev.quipu.time.ManualClock;
import dev.quipu.verify.contract.CountersContract;

final class OptimisticWithHistoryTest extends CountersContract {
  @Override
  protected Counters open(ManualClock clock) {
    return new OptimisticWithHistory(new Store(new MemoryDriver(), clock));
  }
}
