package dev.quipu.postgresql;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testservers.PostgresServer;
import java.util.concurrent.atomic.AtomicInteger;

/** One server for all tests, a table for each. */
final class Databases {
  static final PostgresServer SERVER = PostgresServer.start();
  private static final AtomicInteger TABLES = new AtomicInteger();

  private Databases() {}

  static String uri(int port) {
    return "postgresql://postgres@127.0.0.1:%d/postgres?table=t%d&timeoutMillis=5000"
        .formatted(port, TABLES.incrementAndGet());
  }

  static StoreDriver openEmpty() {
    return StoreProvider.open(uri(SERVER.port()));
  }
}
