package dev.quipu.memcached;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.MemcachedProtocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.MemcachedServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Native commands of memcached: the races that they prevent, and lost replies. */
final class MemcachedOperationsTest {
  private static final Optional<Duration> KEPT = Optional.empty();
  private static final int CLIENTS = 16;
  private static final int ROUNDS = 50;

  private MemcachedServer server;
  private StoreDriver driver;
  private AtomicOperations operations;

  @SuppressWarnings("NullAway.Init") // JUnit calls open before each test
  MemcachedOperationsTest() {}

  @BeforeEach
  void open() {
    server = Caches.emptyServer();
    driver = StoreProvider.open(Caches.uri(server.port(), Duration.ofMinutes(1)));
    operations = driver.operations().orElseThrow();
  }

  @AfterEach
  void close() {
    driver.close();
  }

  /** Runs all clients in lockstep, so that the result is deterministic. */
  private interface Step {
    void run(CyclicBarrier together) throws Exception;
  }

  private void bySixteen(Step step) throws Exception {
    CyclicBarrier together = new CyclicBarrier(CLIENTS);
    List<Future<?>> running = new ArrayList<>();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int client = 0; client < CLIENTS; client++) {
        running.add(
            executor.submit(() -> {
              for (int i = 0; i < ROUNDS; i++) {
                step.run(together);
              }
              return null;
            }));
      }
    }
    for (Future<?> each : running) {
      each.get();
    }
  }

  private long number(String key) {
    return operations.get(key).orElseThrow().number().orElseThrow();
  }

  @Test
  void getAddAndSetBySixteenClientsLosesCountsAndIncrLosesNone() throws Exception {
    operations.set("naive", "0", KEPT);
    bySixteen(together -> {
      long read = number("naive");
      together.await(); // all have read the same value
      operations.set("naive", Long.toString(read + 1), KEPT);
      together.await();
    });
    assertEquals(ROUNDS, number("naive"), "of " + CLIENTS * ROUNDS + " counts");
    operations.set("exact", "0", KEPT);
    bySixteen(together -> {
      together.await();
      operations.incr("exact", 1);
    });
    assertEquals(CLIENTS * ROUNDS, number("exact"));
  }

  @Test
  void twoFrontEndsThatSeedBySetLoseAViewAndByAddTheyDoNot() {
    long durable = 100;
    // Both miss, both read the database, and then each stores what it read and its own view.
    assertEquals(OptionalLong.empty(), operations.incr("by-set", 1));
    assertEquals(OptionalLong.empty(), operations.incr("by-set", 1));
    operations.set("by-set", Long.toString(durable + 1), KEPT);
    operations.set("by-set", Long.toString(durable + 1), KEPT);
    assertEquals(durable + 1, number("by-set"), "one view of two is lost");

    assertEquals(OptionalLong.empty(), operations.incr("by-add", 1));
    assertEquals(OptionalLong.empty(), operations.incr("by-add", 1));
    assertTrue(operations.add("by-add", Long.toString(durable), KEPT));
    assertEquals(OptionalLong.of(durable + 1), operations.incr("by-add", 1));
    assertFalse(operations.add("by-add", Long.toString(durable), KEPT));
    assertEquals(OptionalLong.of(durable + 2), operations.incr("by-add", 1));
  }

  @Test
  void otherClientsSeeTheSameKeysAndValues() {
    operations.set("shared", "41", KEPT);
    assertEquals("42", Caches.ask(server, "incr shared 1"));
    assertEquals(42, number("shared"));
    Caches.ask(server, "set theirs 0 0 5\r\nhello");
    assertEquals("hello", operations.get("theirs").orElseThrow().text());
    operations.set("shared", "18446744073709551615", KEPT);
    assertEquals("0", Caches.ask(server, "incr shared 1"));
  }

  @Test
  void memcachedItselfDropsWhatHasExpired() throws Exception {
    assertTrue(operations.add("k", "1", Optional.of(Duration.ofMillis(1))), "rounded up to 1 s");
    assertTrue(operations.add("far", "1", Optional.of(Duration.ofDays(31))));
    Progress.await("expiry of k", () -> operations.get("k").isEmpty());
    assertEquals(OptionalLong.empty(), operations.incr("k", 1));
    assertEquals(OptionalLong.of(2), operations.incr("far", 1));
  }

  @Test
  void aLostReplyIsUnknownAndNothingIsSentTwice() throws Exception {
    operations.set("n", "0", KEPT);
    operations.set("t", "a", KEPT);
    try (FaultProxy proxy =
            FaultProxy.start(new MemcachedProtocol(), server.port(), Duration.ZERO, write -> 1);
        StoreDriver through =
            StoreProvider.open(Caches.uri(proxy.port(), Duration.ofMillis(1_500)))) {
      AtomicOperations lossy = through.operations().orElseThrow();
      lost(proxy, lossy, () -> lossy.incr("n", 1));
      assertEquals(1, number("n"));
      lost(proxy, lossy, () -> lossy.append("t", "b"));
      assertEquals("ab", operations.get("t").orElseThrow().text());
      lost(proxy, lossy, () -> lossy.add("new", "x", KEPT));
      assertEquals("x", operations.get("new").orElseThrow().text());
      lost(proxy, lossy, () -> lossy.delete("new"));
      assertEquals(Optional.empty(), operations.get("new"));
    }
  }

  private static void lost(FaultProxy proxy, AtomicOperations lossy, Runnable operation)
      throws Exception {
    awaitConnection(lossy);
    proxy.use(FaultPlan.of(WireFault.REPLY_DROPPED));
    long fired = proxy.ledger().fired(WireFault.REPLY_DROPPED);
    QuipuException e = assertThrows(QuipuException.class, operation::run);
    assertEquals(Outcome.UNKNOWN, e.outcome());
    assertEquals(fired + 1, proxy.ledger().fired(WireFault.REPLY_DROPPED));
    proxy.use(FaultPlan.none());
  }

  /** Waits until the dropped connection is reopened. */
  private static void awaitConnection(AtomicOperations lossy) throws Exception {
    Progress.await(
        "a connection",
        () -> {
          try {
            lossy.get("n");
            return true;
          } catch (QuipuException e) {
            return false;
          }
        });
  }
}
