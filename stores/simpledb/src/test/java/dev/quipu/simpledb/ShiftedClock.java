package dev.quipu.simpledb;

import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** The system clock with an adjustable offset, to avoid waiting. */
final class ShiftedClock implements Clock {
  private final AtomicLong millis = new AtomicLong();

  void advance(Duration duration) {
    millis.addAndGet(duration.toMillis());
  }

  @Override
  public long epochMillis() {
    return Clock.system().epochMillis() + millis.get();
  }

  @Override
  public long nanoTime() {
    return Clock.system().nanoTime() + millis.get() * 1_000_000;
  }

  @Override
  public void sleep(Duration duration) throws InterruptedException {
    Clock.system().sleep(duration);
  }
}
