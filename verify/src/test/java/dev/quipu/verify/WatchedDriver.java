package dev.quipu.verify;

import dev.quipu.store.Consistency;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Page;
import dev.quipu.store.RequestToken;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A driver with something done before and after each call. */
final class WatchedDriver implements StoreDriver {
  private final StoreDriver driver;
  private final Runnable before;
  private final Runnable after;

  WatchedDriver(StoreDriver driver, Runnable before, Runnable after) {
    this.driver = driver;
    this.before = before;
    this.after = after;
  }

  WatchedDriver(StoreDriver driver, Runnable after) {
    this(driver, () -> {}, after);
  }

  private <T> T call(Supplier<T> call) {
    before.run();
    T answer = call.get();
    after.run();
    return answer;
  }

  @Override
  public StoreProfile profile() {
    return driver.profile();
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return call(() -> driver.get(key, consistency));
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    return call(() -> driver.getAll(keys));
  }

  @Override
  public WriteResult write(Write write) {
    return call(() -> driver.write(write));
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    return call(() -> driver.writeAll(writes, token));
  }

  @Override
  public Page scan(Scan scan) {
    return call(() -> driver.scan(scan));
  }

  /** The store stays. */
  @Override
  public void close() {}
}
