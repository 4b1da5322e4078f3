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

/** The store of a process that dies at one of its calls: before it, or after it. */
final class CrashingDriver implements StoreDriver {
  private final StoreDriver driver;
  private final int diesAt;
  private final boolean isAfter;
  private int calls;

  /** The end of a process: nobody in it goes on. */
  static final class Crash extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  /**
   * Dies.
   *
   * @param diesAt the call at which it dies, from 1
   * @param isAfter whether the store did what this call asked for
   */
  CrashingDriver(StoreDriver driver, int diesAt, boolean isAfter) {
    this.driver = driver;
    this.diesAt = diesAt;
    this.isAfter = isAfter;
  }

  private <T> T call(Supplier<T> call) {
    calls++;
    if (calls == diesAt && !isAfter) {
      throw new Crash();
    }
    T answer = call.get();
    if (calls >= diesAt) {
      throw new Crash();
    }
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
  public WriteResult write(Write write) {
    return call(() -> driver.write(write));
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    return call(() -> driver.writeAll(writes, token));
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    return call(() -> driver.getAll(keys));
  }

  @Override
  public Page scan(Scan scan) {
    return call(() -> driver.scan(scan));
  }

  @Override
  public void close() {
    // the store stays
  }
}
