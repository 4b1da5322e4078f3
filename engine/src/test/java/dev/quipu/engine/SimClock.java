package dev.quipu.engine;

import dev.quipu.time.Clock;
import java.time.Duration;

/** Simulated time. The monotonic clock moves on; the wall clock may jump, also from run to run. */
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
    throw new UnsupportedOperationException("the engine does not sleep");
  }

  void advance(long byNanos) {
    nanos += byNanos;
  }

  /** Lets much time pass at once, while threads that could go on are not let. */
  void leap(long byNanos) {
    nanos += byNanos;
    leapedNanos += byNanos;
  }

  /** Returns the monotonic time without the leaps. */
  long calmNanos() {
    return nanos - leapedNanos;
  }

  /** Lets the wall clock jump. */
  void jump(long millis) {
    wallOffsetMillis += millis;
  }

  /** Ends a jump: the wall clock is right again. */
  void correct() {
    wallOffsetMillis = WALL_START_MILLIS;
  }
}
