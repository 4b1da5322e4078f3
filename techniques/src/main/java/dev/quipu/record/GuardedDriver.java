package dev.quipu.record;

import dev.quipu.layer.ForwardingDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A driver that asks a {@link RecordGuard} before each write, but not for named values: those are
 * no counters, so nothing of the record concerns them. Closing it closes nothing.
 */
final class GuardedDriver extends ForwardingDriver {
  private final StoreDriver driver;
  private final RecordGuard guard;

  GuardedDriver(StoreDriver driver, RecordGuard guard) {
    this.driver = driver;
    this.guard = guard;
  }

  @Override
  protected StoreDriver driver() {
    return driver;
  }

  @Override
  public WriteResult write(Write write) {
    guard.requireMayWrite();
    return driver.write(write);
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    guard.requireMayWrite();
    return super.writeAll(writes, token);
  }

  @Override
  public void addTokens(Key key, String field, Set<String> tokens) {
    guard.requireMayWrite();
    driver.addTokens(key, field, tokens);
  }

  @Override
  public void dropTokens(Key key, String field, Set<String> tokens) {
    guard.requireMayWrite();
    driver.dropTokens(key, field, tokens);
  }

  @Override
  public int removeExpired(Instant before, int itemsMax) {
    guard.requireMayWrite();
    return driver.removeExpired(before, itemsMax);
  }

  @Override
  public void close() {}
}
