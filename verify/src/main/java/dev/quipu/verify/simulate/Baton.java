package dev.quipu.verify.simulate;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/**
 * Lets one client run at a time. Each has a thread of its own, but only the one with the baton
 * works; at every {@link #pass} chance picks who goes on. So one seed is one schedule.
 */
final class Baton {
  private final RandomGenerator random;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition passed = lock.newCondition();
  private final List<Integer> running = new ArrayList<>();
  private final ThreadLocal<Integer> self = new ThreadLocal<>();
  private int holder = -1;

  Baton(RandomGenerator random) {
    this.random = random;
  }

  /** Runs all clients to their end. */
  void run(List<Runnable> clients) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int i = 0; i < clients.size(); i++) {
      running.add(i);
    }
    holder = random.nextInt(clients.size());
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

  /** Lets chance pick who goes on. Does nothing on a thread that is no client. */
  void pass() {
    Integer number = self.get();
    if (number == null) {
      return;
    }
    lock.lock();
    try {
      holder = running.get(random.nextInt(running.size()));
      passed.signalAll();
    } finally {
      lock.unlock();
    }
    await(number);
  }

  private void await(int number) {
    lock.lock();
    try {
      while (holder != number) {
        passed.awaitUninterruptibly();
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
        holder = running.get(random.nextInt(running.size()));
      }
      passed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
