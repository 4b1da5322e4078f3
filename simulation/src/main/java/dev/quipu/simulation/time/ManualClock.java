package dev.quipu.simulation.time;

import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock that advances only on request. For tests: {@link #sleep} returns immediately and advances
 * the clock by the requested duration.
 */
public final class ManualClock implements Clock {
  private final AtomicLong wallNanos;
  private final AtomicLong monotonicNanos = new AtomicLong();

  /** Starts at {@code epochMillis}, in milliseconds since 1970-01-01T00:00Z. */
  public ManualClock(long epochMillis) {
    wallNanos = new AtomicLong(Math.multiplyExact(epochMillis, 1_000_000L));
  }

  /** Advances both the wall clock and the monotonic clock. */
  public void advance(Duration duration) {
    wallNanos.addAndGet(duration.toNanos());
    monotonicNanos.addAndGet(duration.toNanos());
  }

  /** Moves only the wall clock, forward or back, as an operator or a time server would. */
  public void jump(Duration duration) {
    wallNanos.addAndGet(duration.toNanos());
  }

  @Override
  public long epochMillis() {
    return Math.floorDiv(wallNanos.get(), 1_000_000L);
  }

  @Override
  public long nanoTime() {
    return monotonicNanos.get();
  }

  @Override
  public void sleep(Duration duration) {
    advance(duration);
  }
}
