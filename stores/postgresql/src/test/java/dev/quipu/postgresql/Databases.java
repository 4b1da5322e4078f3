package dev.quipu.postgresql;

import dev.quipu.testservers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** One server for all tests, with a table per test. */
final class Databases {
  static final PostgresServer SERVER = PostgresServer.start();
  private static final AtomicInteger TABLES = new AtomicInteger();

  private Databases() {}

  static String newUri(int port, Duration timeout) {
    return "postgresql://postgres@127.0.0.1:%d/postgres?table=t%d&timeoutMillis=%d"
        .formatted(port, TABLES.incrementAndGet(), timeout.toMillis());
  }

  /** Returns the table of a URI. */
  static String table(String uri) {
    return uri.replaceFirst(".*table=([a-z0-9]+).*", "$1");
  }

  /** Opens a separate connection. */
  static Connection connection() throws SQLException {
    return DriverManager.getConnection(
        "jdbc:postgresql://127.0.0.1:%d/postgres?user=postgres".formatted(SERVER.port()));
  }
}
