package dev.quipu.engine;

import dev.quipu.store.StoreException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Brings the log to the disk every so often. Has a thread of its own. */
final class LogSyncer implements AutoCloseable {
  private final Committer committer;
  private final long everyNanos;
  private final Thread thread = new Thread(this::work, "quipu-log-syncer");
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition ended = lock.newCondition();
  private boolean closed; // guarded by lock

  LogSyncer(Committer committer, Duration every) {
    this.committer = committer;
    this.everyNanos = every.toNanos();
    thread.setDaemon(true);
    thread.start();
  }

  private void work() {
    try {
      while (awaitNext()) {
        committer.sync();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (StoreException e) {
      // the engine has stopped, and tells every caller
    }
  }

  private boolean awaitNext() throws InterruptedException {
    lock.lock();
    try {
      long left = everyNanos;
      while (!closed && left > 0) {
        left = ended.awaitNanos(left);
      }
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      ended.signalAll();
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
