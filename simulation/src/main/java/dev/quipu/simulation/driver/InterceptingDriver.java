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
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Passes each call through an interceptor. Closing it does not close the wrapped driver. */
public final class InterceptingDriver implements BatchDriver, ScanDriver {
  private final StoreDriver driver;
  private final Interceptor interceptor;

  /** Intercepts the calls of a driver. */
  public interface Interceptor {
    /** Executes a call, or returns or throws in its place. */
    default <T> T call(Supplier<T> call) {
      return call.get();
    }

    /**
     * Executes a call that writes, or returns or throws in its place.
     *
     * @param writes the writes of the call
     */
    default WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
      return call(call);
    }
  }

  /** Wraps a driver. */
  public InterceptingDriver(StoreDriver driver, Interceptor interceptor) {
    this.driver = driver;
    this.interceptor = interceptor;
  }

  @Override
  public StoreProfile profile() {
    return driver.profile();
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return interceptor.call(() -> driver.get(key, consistency));
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    return interceptor.call(() -> BatchDriver.of(driver).getAll(keys));
  }

  @Override
  public WriteResult write(Write write) {
    return interceptor.write(List.of(write), () -> driver.write(write));
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    return interceptor.write(writes, () -> BatchDriver.of(driver).writeAll(writes, token));
  }

  @Override
  public Page scan(Scan scan) {
    return interceptor.call(() -> ScanDriver.of(driver).scan(scan));
  }

  @Override
  public void close() {}
}
