package dev.quipu.memcached;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.MemcachedServer;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** However a server of a cluster loses items, the driver reports since when its data is intact. */
final class MemcachedLossesTest {
  private static final Optional<Duration> KEPT = Optional.empty();

  private MemcachedServer first;
  private MemcachedServer second;
  private StoreDriver driver;

  @SuppressWarnings("NullAway.Init") // JUnit calls open before each test
  MemcachedLossesTest() {}

  @BeforeEach
  void open() {
    Optional<MemcachedServer> started = MemcachedServer.start();
    assumeTrue(started.isPresent(), "no memcached on this machine: ./dev deps installs it");
    first = started.orElseThrow();
    second = MemcachedServer.start().orElseThrow();
    driver =
        StoreProvider.open(
            "memcached://127.0.0.1:%d,127.0.0.1:%d?timeoutMillis=2000"
                .formatted(first.port(), second.port()));
  }

  @AfterEach
  void close() {
    driver.close();
    first.kill();
    second.kill();
  }

  private static Instant now() {
    return Instant.ofEpochMilli(Clock.system().epochMillis());
  }

  private Instant opened() {
    Instant opened = driver.intactSince();
    assertTrue(opened.isAfter(now().minusSeconds(60)), "since they were started: " + opened);
    assertTrue(opened.isBefore(now().plusSeconds(4)), opened.toString());
    return opened;
  }

  @Test
  void aFlushIsDetected() {
    opened();
    Instant before = now();
    Caches.ask(second, "flush_all");
    assertTrue(!driver.intactSince().isBefore(before), "a flush was not detected");
  }

  @Test
  void aServerThatIsDownIsNotIntactAndAfterItsRestartItIs() throws Exception {
    opened();
    first.kill();
    Instant lost = away();
    assertEquals(Instant.MAX, lost);
    Instant before = now();
    first.restart();
    // The client is reconnecting.
    Progress.await("the server's return", () -> !away().equals(Instant.MAX));
    Instant after = away();
    assertTrue(!after.isBefore(before), after + " is before " + before);
  }

  /** Returns the reported time; a call without a reply counts as a loss. */
  private Instant away() {
    try {
      return driver.intactSince();
    } catch (QuipuException e) {
      assertEquals(Outcome.NOT_APPLIED, e.outcome());
      return Instant.MAX;
    }
  }

  @Test
  void evictionsAreDetected() {
    String large = "x".repeat(500_000);
    opened();
    Instant before = now();
    for (int i = 0; i < 400; i++) {
      Caches.ask(first, "set large%d 0 0 %d\r\n%s".formatted(i, large.length(), large));
    }
    assertTrue(!driver.intactSince().isBefore(before), "an eviction was not detected");
  }

  @Test
  void whileAServerIsDownNoOtherReplacesIt() {
    AtomicOperations operations = driver.operations().orElseThrow();
    for (int i = 0; i < 50; i++) {
      operations.set("k" + i, "1", KEPT);
    }
    first.kill();
    int failed = 0;
    for (int i = 0; i < 50; i++) {
      try {
        assertEquals(2, operations.incr("k" + i, 1).orElseThrow(), "counted on another server");
      } catch (QuipuException e) {
        failed++;
      }
    }
    assertTrue(failed > 5 && failed < 45, failed + " of 50 keys are on the server that is down");
    assertThrows(
        QuipuException.class, () -> StoreProvider.open(Caches.uri(1, Duration.ofSeconds(1))));
  }
}
