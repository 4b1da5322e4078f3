package dev.quipu.time;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Runs a task repeatedly on its own thread, with a fixed delay between two rounds, until this is
 * closed.
 */
public final class Periodic implements AutoCloseable {
  private final Duration interval;
  private final Runnable round;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Thread thread;
  private boolean closed;

  /**
   * Starts the thread; the first round runs after one interval.
   *
   * @param name of the thread
   * @param round must not throw
   */
  public Periodic(String name, Duration interval, Runnable round) {
    this.interval = interval;
    this.round = round;
    this.thread = Thread.ofVirtual().name(name).start(this::run);
  }

  private void run() {
    while (!awaitNext()) {
      round.run();
    }
  }

  /** Waits for the next round; returns false if it was closed in the meantime. */
  private boolean awaitNext() {
    lock.lock();
    try {
      long left = interval.toNanos();
      while (!closed && left > 0) {
        left = changed.awaitNanos(left);
      }
      return closed;
    } catch (InterruptedException e) {
      return true; // interrupted only when the virtual machine shuts down
    } finally {
      lock.unlock();
    }
  }

  /** Stops, after the current round has ended. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
