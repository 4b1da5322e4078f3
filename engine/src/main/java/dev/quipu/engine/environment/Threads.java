package dev.quipu.engine.environment;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * How the engine's threads are created and how they wait; simulations have another implementation.
 */
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
          // Callers recheck their condition and wait again.
          @SuppressWarnings("WaitNotInLoop")
          long unused = condition.awaitNanos(nanos);
        }
      };

  /** Starts a thread. */
  Thread start(String name, Runnable work);

  /**
   * Waits for a signal, at most this number of nanoseconds; may return early. The caller must hold
   * the lock of the condition.
   */
  void await(Lock lock, Condition condition, long nanos) throws InterruptedException;

  /**
   * Waits for another engine thread, at most a second: that thread may have died without a signal.
   * Preserves the interrupt status of the caller.
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

  /** Waits until a thread has ended; preserves the interrupt status of the caller. */
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
