package dev.quipu.datastore;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProvider;
import dev.quipu.testservers.DatastoreServer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** One emulator for all tests, with a kind per test. */
final class Emulator {
  private static final AtomicInteger KINDS = new AtomicInteger();
  private static final Optional<DatastoreServer> SERVER = start();

  private Emulator() {}

  /** Warms it up: its first replies take a second, the timeout of tests of failures. */
  private static Optional<DatastoreServer> start() {
    Optional<DatastoreServer> server = DatastoreServer.start();
    server.ifPresent(started -> {
      try (StoreDriver driver = StoreProvider.open(newUri(started.port(), Duration.ofMinutes(1)))) {
        driver.get(new Key("p", "s"), Consistency.STRONG);
      }
    });
    return server;
  }

  static DatastoreServer server() {
    assumeTrue(SERVER.isPresent(), "no Datastore emulator: the Cloud SDK has it");
    return SERVER.orElseThrow();
  }

  static String newUri(int port, Duration timeout) {
    return "datastore://quipu-test/Kind%d_%d?endpoint=http://127.0.0.1:%d&timeoutMillis=%d"
        .formatted(
            ProcessHandle.current().pid(), KINDS.incrementAndGet(), port, timeout.toMillis());
  }
}
