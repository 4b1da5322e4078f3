package dev.quipu.time;

import java.time.Duration;

/** Tells the time and waits. Injected everywhere, so that a test owns both. */
public interface Clock {
  /** Milliseconds since 1970-01-01T00:00Z. May jump, as wall clocks do. */
  long epochMillis();

  /** Nanoseconds since some fixed moment. Never goes back. */
  long nanoTime();

  /**
   * Waits.
   *
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  void sleep(Duration duration) throws InterruptedException;

  /** The clock of this machine. */
  static Clock system() {
    return SystemClock.INSTANCE;
  }
}
