package dev.quipu.engine.environment;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/** Where the engine's own threads come from and how they wait; a simulation has others. */
public interface Threads {
  /** Daemon threads of the virtual machine. */
  Threads PLATFORM =
      new Threads() {
        @Override
        public Thread start(String name, Runnable work) {
          return Thread.ofPlatform().name(name).daemon().start(work);
        }

        @Override
        public void await(Lock lock, Condition condition, long nanos) throws InterruptedException {
          // Callers look at what they wait for, and come back.
          @SuppressWarnings("WaitNotInLoop")
          long unused = condition.awaitNanos(nanos);
        }
      };

  /** Starts a thread. */
  Thread start(String name, Runnable work);

  /**
   * Waits for a signal, at most this long; may return early. The caller holds the lock of the
   * condition.
   */
  void await(Lock lock, Condition condition, long nanos) throws InterruptedException;

  /**
   * Waits for another thread of the engine, a second at most: that thread may have ended by an
   * error that kept it from saying so. An interrupt of the caller is kept for later.
   */
  default void awaitOther(Lock lock, Condition condition) {
    boolean interrupted = Thread.interrupted();
    try {
      await(lock, condition, TimeUnit.SECONDS.toNanos(1));
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until a thread has ended; an interrupt of the caller is kept for later. */
  static void join(Thread thread) {
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
