package dev.quipu.time;

import java.time.Duration;

/** Provides time and waiting. Injected everywhere, so that tests control both. */
public interface Clock {
  /** Returns milliseconds since 1970-01-01T00:00Z. May jump, as wall clocks do. */
  long epochMillis();

  /** Returns nanoseconds since an arbitrary origin. Monotonic. */
  long nanoTime();

  /**
   * Waits.
   *
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  void sleep(Duration duration) throws InterruptedException;

  /** Returns the system clock. */
  static Clock system() {
    return SystemClock.INSTANCE;
  }
}
