package dev.quipu.engine;

import dev.quipu.time.Clock;
import java.time.Duration;

/** Simulated time. The monotonic clock advances; the wall clock may jump, also between runs. */
final class SimClock implements Clock {
  private static final long WALL_START_MILLIS = 1_750_000_000_000L;

  private long nanos = 1;
  private long leapedNanos;
  private long wallOffsetMillis = WALL_START_MILLIS;

  @Override
  public long epochMillis() {
    return wallOffsetMillis + nanos / 1_000_000;
  }

  @Override
  public long nanoTime() {
    return nanos;
  }

  @Override
  public void sleep(Duration duration) {
    throw new UnsupportedOperationException("the engine must not sleep");
  }

  void advance(long byNanos) {
    nanos += byNanos;
  }

  /** Advances the time at once, while runnable threads are kept from running. */
  void leap(long byNanos) {
    nanos += byNanos;
    leapedNanos += byNanos;
  }

  /** Returns the monotonic time without the leaps. */
  long calmNanos() {
    return nanos - leapedNanos;
  }

  /** Makes the wall clock jump. */
  void jump(long millis) {
    wallOffsetMillis += millis;
  }

  /** Ends a jump: the wall clock is correct again. */
  void correct() {
    wallOffsetMillis = WALL_START_MILLIS;
  }
}
