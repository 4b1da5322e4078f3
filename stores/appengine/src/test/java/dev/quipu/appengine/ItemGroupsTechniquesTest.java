package dev.quipu.appengine;

import dev.quipu.store.StoreDriver;
import dev.quipu.testkit.technique.TechniquesContract;

/** The techniques on Google's stubs, one entity group per item. */
final class ItemGroupsTechniquesTest extends TechniquesContract {
  @Override
  protected StoreDriver openStore() {
    return AppEngineDriver.withItemsAsGroups(Stubs.startAnew());
  }

  /** A query across groups finds expired items. */
  @Override
  protected boolean isSweptAtOnce() {
    return false;
  }
}
