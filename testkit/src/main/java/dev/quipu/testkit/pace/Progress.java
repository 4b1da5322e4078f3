package dev.quipu.testkit.pace;

import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Fails a test that hangs, not one that is slow: a machine may be three times slower than usual,
 * and a test that still advances is never cut off.
 */
public final class Progress {
  /** Longest time without progress before a test is considered to hang. */
  public static final Duration STALL_MAX = Duration.ofMinutes(5);

  private static final Duration LOOK_EVERY = Duration.ofMillis(5);

  private final String what;
  private final LongSupplier done;
  private final Clock clock;
  private long lastDone;
  private long changedNanos;

  /** A condition whose evaluation may fail. */
  public interface Condition {
    /** Returns whether the condition holds now. */
    boolean holds() throws Exception;
  }

  /**
   * Watches a number that changes as long as the work advances.
   *
   * @param what name of the work in the error
   * @param done returns the number, from any thread that checks
   */
  public Progress(String what, LongSupplier done) {
    this(what, done, Clock.system());
  }

  Progress(String what, LongSupplier done, Clock clock) {
    this.what = what;
    this.done = done;
    this.clock = clock;
    lastDone = done.getAsLong();
    changedNanos = clock.nanoTime();
  }

  /**
   * Checks that the number has changed within {@link #STALL_MAX}.
   *
   * @throws AssertionError if it has not
   */
  public void check() {
    long now = done.getAsLong();
    long nanos = clock.nanoTime();
    if (now != lastDone) {
      lastDone = now;
      changedNanos = nanos;
    } else if (nanos - changedNanos > STALL_MAX.toNanos()) {
      throw new AssertionError(what + ": no progress beyond " + now + " for " + STALL_MAX);
    }
  }

  /**
   * Waits until the number is at least {@code least}; fails only if it stops changing.
   *
   * @throws AssertionError if nothing changes within {@link #STALL_MAX}
   */
  public void awaitAtLeast(long least) throws InterruptedException {
    while (done.getAsLong() < least) {
      check();
      clock.sleep(LOOK_EVERY);
    }
  }

  /**
   * Waits for a single event, such as a reconnection or an expiry, polling every 5 ms.
   *
   * @throws AssertionError if it does not happen within {@link #STALL_MAX}
   */
  public static void await(String what, Condition condition) throws Exception {
    Progress progress = new Progress(what, () -> 0);
    while (!condition.holds()) {
      progress.check();
      progress.clock.sleep(LOOK_EVERY);
    }
  }
}
