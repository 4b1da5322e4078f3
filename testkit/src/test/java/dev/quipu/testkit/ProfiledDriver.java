package dev.quipu.testkit;

import dev.quipu.layer.ForwardingDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;

/** A store that reports another profile. */
public class ProfiledDriver extends ForwardingDriver {
  private final StoreDriver driver;
  private final StoreProfile profile;

  /** Wraps a driver, replacing its profile. */
  public ProfiledDriver(StoreDriver driver, StoreProfile profile) {
    this.driver = driver;
    this.profile = profile;
  }

  /** Returns a store whose batches are limited to this number of items. */
  public static StoreDriver ofBatches(StoreDriver driver, String name, int itemsMax) {
    return of(driver, name, driver.profile().atomicity(), itemsMax);
  }

  /** Returns a store whose batches must lie in one partition. */
  public static StoreDriver divided(StoreDriver driver) {
    return of(driver, "divided", Atomicity.PARTITION, 10);
  }

  private static StoreDriver of(
      StoreDriver driver, String name, Atomicity atomicity, int itemsMax) {
    StoreProfile full = driver.profile();
    return new ProfiledDriver(
        driver,
        new StoreProfile(name, full.capabilities(), atomicity, itemsMax, full.itemBytesMax()));
  }

  @Override
  protected StoreDriver driver() {
    return driver;
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }
}
