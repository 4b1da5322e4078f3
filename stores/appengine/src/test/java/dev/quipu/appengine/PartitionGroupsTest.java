package dev.quipu.appengine;

import dev.quipu.store.StoreDriver;
import dev.quipu.testkit.store.StoreContract;

/** Google's stubs as a store, an entity group for each partition. */
final class PartitionGroupsTest extends StoreContract {
  @Override
  protected StoreDriver open() {
    return AppEngineDriver.withPartitionsAsGroups(Stubs.startAnew());
  }
}
