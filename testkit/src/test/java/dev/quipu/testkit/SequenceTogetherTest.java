package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Records that arrive during a transaction are stored in the next one. */
final class SequenceTogetherTest {
  private static final int WRITERS = 20; // one before, the others together
  private static final String SERIES = "series";

  private final MemoryDriver memory = new MemoryDriver();
  private final Gate gate = new Gate();
  private SequenceOfRecords sequence = onGate(memory);
  private String payload = ""; // of all
  private final ConcurrentLinkedQueue<Long> numbers = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<QuipuException> failures = new ConcurrentLinkedQueue<>();

  /** Lets transactions through one after the other; the second may fail. */
  private static final class Gate implements InterceptingDriver.Interceptor {
    final CountDownLatch firstIsHere = new CountDownLatch(1);
    final Semaphore open = new Semaphore(0);
    final List<Integer> sizes = new ArrayList<>();
    @Nullable RuntimeException failure;
    @Nullable Error death;
    Runnable afterFirst = () -> {};
    boolean isReplyLost; // of the first transaction of several records that is applied

    @Override
    public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
      firstIsHere.countDown();
      open.acquireUninterruptibly();
      sizes.add((writes.size() + 1) / 2); // a note and a record each, or one record
      if (sizes.size() > 1 && failure != null) {
        throw failure;
      }
      if (sizes.size() > 1 && death != null) {
        throw death;
      }
      WriteResult result = call.get();
      if (sizes.size() == 1) {
        afterFirst.run();
      } else if (isReplyLost && result instanceof WriteResult.Applied) {
        isReplyLost = false;
        throw new OutcomeUnknownException(Reason.TIMEOUT, "for a test", null);
      }
      return result;
    }
  }

  private SequenceOfRecords onGate(StoreDriver driver) {
    return new SequenceOfRecords(new Store(new InterceptingDriver(driver, gate), Clock.system()));
  }

  /** Holds one writer in a transaction until all others have arrived; then the gate opens. */
  private void run() throws InterruptedException {
    run(writer -> RequestId.of("writer " + writer));
  }

  private void run(IntFunction<@Nullable RequestId> ids) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    threads.add(start(0, ids));
    gate.firstIsHere.await();
    IntStream.range(1, WRITERS).forEach(writer -> threads.add(start(writer, ids)));
    for (Thread thread : threads) {
      while (thread.getState() != Thread.State.WAITING) {
        Clock.system().sleep(Duration.ofMillis(1));
      }
    }
    gate.open.release(1_000);
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private Thread start(int writer, IntFunction<@Nullable RequestId> ids) {
    return Thread.ofPlatform()
        .start(() -> {
          try {
            numbers.add(sequence.add(SERIES, payload, ids.apply(writer)).number());
          } catch (QuipuException e) {
            failures.add(e);
          } catch (OutOfMemoryError e) {
            numbers.add(0L); // of the one whose process has crashed
          }
        });
  }

  @Test
  void concurrentRecordsShareATransaction() throws InterruptedException {
    run();
    assertEquals(List.of(1, WRITERS - 1), gate.sizes);
    assertEquals(
        LongStream.rangeClosed(1, WRITERS).boxed().toList(), numbers.stream().sorted().toList());
  }

  @Test
  void aTransactionHasNoMoreBytesThanAnyStoreTakes() throws InterruptedException {
    payload = "x".repeat(SequenceOfRecords.PAYLOAD_BYTES_MAX);
    run();
    assertEquals(List.of(1, 4, 4, 4, 4, 3), gate.sizes);
    assertEquals(
        LongStream.rangeClosed(1, WRITERS).boxed().toList(), numbers.stream().sorted().toList());
  }

  /** A record and a note each. */
  @Test
  void aTransactionHasNoMoreItemsThanItsStoreTakes() throws InterruptedException {
    sequence = onGate(ProfiledDriver.ofBatches(memory, "small", 10));
    run();
    assertEquals(List.of(1, 5, 5, 5, 4), gate.sizes);
    assertEquals(
        LongStream.rangeClosed(1, WRITERS).boxed().toList(), numbers.stream().sorted().toList());
  }

  @Test
  void anUnknownOutcomeOfOneIsUnknownForAll() throws InterruptedException {
    gate.failure = new OutcomeUnknownException(Reason.CORRUPT, "lost", null); // and not repeated
    run();
    assertEquals(List.of(1L), List.copyOf(numbers));
    assertEquals(WRITERS - 1, failures.size());
    assertTrue(failures.stream().allMatch(each -> each.outcome() == Outcome.UNKNOWN));
  }

  @Test
  void aCrashedWriterLeavesNoOtherWaiting() throws InterruptedException {
    gate.death = new OutOfMemoryError("for a test");
    run();
    assertEquals(List.of(0L, 1L), numbers.stream().sorted().toList());
    assertEquals(WRITERS - 2, failures.size());
    assertTrue(failures.stream().allMatch(each -> each.outcome() == Outcome.UNKNOWN));
  }

  /**
   * The fifteenth foreign record in a row is the last before they search for the highest number.
   */
  @Test
  void whatTheyStoredThemselvesIsNotPassed() throws InterruptedException {
    gate.afterFirst =
        () ->
            IntStream.range(0, 15)
                .forEach(i ->
                    new SequenceOfRecords(new Store(memory, Clock.system())).add(SERIES, "other"));
    gate.isReplyLost = true;
    run(writer -> null);
    assertEquals(15 + WRITERS, sequence.last(SERIES));
    assertEquals(WRITERS, Set.copyOf(numbers).size());
  }
}
