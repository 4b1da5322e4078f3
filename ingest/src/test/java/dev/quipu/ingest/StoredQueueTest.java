package dev.quipu.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.store.Item;
import dev.quipu.store.Scan;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Views queued in a store, and those that can never be counted. */
final class StoredQueueTest {
  private static final Instant TIME = Instant.parse("2026-11-22T10:00:00Z");

  /** Rejects the views of one page. */
  private static final class Rejecting implements InterceptingDriver.Interceptor {
    @Override
    public <T> T call(Supplier<T> call) {
      return call.get();
    }

    @Override
    public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
      if (writes.getFirst().key().partition().contains("rejected")) {
        throw new NotAppliedException(Reason.INVALID, "too long for this store");
      }
      return call.get();
    }
  }

  @Test
  void invalidEventsBlockNothingAndAreKept() throws Exception {
    Store waiting = new Store(new MemoryDriver(), Clock.system());
    Store counted =
        new Store(new InterceptingDriver(new MemoryDriver(), new Rejecting()), Clock.system());
    ViewCounter views = new ViewCounter(counted);
    try (StoredQueue queue = new StoredQueue(waiting, views, () -> {})) {
      for (int i = 0; i < 150; i++) { // more than one page of events
        queue.send(new ViewEvent("https://a.example/rejected", TIME.plusSeconds(i), "client"));
      }
      for (int i = 0; i < 3; i++) {
        queue.send(new ViewEvent("https://a.example/page", TIME.plusSeconds(i), "client"));
      }
      Progress.await("3 views", () -> views.count("https://a.example/page").orElse(0) == 3);
      Progress.await("an empty queue", () -> items(waiting, "view-queue").isEmpty());
    }
    List<Item> dead = items(waiting, StoredQueue.DEAD_LETTERS);
    assertEquals(150, dead.size());
    assertEquals("https://a.example/rejected", dead.getFirst().text("url").orElseThrow());
    assertTrue(dead.getFirst().text("reason").orElseThrow().contains("too long"));
  }

  /** Fails on every call about one page, with an unexpected exception. */
  private static final class Failing implements InterceptingDriver.Interceptor {
    @Override
    public <T> T call(Supplier<T> call) {
      return call.get();
    }

    @Override
    public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
      String partition = writes.getFirst().key().partition();
      if (partition.contains("damaged")) {
        throw new NotAppliedException(Reason.CORRUPT, "the stored item is corrupt");
      }
      if (partition.contains("broken")) {
        throw new ArithmeticException("a fault in the driver");
      }
      return call.get();
    }
  }

  @Test
  void otherFailuresStayAndBlockNothing() throws Exception {
    Store waiting = new Store(new MemoryDriver(), Clock.system());
    Store counted =
        new Store(new InterceptingDriver(new MemoryDriver(), new Failing()), Clock.system());
    ViewCounter views = new ViewCounter(counted);
    try (StoredQueue queue = new StoredQueue(waiting, views, () -> {})) {
      for (int i = 0; i < 250; i++) { // more than two pages of events
        String page = i % 2 == 0 ? "damaged" : "broken";
        queue.send(new ViewEvent("https://a.example/" + page, TIME.plusSeconds(i), "client"));
      }
      for (int i = 0; i < 3; i++) {
        queue.send(new ViewEvent("https://a.example/page", TIME.plusSeconds(i), "client"));
      }
      Progress.await("3 views", () -> views.count("https://a.example/page").orElse(0) == 3);
    }
    assertEquals(250, items(waiting, "view-queue").size());
    assertEquals(List.of(), items(waiting, StoredQueue.DEAD_LETTERS));
  }

  private static List<Item> items(Store store, String partition) {
    return store.scan(Scan.all(partition)).items();
  }
}
