package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.Compactions;
import dev.quipu.technique.ItemCollection;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Compactions of an item collection on DynamoDB Local. */
@SuppressWarnings("NullAway.Init") // JUnit calls open before each test
final class CollectionTest {
  private static final int CHANGES = 120; // more than fit into one transaction
  private static final Optional<Duration> AT_ONCE = Optional.of(Duration.ZERO);

  private StoreDriver driver;

  @BeforeEach
  void open() {
    driver = StoreProvider.open(Tables.newUri(Tables.server().endpoint(), Duration.ofMinutes(1)));
  }

  @AfterEach
  void close() {
    if (driver != null) {
      driver.close();
    }
  }

  private ItemCollection on(StoreDriver some) {
    return new ItemCollection(new Store(some, Clock.system()), Randomness.secure(), AT_ONCE);
  }

  private void add(int changes) {
    ItemCollection counters = on(driver);
    for (int i = 0; i < changes; i++) {
      counters.add(new Add("a", 1, RequestId.of("id " + i)));
    }
  }

  /** Ends the process of a compactor: all of its calls fail from then on. */
  private static final class Killed extends Error {
    private static final long serialVersionUID = 1;
  }

  @Test
  void compactorsKilledAtEveryStepLoseNothing() {
    int kills = 0;
    for (boolean isApplied : List.of(false, true)) {
      add(CHANGES);
      long expected = value();
      for (int last = 0; last < Integer.MAX_VALUE; last++) {
        InterceptingDriver dying = new InterceptingDriver(driver, killer(last, isApplied));
        boolean isDone = isCompacted(dying);
        assertEquals(expected, value(), "killed at call " + last);
        if (isDone) {
          break;
        }
        kills++;
        add(CHANGES); // again, under the same ids: those that were folded count again
        expected = value();
      }
      assertEquals(List.of(), on(driver).ledger("a"));
    }
    assertTrue(kills >= 6, "killed " + kills + " times");
  }

  private static boolean isCompacted(StoreDriver dying) {
    try {
      ItemCollection compactor =
          new ItemCollection(new Store(dying, Clock.system()), Randomness.secure(), AT_ONCE);
      compactor.compact("a", Duration.ZERO);
      return true;
    } catch (Killed killed) {
      return false;
    }
  }

  private static InterceptingDriver.Interceptor killer(int last, boolean isApplied) {
    AtomicInteger calls = new AtomicInteger();
    return new InterceptingDriver.Interceptor() {
      @Override
      public <T> T call(Supplier<T> call) {
        int number = calls.getAndIncrement();
        if (number == last && isApplied) {
          Object reply = call.get(); // it is lost
          assertNotNull(reply);
        }
        if (number >= last) {
          throw new Killed();
        }
        return call.get();
      }
    };
  }

  private long value() {
    return on(driver).read("a").orElseThrow().value();
  }

  @Test
  void aCompactionWhoseReplyIsLostIsContinued() {
    add(CHANGES);
    AtomicInteger losses = new AtomicInteger(2);
    ItemCollection unlucky =
        on(
            new InterceptingDriver(
                driver,
                new InterceptingDriver.Interceptor() {
                  @Override
                  public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
                    WriteResult result = call.get();
                    if (losses.getAndDecrement() > 0) {
                      throw new OutcomeUnknownException(Reason.UNAVAILABLE, "lost", null);
                    }
                    return result;
                  }
                }));
    List<String> failed = new ArrayList<>();
    for (int round = 0; round < 3; round++) {
      unlucky.compactAll(() -> true, (counter, failure) -> failed.add(counter));
      assertEquals(CHANGES, value());
    }
    assertEquals(List.of("a", "a"), failed);
    assertEquals(List.of(), on(driver).ledger("a"));
  }

  @Test
  void severalServersCompactWhileOthersAddAndRead() throws Exception {
    List<Compactions> servers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      servers.add(new Compactions(on(driver), Duration.ofMillis(20)));
    }
    try {
      ItemCollection counters = on(driver);
      for (int i = 1; i <= 100; i++) {
        counters.add(new Add("a", 1, null));
        assertEquals(Optional.of(Reading.exact(i)), counters.read("a"));
      }
      Progress.await("all changes folded", () -> counters.ledger("a").isEmpty());
      assertEquals(100, value());
    } finally {
      servers.forEach(Compactions::close);
    }
  }

  /** A read costs two reads of the base, and the changes since the last compaction. */
  @Test
  void aReadCostsTheChangesSinceTheLastCompaction() {
    AtomicInteger items = new AtomicInteger();
    AtomicInteger calls = new AtomicInteger();
    ItemCollection counted =
        on(
            new InterceptingDriver(
                driver,
                new InterceptingDriver.Interceptor() {
                  @Override
                  public <T> T call(Supplier<T> call) {
                    calls.incrementAndGet();
                    T result = call.get();
                    if (result instanceof Scan.Page page) {
                      items.addAndGet(page.items().size());
                    }
                    return result;
                  }
                }));
    for (int round = 1; round <= 3; round++) {
      add(CHANGES);
      items.set(0);
      calls.set(0);
      assertEquals((long) round * CHANGES, counted.read("a").orElseThrow().value());
      assertEquals(CHANGES, items.get()); // not those of earlier rounds
      assertEquals(3, calls.get());
      assertEquals(CHANGES, on(driver).compact("a", Duration.ZERO));
    }
    items.set(0);
    assertEquals(3 * CHANGES, counted.read("a").orElseThrow().value());
    assertEquals(0, items.get());
  }

  @Test
  void changesAreListedInPagesOrderedByTime() {
    ManualClock clock = new ManualClock(1_000_000);
    ItemCollection counters =
        new ItemCollection(new Store(driver, clock), Randomness.secure(), AT_ONCE);
    for (int i = 0; i < 50; i++) {
      counters.add(new Add("a", i + 1, null));
      clock.advance(Duration.ofMillis(i % 3)); // some have the same time
    }
    List<Long> found = new ArrayList<>();
    Optional<ItemCollection.Place> after = Optional.empty();
    for (boolean hasMore = true; hasMore; ) {
      ItemCollection.LedgerPage page = counters.ledger("a", after, 7);
      hasMore = page.hasMore();
      assertEquals(hasMore ? 7 : 1, page.changes().size());
      page.changes().forEach(change -> found.add(change.added()));
      ItemCollection.LedgerEntry last = page.changes().getLast();
      after = Optional.of(new ItemCollection.Place(last.at(), last.id()));
    }
    assertEquals(counters.ledger("a").stream().map(each -> each.added()).toList(), found);
    assertEquals(50, found.size());
    for (int i = 0; i + 3 < found.size(); i++) {
      assertTrue(found.get(i) <= found.get(i + 3) + 2, found.toString()); // by time
    }
  }
}
