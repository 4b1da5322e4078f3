package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.AddResult;
import dev.quipu.Counter;
import dev.quipu.NotAppliedException;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.Quipu;
import dev.quipu.Reason;
import dev.quipu.backend.Backends;
import dev.quipu.layer.ForwardingDriver;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.technique.Optimistic;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Calls with a deadline. */
final class CounterTimeoutTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  private final MemoryDriver memory = new MemoryDriver();
  private final CountDownLatch interrupted = new CountDownLatch(1);
  private Runnable beforeRead = () -> {};

  private final StoreDriver driver =
      new ForwardingDriver() {
        @Override
        protected StoreDriver driver() {
          return memory;
        }

        @Override
        public Optional<Item> get(Key key, Consistency consistency) {
          beforeRead.run();
          return super.get(key, consistency);
        }
      };

  private final Quipu quipu = Backends.on(driver, Optimistic::new);

  private Counter counter(Duration timeout) {
    return quipu.counter("a").withTimeout(timeout);
  }

  private void hang() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      interrupted.countDown();
      Thread.currentThread().interrupt();
      throw new OutcomeUnknownException(Reason.UNAVAILABLE, "interrupted", e);
    }
  }

  @Test
  void aCallInTimeReturnsItsResult() {
    Counter counter = counter(LONG);
    assertEquals(new AddResult.Applied(5, OptionalLong.of(5)), counter.add(5));
    assertEquals(5, counter.read().orElseThrow().value());
  }

  @Test
  void aCallThatHangsEndsAtItsDeadlineAndIsInterrupted() {
    beforeRead = this::hang;
    Counter counter = counter(Duration.ofMillis(50));
    long start = System.nanoTime();
    OutcomeUnknownException why =
        assertTimeoutPreemptively(
            LONG,
            () -> assertThrows(OutcomeUnknownException.class, () -> counter.add(1).isApplied()));
    assertEquals(Reason.TIMEOUT, why.reason());
    assertTrue(System.nanoTime() - start >= Duration.ofMillis(50).toNanos());
    assertTimeoutPreemptively(LONG, () -> interrupted.await());
    OutcomeUnknownException ofRead =
        assertTimeoutPreemptively(
            LONG, () -> assertThrows(OutcomeUnknownException.class, counter::read));
    assertEquals(Reason.TIMEOUT, ofRead.reason());
  }

  @Test
  void exceptionsPassThrough() {
    RuntimeException failure = new NotAppliedException(Reason.FULL, "full");
    beforeRead =
        () -> {
          throw failure;
        };
    assertSame(failure, assertThrows(NotAppliedException.class, () -> counter(LONG).read()));
    Error error = new StackOverflowError("on purpose");
    beforeRead =
        () -> {
          throw error;
        };
    assertSame(error, assertThrows(StackOverflowError.class, () -> counter(LONG).read()));
  }

  @Test
  void anInterruptEndsTheWaitAndIsKept() {
    beforeRead = this::hang;
    Thread.currentThread().interrupt();
    OutcomeUnknownException why =
        assertThrows(OutcomeUnknownException.class, () -> counter(LONG).read());
    assertTrue(Thread.interrupted());
    assertEquals(Reason.TIMEOUT, why.reason());
    assertInstanceOf(InterruptedException.class, why.getCause());
  }

  @Test
  void theDeadlineIsAtLeastAMillisecond() {
    Exception why =
        assertThrows(IllegalArgumentException.class, () -> counter(Duration.ofNanos(999_999)));
    assertEquals("timeout is 999999 ns; the minimum is 1 ms", why.getMessage());
    assertEquals("a", counter(Duration.ofMillis(1)).name());
  }
}
