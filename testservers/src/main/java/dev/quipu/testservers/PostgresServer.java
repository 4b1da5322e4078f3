package dev.quipu.testservers;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;

/** A PostgreSQL server that syncs before it replies. */
public final class PostgresServer implements AutoCloseable {
  private final EmbeddedPostgres server;

  private PostgresServer(EmbeddedPostgres server) {
    this.server = server;
  }

  /** Starts a server. */
  public static PostgresServer start() {
    try {
      EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder();
      builder.setServerConfig("fsync", "on");
      builder.setServerConfig("synchronous_commit", "on");
      return new PostgresServer(builder.start());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot start PostgreSQL", e);
    }
  }

  /** Returns its port on 127.0.0.1. The user and the database are {@code postgres}. */
  public int port() {
    return server.getPort();
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot stop PostgreSQL", e);
    }
  }
}
