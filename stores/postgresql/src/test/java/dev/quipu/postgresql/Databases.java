package dev.quipu.postgresql;

import dev.quipu.testservers.PostgresServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** One server for all tests, a table for each. */
final class Databases {
  static final PostgresServer SERVER = PostgresServer.start();
  private static final AtomicInteger TABLES = new AtomicInteger();

  private Databases() {}

  static String newUri(int port, Duration timeout) {
    return "postgresql://postgres@127.0.0.1:%d/postgres?table=t%d&timeoutMillis=%d"
        .formatted(port, TABLES.incrementAndGet(), timeout.toMillis());
  }
}
