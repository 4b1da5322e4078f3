package dev.quipu.appengine;

import dev.quipu.store.StoreDriver;
import dev.quipu.testkit.technique.TechniquesContract;

/** The techniques on Google's stubs, an entity group for each item. */
final class ItemGroupsTechniquesTest extends TechniquesContract {
  @Override
  protected StoreDriver openStore() {
    return AppEngineDriver.withItemsAsGroups(Stubs.startAnew());
  }

  /** What has expired is found by a query across groups. */
  @Override
  protected boolean isSweptAtOnce() {
    return false;
  }
}
