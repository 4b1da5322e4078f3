package dev.quipu.time;

import java.time.Duration;

/** The system clock. */
enum SystemClock implements Clock {
  INSTANCE;

  @Override
  public long epochMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public void sleep(Duration duration) throws InterruptedException {
    Thread.sleep(duration);
  }
}
