package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Limits;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.Uncertainty;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.technique.ItemCollection;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What is folded, what is reported, and what readers see concurrently. */
final class ItemCollectionTest {
  private final ManualClock clock = new ManualClock(1_000_000);
  private final Store store = new Store(new MemoryDriver(), clock);
  private final ItemCollection counters = new ItemCollection(store, Randomness.secure());

  private void add(String id, long delta) {
    assertInstanceOf(AddResult.Applied.class, counters.add(new Add("a", delta, RequestId.of(id))));
  }

  private long value() {
    return counters.read("a").orElseThrow().value();
  }

  @Test
  void theLedgerReturnsChangesInOrderOfTime() {
    add("one", 5);
    clock.advance(Duration.ofSeconds(1));
    add("two", -2);
    clock.advance(Duration.ofSeconds(1));
    add("three", 1);
    counters.cancel("a", RequestId.of("four"));
    assertEquals(
        List.of(5L, -2L, 1L),
        counters.ledger("a").stream().map(ItemCollection.LedgerEntry::added).toList());
    assertEquals(4, value());
  }

  @Test
  void aSumBeyond64BitsIsReadAsTheNearestNumber() {
    add("one", Long.MAX_VALUE);
    add("two", 1);
    Reading beyond = counters.read("a").orElseThrow();
    assertEquals(Long.MAX_VALUE, beyond.value());
    assertEquals(Uncertainty.Cause.OVERFLOW, beyond.uncertainties().getFirst().cause());
    assertEquals(0, counters.compact("a", Duration.ZERO));
    add("three", -Long.MAX_VALUE);
    assertEquals(Optional.of(Reading.exact(1)), counters.read("a"));
    assertEquals(3, counters.compact("a", Duration.ZERO));
    assertEquals(Optional.of(Reading.exact(1)), counters.read("a"));
  }

  @Test
  void aChangeKeepsItsReason() {
    Add order = new Add("a", 5, RequestId.of("one"));
    assertInstanceOf(AddResult.Applied.class, counters.add(order, "order 981"));
    assertInstanceOf(AddResult.Replayed.class, counters.add(order, "another"));
    add("two", 1);
    assertEquals(
        List.of(Optional.of("order 981"), Optional.empty()),
        counters.ledger("a").stream()
            .map(ItemCollection.LedgerEntry::reason)
            .sorted(Comparator.comparing(Optional::isEmpty))
            .toList());
    assertThrows(
        IllegalArgumentException.class,
        () -> counters.add(order, "x".repeat(Limits.REASON_BYTES_MAX + 1)));
  }

  @Test
  void aCachedReadSaysHowOldItIs() {
    assertEquals(Optional.empty(), counters.read("a", Duration.ofMinutes(1)));
    add("one", 5);
    assertEquals(aged(5, 0), counters.read("a", Duration.ofMinutes(1)));
    add("two", 1);
    clock.advance(Duration.ofSeconds(60));
    assertEquals(aged(5, 60), counters.read("a", Duration.ofMinutes(1)));
    assertEquals(aged(6, 0), counters.read("a", Duration.ofSeconds(59)));
    clock.advance(Duration.ofSeconds(1));
    assertEquals(aged(6, 1), counters.read("a", Duration.ofMinutes(1)));
  }

  @Test
  void aReadIsCachedThoughAnotherCounterIsRead() {
    add("one", 5);
    counters.add(new Add("b", 1, RequestId.of("one")));
    assertEquals(aged(5, 0), counters.read("a", Duration.ofMinutes(1)));
    assertEquals(aged(1, 0), counters.read("b", Duration.ofMinutes(1)));
    clock.advance(Duration.ofSeconds(1));
    assertEquals(aged(5, 1), counters.read("a", Duration.ofMinutes(1)));
  }

  private static Optional<ItemCollection.Aged> aged(long value, long seconds) {
    return Optional.of(new ItemCollection.Aged(Reading.exact(value), Duration.ofSeconds(seconds)));
  }

  @Test
  void aCompactionKeepsTheValueAndWhatIsYoung() {
    for (int i = 0; i < 250; i++) {
      add("old" + i, 2);
    }
    clock.advance(Duration.ofHours(2));
    add("young", 3);
    assertEquals(250, counters.compact("a", Duration.ofHours(1)));
    assertEquals(503, value());
    assertEquals(1, counters.ledger("a").size());
    assertEquals(0, counters.compact("a", Duration.ofHours(1)));
    assertInstanceOf(
        AddResult.Replayed.class, counters.add(new Add("a", 3, RequestId.of("young"))));
    assertEquals(Optional.of(Reading.exact(503)), counters.read("a"));
  }

  @Test
  void aCancelStaysThroughACompaction() {
    counters.cancel("a", RequestId.of("never"));
    add("one", 1);
    clock.advance(Duration.ofHours(2));
    counters.compact("a", Duration.ZERO);
    assertInstanceOf(
        AddResult.Rejected.class, counters.add(new Add("a", 9, RequestId.of("never"))));
    assertEquals(1, value());
  }

  @Test
  void readersNeverSeeAChangeTwiceOrNotAtAllWhileSeveralCompact() throws Exception {
    for (int i = 0; i < 3_000; i++) {
      add("id" + i, 1);
    }
    AtomicBoolean done = new AtomicBoolean();
    try (ExecutorService executor = Executors.newFixedThreadPool(6)) {
      List<Future<Integer>> compactors = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        compactors.add(executor.submit(() -> counters.compact("a", Duration.ZERO)));
      }
      List<Future<Integer>> readers = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        readers.add(
            executor.submit(() -> {
              int reads = 0;
              while (!done.get() || reads == 0) {
                assertEquals(3_000, value());
                reads++;
              }
              return reads;
            }));
      }
      int folded = 0;
      for (Future<Integer> each : compactors) {
        folded += each.get();
      }
      done.set(true);
      assertEquals(3_000 - counters.ledger("a").size(), folded);
      assertTrue(folded > 0, "nothing was folded");
      for (Future<Integer> each : readers) {
        assertTrue(each.get() > 0);
      }
    }
    counters.compact("a", Duration.ZERO);
    assertEquals(List.of(), counters.ledger("a"));
    assertEquals(3_000, value());
  }

  /**
   * A compaction before each call of a read in turn: each time the read restarts, and is correct.
   */
  @Test
  void aReadBeginsAgainIfACompactionCameBetween() {
    for (int call = 0; call < 4; call++) {
      MemoryDriver memory = new MemoryDriver();
      ItemCollection compactor = new ItemCollection(new Store(memory, clock), Randomness.seeded(1));
      compactor.add(new Add("a", 5, RequestId.of("first")));
      compactor.compact("a", Duration.ZERO);
      compactor.add(new Add("a", 2, RequestId.of("second")));
      int[] callsUntil = {call};
      int[] calls = {0};
      InterceptingDriver between =
          new InterceptingDriver(
              memory,
              new InterceptingDriver.Interceptor() {
                @Override
                public <T> T call(Supplier<T> supplier) {
                  calls[0]++;
                  if (callsUntil[0]-- == 0) {
                    assertEquals(1, compactor.compact("a", Duration.ZERO));
                  }
                  return supplier.get();
                }
              });
      ItemCollection reader = new ItemCollection(new Store(between, clock), Randomness.seeded(2));
      assertEquals(Optional.of(Reading.exact(7)), reader.read("a"), "before call " + call);
      // The base, the changes, the base; again if it differs.
      assertEquals(call == 1 || call == 2 ? 6 : 3, calls[0], "before call " + call);
    }
  }

  @Test
  void aReadEndsIfACompactionComesBetweenEachTime() {
    MemoryDriver memory = new MemoryDriver();
    ItemCollection compactor = new ItemCollection(new Store(memory, clock), Randomness.seeded(1));
    int[] added = {0};
    boolean[] busy = {false};
    InterceptingDriver between =
        new InterceptingDriver(
            memory,
            new InterceptingDriver.Interceptor() {
              @Override
              public <T> T call(Supplier<T> supplier) {
                if (!busy[0]) {
                  busy[0] = true;
                  compactor.add(new Add("a", 1, RequestId.of("id" + added[0]++)));
                  assertEquals(1, compactor.compact("a", Duration.ZERO));
                  busy[0] = false;
                }
                return supplier.get();
              }
            });
    ItemCollection reader = new ItemCollection(new Store(between, clock), Randomness.seeded(2));
    QuipuException why = assertThrows(QuipuException.class, () -> reader.read("a"));
    assertEquals(Outcome.NOT_APPLIED, why.outcome());
    assertEquals(Reason.THROTTLED, why.reason());
  }

  @Test
  void aStoreThatDoesNotScanIsRejected() {
    Store plain = new Store(new LimitedDriver(new MemoryDriver(), Set.of()), clock);
    assertThrows(IllegalArgumentException.class, () -> new ItemCollection(plain));
  }

  @Test
  void withoutTransactionsItCountsAndIsNotCompacted() {
    Set<Capability> left = Set.of(Capability.STRONG_READ, Capability.ORDERED_SCAN);
    ItemCollection plain =
        new ItemCollection(new Store(new LimitedDriver(new MemoryDriver(), left), clock));
    plain.add(new Add("a", 7, null));
    assertThrows(UnsupportedOperationException.class, () -> plain.compact("a", Duration.ZERO));
    assertEquals(Optional.of(Reading.exact(7)), plain.read("a"));
  }
}
