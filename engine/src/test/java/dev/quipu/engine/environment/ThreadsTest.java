package dev.quipu.engine.environment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The engine's own threads, and how they wait for each other. */
final class ThreadsTest {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition condition = lock.newCondition();

  /** Records the waits, and whether the caller is interrupted by then. */
  private static final class Noting implements Threads {
    private final List<String> waits = new ArrayList<>();
    private boolean isInterrupted;

    @Override
    public Thread start(String name, Runnable work) {
      throw new AssertionError("no thread is needed");
    }

    @Override
    public void await(Lock lock, Condition condition, long nanos) throws InterruptedException {
      waits.add(nanos + " ns, interrupted: " + Thread.currentThread().isInterrupted());
      if (isInterrupted) {
        throw new InterruptedException();
      }
    }
  }

  @AfterEach
  void clearInterrupt() {
    boolean unused = Thread.interrupted();
  }

  @Test
  void threadsOfThePlatformAreNamedDaemons() {
    List<Thread> ran = new ArrayList<>();
    Thread thread = Threads.PLATFORM.start("quipu-test", () -> ran.add(Thread.currentThread()));
    Threads.join(thread);
    assertEquals(List.of(thread), ran);
    assertEquals("quipu-test", thread.getName());
    assertTrue(thread.isDaemon());
  }

  @Test
  void aWaitOfThePlatformEndsByASignalOrItself() throws InterruptedException {
    List<Boolean> signals = new ArrayList<>();
    lock.lock();
    try {
      Threads.PLATFORM.await(lock, condition, 1);
      Thread other = Threads.PLATFORM.start("quipu-test", () -> signal(signals));
      while (signals.isEmpty()) {
        Threads.PLATFORM.await(lock, condition, Long.MAX_VALUE);
      }
      assertTrue(lock.isHeldByCurrentThread());
      lock.unlock();
      Threads.join(other);
    } finally {
      lock.lock();
    }
    assertEquals(List.of(true), signals);
  }

  private void signal(List<Boolean> signals) {
    lock.lock();
    try {
      signals.add(true);
      condition.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Test
  void anotherThreadIsWaitedForASecond() {
    Noting threads = new Noting();
    threads.awaitOther(lock, condition);
    assertEquals(List.of("1000000000 ns, interrupted: false"), threads.waits);
    assertFalse(Thread.currentThread().isInterrupted());
  }

  @Test
  void anInterruptBeforeTheWaitIsKeptUntilItsEnd() {
    Noting threads = new Noting();
    Thread.currentThread().interrupt();
    threads.awaitOther(lock, condition);
    assertEquals(List.of("1000000000 ns, interrupted: false"), threads.waits);
    assertTrue(Thread.interrupted());
  }

  @Test
  void anInterruptOfTheWaitIsKept() {
    Noting threads = new Noting();
    threads.isInterrupted = true;
    threads.awaitOther(lock, condition);
    assertEquals(1, threads.waits.size());
    assertTrue(Thread.interrupted());
  }
}
