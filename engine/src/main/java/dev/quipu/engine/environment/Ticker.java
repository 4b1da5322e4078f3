package dev.quipu.engine.environment;

import dev.quipu.QuipuException;
import java.io.Closeable;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs work periodically, on its own thread, until it is closed or the engine ends. */
public final class Ticker implements Closeable {
  private static final Logger LOGGER = LoggerFactory.getLogger(Ticker.class);

  private final Threads threads;
  private final Failure failure;
  private final String name;
  private final Duration interval;
  private final Consumer<Ticker> round;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Thread thread;
  private boolean closed; // guarded by lock
  private boolean failing;

  public Ticker(
      Environment environment, Failure failure, String name, Duration interval, Runnable round) {
    this(environment, failure, name, interval, ticker -> round.run());
  }

  /** With rounds that {@link #pause}. */
  public Ticker(
      Environment environment,
      Failure failure,
      String name,
      Duration interval,
      Consumer<Ticker> round) {
    this.threads = environment.threads();
    this.failure = failure;
    this.name = name;
    this.interval = interval;
    this.round = round;
    this.thread = threads.start(name, failure.guarded(this::work));
  }

  private void work() {
    while (await(interval)) {
      // One more round after the engine has ended releases callers that nobody woke.
      boolean isLast = failure.hasEnded();
      try {
        round.accept(this);
        failing = false;
      } catch (QuipuException e) { // for example, the disk is full
        if (!failing && !failure.hasEnded()) {
          LOGGER
              .atWarn()
              .addKeyValue("thread", name)
              .setCause(e)
              .log("Periodic work failed; retrying");
        }
        failing = true;
      }
      if (isLast) {
        return;
      }
    }
  }

  /** Waits within a round; returns false if it was closed or the engine has ended. */
  public boolean pause(Duration time) {
    return await(time) && !failure.hasEnded();
  }

  private boolean await(Duration time) {
    lock.lock();
    try {
      if (!closed) {
        threads.await(lock, changed, time.toNanos());
      }
      return !closed;
    } catch (InterruptedException e) { // only by a virtual machine that is shutting down
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    Threads.join(thread);
  }
}
