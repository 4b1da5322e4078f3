package dev.quipu.appengine;

import dev.quipu.store.StoreDriver;
import dev.quipu.testkit.technique.TechniquesContract;

/** All techniques on Google's stubs, an entity group for each partition. */
final class PartitionGroupsTechniquesTest extends TechniquesContract {
  @Override
  protected StoreDriver openStore() {
    return AppEngineDriver.withPartitionsAsGroups(Stubs.startAnew());
  }

  /** A query across groups finds expired items. */
  @Override
  protected boolean isSweptAtOnce() {
    return false;
  }
}
