package dev.quipu.entity;

import dev.quipu.store.StoreDriver;
import dev.quipu.testkit.store.StoreContract;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;

/** A store based on transactions satisfies the contract. */
final class TransactionsStoreTest extends StoreContract {
  @Override
  protected StoreDriver open() {
    return new TransactionalDriver(Clock.system(), Randomness.seeded(1));
  }
}
