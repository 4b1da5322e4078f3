package dev.quipu.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/**
 * Runs clients one at a time. Each has its own thread; at every {@link #switchClient} the source of
 * randomness picks the client that continues. So a seed determines the schedule.
 */
final class ClientScheduler {
  private final RandomGenerator random;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition switched = lock.newCondition();
  private final List<Integer> running = new ArrayList<>();
  private final ThreadLocal<Integer> self = new ThreadLocal<>();
  private int current = -1;

  ClientScheduler(RandomGenerator random) {
    this.random = random;
  }

  /** Runs all clients until each has ended. */
  void run(List<Runnable> clients) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int i = 0; i < clients.size(); i++) {
      running.add(i);
    }
    current = random.nextInt(clients.size());
    for (int i = 0; i < clients.size(); i++) {
      int number = i;
      threads.add(
          Thread.ofVirtual()
              .start(() -> {
                self.set(number);
                try {
                  await(number);
                  clients.get(number).run();
                } catch (RuntimeException | AssertionError e) {
                  synchronized (failures) {
                    failures.add(e);
                  }
                } finally {
                  leave(number);
                }
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (!failures.isEmpty()) {
      throw new IllegalStateException("a client failed", failures.getFirst());
    }
  }

  /** Continues with a random client. Does nothing on a thread that is not a client's. */
  void switchClient() {
    Integer number = self.get();
    if (number == null) {
      return;
    }
    lock.lock();
    try {
      current = running.get(random.nextInt(running.size()));
      switched.signalAll();
    } finally {
      lock.unlock();
    }
    await(number);
  }

  private void await(int number) {
    lock.lock();
    try {
      while (current != number) {
        switched.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  private void leave(int number) {
    lock.lock();
    try {
      running.remove(Integer.valueOf(number));
      if (!running.isEmpty()) {
        current = running.get(random.nextInt(running.size()));
      }
      switched.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
