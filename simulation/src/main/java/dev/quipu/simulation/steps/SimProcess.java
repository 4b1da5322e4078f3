package dev.quipu.simulation.steps;

import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;

/**
 * A simulated process with its own threads and clock. It may be paused, and may be killed, after
 * which none of its threads runs again, not even a {@code finally}. Only its own threads may wait
 * on its clock.
 */
public final class SimProcess implements Clock, Executor {
  private final StepScheduler scheduler;
  private long skewNanos;
  private long pausedUntilNanos = Long.MIN_VALUE;
  private boolean isKilled;
  private int threads;

  SimProcess(StepScheduler scheduler, Duration skew) {
    this.scheduler = scheduler;
    this.skewNanos = skew.toNanos();
  }

  /** Starts a thread. An exception that it throws ends the simulation. */
  public void start(Runnable work) {
    threads++;
    StepScheduler.thread(
            this,
            () -> {
              try {
                work.run();
              } catch (Throwable e) {
                scheduler.failed(e);
              } finally {
                threads--;
              }
            })
        .start();
  }

  /** Returns whether it has not been killed. */
  public boolean isAlive() {
    return !isKilled;
  }

  /** Returns whether any of its threads has not ended. */
  public boolean isRunning() {
    return !isKilled && threads > 0;
  }

  /** Kills it. If the caller is one of its threads, this does not return. */
  public void kill() {
    isKilled = true;
    if (Thread.currentThread().isVirtual()) {
      park();
    }
  }

  /** Pauses all its threads for a while, like a garbage collection or a hypervisor. */
  public void pause(Duration duration) {
    pausedUntilNanos =
        Math.max(pausedUntilNanos, scheduler.nowNanos() + Math.max(0, duration.toNanos()));
    if (Thread.currentThread().isVirtual()) {
      sleep(Duration.ZERO);
    }
  }

  /** Sets its wall clock. */
  public void skew(Duration skew) {
    skewNanos = skew.toNanos();
  }

  @Override
  public void execute(Runnable continuation) {
    if (!isKilled) {
      scheduler.ready(this, continuation);
    }
  }

  /** Runs a thread until it waits, unless the process is paused. */
  void resume(Runnable continuation) {
    if (isKilled) {
      return;
    }
    if (pausedUntilNanos > scheduler.nowNanos()) {
      scheduler.after(
          Duration.ofNanos(pausedUntilNanos - scheduler.nowNanos()), () -> execute(continuation));
      return;
    }
    continuation.run();
  }

  @Override
  public void sleep(Duration duration) {
    Thread current = Thread.currentThread();
    boolean[] isOver = new boolean[1];
    scheduler.after(
        duration,
        () -> {
          isOver[0] = true;
          LockSupport.unpark(current);
        });
    while (!isOver[0]) {
      LockSupport.park();
    }
  }

  private static void park() {
    while (true) {
      LockSupport.park();
    }
  }

  @Override
  public long epochMillis() {
    return scheduler.epochMillis() + skewNanos / 1_000_000;
  }

  @Override
  public long nanoTime() {
    return scheduler.nowNanos();
  }
}
