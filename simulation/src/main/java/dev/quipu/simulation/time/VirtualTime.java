package dev.quipu.simulation.time;

import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A clock that advances only when all clients wait, and then directly to the first moment at which
 * one continues. Hours of load take seconds, and the same load gives the same run.
 */
public final class VirtualTime implements Clock {
  private final ReentrantLock lock = new ReentrantLock();
  private final PriorityQueue<Turn> waiting = new PriorityQueue<>();
  private final Map<Thread, Turn> clients = new ConcurrentHashMap<>();
  private long turns;
  private final AtomicLong now = new AtomicLong();

  /** Starts at 0. */
  public VirtualTime() {}

  /** The moment at which one client continues; ties are resolved in order of arrival. */
  private static final class Turn implements Comparable<Turn> {
    final Condition comes;
    long atNanos;
    long number;
    boolean isRunning;

    Turn(Condition comes) {
      this.comes = comes;
    }

    @Override
    public int compareTo(Turn other) {
      int byTime = Long.compare(atNanos, other.atNanos);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }
  }

  /** Runs all clients until they have ended. */
  public void run(List<Runnable> all) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (Runnable client : all) {
      Turn turn = new Turn(lock.newCondition());
      enqueue(turn, 0);
      threads.add(Thread.ofVirtual().unstarted(() -> run(client, turn, failures)));
    }
    threads.forEach(Thread::start);
    lock.lock();
    try {
      passOn();
    } finally {
      lock.unlock();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (!failures.isEmpty()) {
      throw new IllegalStateException("a client failed", failures.getFirst());
    }
  }

  private void run(Runnable client, Turn turn, List<Throwable> failures) {
    clients.put(Thread.currentThread(), turn);
    lock.lock();
    try {
      await(turn);
    } finally {
      lock.unlock();
    }
    try {
      client.run();
    } catch (RuntimeException e) {
      failures.add(e); // one client runs at a time
    } finally {
      clients.remove(Thread.currentThread());
      lock.lock();
      try {
        passOn();
      } finally {
        lock.unlock();
      }
    }
  }

  private void enqueue(Turn turn, long nanos) {
    turn.atNanos = now.get() + nanos;
    turn.number = turns++;
    turn.isRunning = false;
    waiting.add(turn);
  }

  private void passOn() {
    Turn next = waiting.poll();
    if (next != null) {
      now.set(next.atNanos);
      next.isRunning = true;
      next.comes.signal();
    }
  }

  private static void await(Turn turn) {
    while (!turn.isRunning) {
      turn.comes.awaitUninterruptibly();
    }
  }

  @Override
  public void sleep(Duration duration) {
    lock.lock();
    try {
      Turn turn = clients.get(Thread.currentThread());
      if (turn == null) {
        now.addAndGet(duration.toNanos()); // not a client: no other client moves
        return;
      }
      enqueue(turn, Math.max(0, duration.toNanos()));
      passOn();
      await(turn);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public long epochMillis() {
    return now.get() / 1_000_000;
  }

  @Override
  public long nanoTime() {
    return now.get();
  }
}
