package dev.quipu.record;

import dev.quipu.layer.ForwardingDriver;
import dev.quipu.store.StoreDriver;
import java.time.Instant;
import java.util.function.Supplier;

/**
 * A driver that consults a {@link RecordGuard} before each write, except for named values, which
 * are not counters. Closing it has no effect.
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
  protected <T> T forwardWrite(Supplier<T> write) {
    guard.requireMayWrite();
    return super.forwardWrite(write);
  }

  @Override
  public int removeExpired(Instant before, int itemsMax) {
    guard.requireMayWrite();
    return super.removeExpired(before, itemsMax);
  }

  @Override
  public void close() {}
}
