package dev.quipu.verify.simulate;

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

/** A driver with something done around each of its calls. Closing it closes nothing. */
public final class AroundDriver implements BatchDriver, ScanDriver {
  private final StoreDriver driver;
  private final Around around;

  /** What is done around a call. */
  public interface Around {
    /** Makes a call, or not. */
    default <T> T call(Supplier<T> call) {
      return call.get();
    }

    /**
     * Makes a call that writes, or not.
     *
     * @param writes what it writes
     */
    default WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
      return call(call);
    }
  }

  /** Puts something around a driver. */
  public AroundDriver(StoreDriver driver, Around around) {
    this.driver = driver;
    this.around = around;
  }

  @Override
  public StoreProfile profile() {
    return driver.profile();
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return around.call(() -> driver.get(key, consistency));
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    return around.call(() -> BatchDriver.of(driver).getAll(keys));
  }

  @Override
  public WriteResult write(Write write) {
    return around.write(List.of(write), () -> driver.write(write));
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    return around.write(writes, () -> BatchDriver.of(driver).writeAll(writes, token));
  }

  @Override
  public Page scan(Scan scan) {
    return around.call(() -> ScanDriver.of(driver).scan(scan));
  }

  @Override
  public void close() {}
}
