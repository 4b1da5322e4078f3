package dev.quipu.server.http;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import dev.quipu.view.ViewCounter;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** Views in a store in memory, whose first calls fail, so that the server replies 503. */
final class FailingViews {
  private final AtomicInteger failuresLeft;

  FailingViews(int callsThatFail) {
    failuresLeft = new AtomicInteger(callsThatFail);
  }

  /** From now on, no call fails. */
  void heal() {
    failuresLeft.set(0);
  }

  ViewCounter counter() {
    RetryPolicy once =
        new RetryPolicy(1, Duration.ofNanos(1), Duration.ofNanos(2), Duration.ofDays(1));
    InterceptingDriver driver =
        new InterceptingDriver(
            new MemoryDriver(),
            new InterceptingDriver.Interceptor() {
              @Override
              public <T> T call(Supplier<T> call) {
                if (failuresLeft.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                  throw new NotAppliedException(Reason.UNAVAILABLE, "the store is away");
                }
                return call.get();
              }
            });
    return new ViewCounter(new Store(driver, Clock.system(), Randomness.seeded(1), once));
  }
}
