package dev.quipu.simulation.driver;

import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A driver with a subset of the capabilities of another; rejects calls that need the rest. */
public final class LimitedDriver implements BatchDriver, ScanDriver {
  private final StoreDriver driver;
  private final StoreProfile profile;

  /** Restricts a driver to these capabilities. */
  public LimitedDriver(StoreDriver driver, Set<Capability> left) {
    this.driver = driver;
    StoreProfile full = driver.profile();
    this.profile =
        new StoreProfile(
            full.name() + "-limited",
            left,
            left.contains(Capability.ATOMIC_BATCH) ? full.atomicity() : Atomicity.ITEM,
            full.batchItemsMax(),
            full.itemBytesMax(),
            full.writeGroup());
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return driver.get(key, consistency);
  }

  @Override
  public WriteResult write(Write write) {
    if (write instanceof Write.Update update && !profile.has(Capability.NATIVE_UPDATE)) {
      if (!update.isLoneAdd() || !profile.has(Capability.NATIVE_ADD)) {
        throw profile.lacks(Capability.NATIVE_UPDATE);
      }
    }
    return driver.write(write);
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    require(token == null ? Capability.ATOMIC_BATCH : Capability.TOKEN_BATCH);
    WriteResult result = BatchDriver.of(driver).writeAll(writes, token);
    return result instanceof WriteResult.Applied && !profile.has(Capability.BATCH_RETURNS)
        ? new WriteResult.Applied(Optional.empty())
        : result;
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    require(Capability.ATOMIC_BATCH);
    return BatchDriver.of(driver).getAll(keys);
  }

  @Override
  public Page scan(Scan scan) {
    if (scan.consistency() == Consistency.STRONG || !profile.has(Capability.EVENTUAL_SCAN)) {
      require(Capability.ORDERED_SCAN);
    }
    return ScanDriver.of(driver).scan(scan);
  }

  private void require(Capability capability) {
    if (!profile.has(capability)) {
      throw profile.lacks(capability);
    }
  }

  @Override
  public void close() {
    driver.close();
  }
}
