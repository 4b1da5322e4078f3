package dev.quipu.display;

import dev.quipu.store.StoreException;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries what a {@link CacheFirst} counted to its durable counters, every few seconds and once
 * more when it is closed. Any number of processes may do it for the same counters.
 */
public final class WriteBack implements AutoCloseable {
  /** Shortest time between two rounds. */
  public static final Duration INTERVAL_MIN = Duration.ofMillis(100);

  /** Longest time between two rounds. */
  public static final Duration INTERVAL_MAX = Duration.ofHours(1);

  private static final Logger LOGGER = LoggerFactory.getLogger(WriteBack.class);

  private static final int AT_ONCE_MAX = 16;

  private final CacheFirst counters;
  private final Duration interval;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Thread thread;
  private boolean closed;

  /**
   * Starts at once.
   *
   * @param interval between two rounds, {@link #INTERVAL_MIN} to {@link #INTERVAL_MAX}
   */
  public WriteBack(CacheFirst counters, Duration interval) {
    if (interval.compareTo(INTERVAL_MIN) < 0 || interval.compareTo(INTERVAL_MAX) > 0) {
      throw new IllegalArgumentException(
          "interval is %s, the limits are %s and %s"
              .formatted(interval, INTERVAL_MIN, INTERVAL_MAX));
    }
    this.counters = counters;
    this.interval = interval;
    this.thread = Thread.ofVirtual().name("quipu-write-back").start(this::run);
  }

  private void run() {
    try (ExecutorService several =
        Executors.newFixedThreadPool(AT_ONCE_MAX, Thread.ofVirtual().factory())) {
      while (!awaitNext()) {
        round(several);
      }
      round(several);
    }
  }

  /** Whether it was closed in the meantime. */
  private boolean awaitNext() {
    lock.lock();
    try {
      long left = interval.toNanos();
      while (!closed && left > 0) {
        left = changed.awaitNanos(left);
      }
      return closed;
    } catch (InterruptedException e) {
      return true; // nobody interrupts it but a virtual machine that stops
    } finally {
      lock.unlock();
    }
  }

  private void round(Executor several) {
    try {
      counters.writeBack(several);
    } catch (StoreException e) {
      LOGGER.warn("A write-back was not finished; the next one goes on: {}", e.getMessage());
    } catch (RuntimeException e) {
      LOGGER.error("A write-back failed; the next one tries again", e);
    }
  }

  /** Ends it after a last round. */
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
