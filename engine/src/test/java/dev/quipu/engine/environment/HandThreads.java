package dev.quipu.engine.environment;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * Threads without passing time: one of them continues when the test wakes it, and all others when
 * they are signalled.
 */
public final class HandThreads implements Threads {
  private final String name;
  private final List<Long> waits = Collections.synchronizedList(new ArrayList<>());
  private final Semaphore waiting = new Semaphore(0);
  private final Semaphore othersWaiting = new Semaphore(0);
  private volatile @Nullable Runnable signal;
  private volatile @Nullable Thread thread;

  /**
   * Creates the threads.
   *
   * @param name of the thread that the test wakes
   */
  public HandThreads(String name) {
    this.name = name;
  }

  @Override
  public Thread start(String called, Runnable work) {
    Thread started = Threads.PLATFORM.start(called, work);
    if (called.equals(name)) {
      thread = started;
    }
    return started;
  }

  @Override
  @SuppressWarnings("WaitNotInLoop") // callers recheck their condition and wait again
  public void await(Lock lock, Condition condition, long nanos) throws InterruptedException {
    if (Thread.currentThread().getName().equals(name)) {
      waits.add(nanos);
      signal =
          () -> {
            lock.lock();
            try {
              condition.signalAll();
            } finally {
              lock.unlock();
            }
          };
      waiting.release();
    } else {
      othersWaiting.release();
    }
    condition.await();
  }

  public Thread thread() {
    return Objects.requireNonNull(thread);
  }

  /** Returns the requested waiting times of the thread, in nanoseconds. */
  public List<Long> waits() {
    return List.copyOf(waits);
  }

  /** Returns when the thread has begun to wait. */
  public void awaitWaiting() {
    try {
      while (!waiting.tryAcquire(10, TimeUnit.MILLISECONDS)) {
        if (!thread().isAlive()) {
          throw new AssertionError(name + " has ended");
        }
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Wakes the thread when it waits. */
  public void wake() {
    awaitWaiting();
    Objects.requireNonNull(signal).run();
  }

  /** Wakes the thread when it waits, and returns when it waits again. */
  public void round() {
    wake();
    awaitWaiting();
    waiting.release();
  }

  /** Returns when another thread has begun to wait. */
  public void awaitOther() {
    othersWaiting.acquireUninterruptibly();
  }
}
