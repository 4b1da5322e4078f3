package dev.quipu.postgresql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.ItemResult;
import dev.quipu.Limits;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.MarkerItem;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.junit.jupiter.api.Test;

/** Many more callers than connections, on one row. */
final class HotCounterTest {
  private static final int CALLERS = 20_000;
  private static final String COUNTER = "hot";

  private static RequestId id(int caller) {
    return RequestId.of("request-%06d".formatted(caller));
  }

  private static Add add(int caller) {
    return new Add(COUNTER, 1, id(caller));
  }

  private static ItemResult result(MarkerItem counters, int caller) {
    try {
      return counters.add(add(caller));
    } catch (RuntimeException e) {
      return new ItemResult.Failed(e);
    }
  }

  @Test
  void eachAddIsCountedOrRejectedBeforeAnyEffect() throws Exception {
    String uri = Databases.newUri(Databases.SERVER.port(), Duration.ofMinutes(1));
    try (StoreDriver driver = StoreProvider.open(uri)) {
      Store store = new Store(driver, Clock.system());
      MarkerItem counters = new MarkerItem(store);
      AtomicReferenceArray<ItemResult> results = new AtomicReferenceArray<>(CALLERS);
      AtomicInteger done = new AtomicInteger();
      CountDownLatch start = new CountDownLatch(1);
      for (int i = 0; i < CALLERS; i++) {
        int caller = i;
        Thread.startVirtualThread(() -> {
          try {
            start.await();
            results.set(caller, result(counters, caller));
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          } finally {
            done.incrementAndGet();
          }
        });
      }
      start.countDown();
      new Progress("adds to one row", done::get).awaitAtLeast(CALLERS);
      long counted = 0;
      for (int i = 0; i < CALLERS; i++) {
        switch (results.get(i)) {
          case AddResult.Applied applied -> counted += applied.added();
          case ItemResult.Failed failed when failed.cause() instanceof QuipuException e -> {
            assertEquals(Outcome.NOT_APPLIED, e.outcome(), e.getMessage());
            assertTrue(String.valueOf(e.getMessage()).contains("nothing was sent"), e.getMessage());
          }
          default -> throw new AssertionError("caller " + i + ": " + results.get(i));
        }
      }
      long markers =
          ScanDriver.of(driver).count(Scan.all("counter/" + COUNTER)) - 1; // less the number
      assertEquals(counted, counters.read(COUNTER).orElseThrow().value());
      assertEquals(counted, markers);
    }
  }

  /** Each line of a large batch has its own definite result, even after the timeout. */
  @Test
  void eachAddOfALargeBatchHasADefiniteResult() {
    int lines = Limits.BULK_ADDS_MAX;
    int inTime = lines * 3 / 4;
    String uri = Databases.newUri(Databases.SERVER.port(), Duration.ofMinutes(1));
    try (StoreDriver driver = StoreProvider.open(uri)) {
      MarkerItem counters = new MarkerItem(new Store(driver, Clock.system()));
      List<Add> adds = new ArrayList<>();
      for (int i = 0; i < lines; i++) {
        adds.add(new Add("bulk" + (i % 50), 1, id(i)));
      }
      AtomicInteger begun = new AtomicInteger();
      List<ItemResult> results = counters.addAll(adds, () -> begun.incrementAndGet() <= inTime);
      long counted = 0;
      for (ItemResult each : results) {
        switch (each) {
          case AddResult.Applied applied -> counted += applied.added();
          case ItemResult.Failed failed when failed.cause() instanceof QuipuException e -> {
            assertEquals(Outcome.NOT_APPLIED, e.outcome(), e.getMessage());
            assertEquals(Reason.TIMEOUT, e.reason(), e.getMessage());
          }
          default -> throw new AssertionError("line: " + each);
        }
      }
      assertEquals(inTime, counted);
      long sum = 0;
      for (int i = 0; i < 50; i++) {
        sum += counters.read("bulk" + i).map(Reading::value).orElse(0L);
      }
      assertEquals(counted, sum);
    }
  }

  /** While all connections wait for a lock, other calls are rejected before they are sent. */
  @Test
  void withoutAFreeConnectionACallIsRejectedBeforeItIsSent() throws Exception {
    String uri = Databases.newUri(Databases.SERVER.port(), Duration.ofMillis(500));
    try (StoreDriver driver = StoreProvider.open(uri + "&connections=1")) {
      Write add = add("held");
      driver.write(add);
      String table = Databases.table(uri);
      try (Connection other = Databases.connection();
          Statement lock = other.createStatement();
          ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
        other.setAutoCommit(false);
        lock.execute("LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE");
        List<Future<QuipuException>> calls = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
          Write each = add("other" + i);
          calls.add(
              executor.submit(() -> assertThrows(QuipuException.class, () -> driver.write(each))));
        }
        int unknown = 0;
        int rejected = 0;
        for (Future<QuipuException> call : calls) {
          QuipuException e = call.get();
          if (e.outcome() == Outcome.UNKNOWN) {
            unknown++;
          } else if (e.reason() == Reason.THROTTLED) {
            assertTrue(String.valueOf(e.getMessage()).contains("connections (1)"), e.getMessage());
            rejected++;
          }
        }
        assertTrue(unknown >= 1, "none was sent");
        assertTrue(rejected >= 1, "none waited for a connection");
        other.rollback();
      }
    }
  }

  /** Like the record of the store, without which writes stop. */
  @Test
  void readersDoNotWaitForWritersOfLockedRows() throws Exception {
    String uri = Databases.newUri(Databases.SERVER.port(), Duration.ofSeconds(30));
    int writers = 8;
    try (StoreDriver driver = StoreProvider.open(uri + "&connections=3")) {
      for (int i = 0; i < writers; i++) {
        driver.write(add("held" + i));
      }
      Key free = new Key("p", "free");
      driver.write(add("free"));
      try (Connection other = Databases.connection();
          Statement lock = other.createStatement();
          ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
        other.setAutoCommit(false);
        lock.execute(
            "SELECT * FROM " + Databases.table(uri) + " WHERE sort LIKE 'held%' FOR UPDATE");
        AtomicInteger begun = new AtomicInteger();
        List<Future<WriteResult>> writes = new ArrayList<>();
        for (int i = 0; i < writers; i++) {
          Write each = add("held" + i);
          writes.add(
              executor.submit(() -> {
                begun.incrementAndGet();
                return driver.write(each);
              }));
        }
        new Progress("writers", begun::get).awaitAtLeast(writers);
        for (int i = 0; i < 10; i++) {
          assertTrue(driver.get(free, Consistency.STRONG).isPresent());
        }
        assertTrue(writes.stream().noneMatch(Future::isDone), "the rows are locked");
        other.rollback();
        for (Future<WriteResult> write : writes) {
          assertInstanceOf(WriteResult.Applied.class, write.get());
        }
      }
    }
  }

  private static Write add(String sort) {
    Change change = new Change.Add(Item.VALUE, 1);
    return new Write.Update(new Key("p", sort), List.of(change), Condition.always());
  }
}
