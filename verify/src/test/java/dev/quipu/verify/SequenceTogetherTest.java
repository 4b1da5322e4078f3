package dev.quipu.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.RequestId;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.store.Consistency;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.MemoryDriver;
import dev.quipu.store.Outcome;
import dev.quipu.store.Page;
import dev.quipu.store.Reason;
import dev.quipu.store.RequestToken;
import dev.quipu.store.Scan;
import dev.quipu.store.Store;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreException;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Records that come while a transaction is under way go in the next one. */
final class SequenceTogetherTest {
  private static final int WRITERS = 20; // one before, the others together
  private static final String SERIES = "series";

  private final GatedDriver driver = new GatedDriver();
  private final SequenceOfRecords sequence =
      new SequenceOfRecords(new Store(driver, Clock.system()));
  private final ConcurrentLinkedQueue<Long> numbers = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<StoreException> failures = new ConcurrentLinkedQueue<>();

  /** Lets one transaction after the other through; the second may fail. */
  private static final class GatedDriver implements StoreDriver {
    final CountDownLatch firstIsHere = new CountDownLatch(1);
    final Semaphore gate = new Semaphore(0);
    final List<Integer> sizes = new ArrayList<>();
    private final MemoryDriver memory = new MemoryDriver();
    @Nullable RuntimeException failure;
    @Nullable Error death;

    @Override
    public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
      firstIsHere.countDown();
      gate.acquireUninterruptibly();
      sizes.add(writes.size() / 2); // a note and a record each
      if (sizes.size() > 1 && failure != null) {
        throw failure;
      }
      if (sizes.size() > 1 && death != null) {
        throw death;
      }
      return memory.writeAll(writes, token);
    }

    @Override
    public StoreProfile profile() {
      return memory.profile();
    }

    @Override
    public Optional<Item> get(Key key, Consistency consistency) {
      return memory.get(key, consistency);
    }

    @Override
    public List<Optional<Item>> getAll(List<Key> keys) {
      return memory.getAll(keys);
    }

    @Override
    public WriteResult write(Write write) {
      return memory.write(write);
    }

    @Override
    public Page scan(Scan scan) {
      return memory.scan(scan);
    }

    @Override
    public void close() {
      memory.close();
    }
  }

  /** One writer is under way when all others come; then the gate opens. */
  private void run() throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    threads.add(start(0));
    driver.firstIsHere.await();
    IntStream.range(1, WRITERS).forEach(writer -> threads.add(start(writer)));
    for (Thread thread : threads) {
      while (thread.getState() != Thread.State.WAITING) {
        Clock.system().sleep(Duration.ofMillis(1));
      }
    }
    driver.gate.release(1_000);
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private Thread start(int writer) {
    return Thread.ofPlatform()
        .start(() -> {
          try {
            numbers.add(sequence.add(SERIES, "", RequestId.of("writer " + writer)).number());
          } catch (StoreException e) {
            failures.add(e);
          } catch (OutOfMemoryError e) {
            numbers.add(0L); // of the one whose process would be dead
          }
        });
  }

  @Test
  void theyGoInOneTransactionInARow() throws InterruptedException {
    run();
    assertEquals(List.of(1, WRITERS - 1), driver.sizes);
    assertEquals(
        LongStream.rangeClosed(1, WRITERS).boxed().toList(), numbers.stream().sorted().toList());
  }

  @Test
  void whatIsUnknownOfOneIsUnknownOfAll() throws InterruptedException {
    driver.failure = StoreException.unknown(Reason.CORRUPT, "lost", null); // and not repeated
    run();
    assertEquals(List.of(1L), List.copyOf(numbers));
    assertEquals(WRITERS - 1, failures.size());
    assertTrue(failures.stream().allMatch(each -> each.outcome() == Outcome.UNKNOWN));
  }

  @Test
  void whoDiesLeavesNobodyWaiting() throws InterruptedException {
    driver.death = new OutOfMemoryError("for a test");
    run();
    assertEquals(List.of(0L, 1L), numbers.stream().sorted().toList());
    assertEquals(WRITERS - 2, failures.size());
    assertTrue(failures.stream().allMatch(each -> each.outcome() == Outcome.UNKNOWN));
  }
}
