package dev.quipu.postgresql;

import dev.quipu.store.Key;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** The table, and who creates it. */
final class Schema {
  /** The name of the table, where none is given. */
  static final String TABLE = "quipu_items";

  private static final int PARTITION_BYTES_MAX = 1_536; // an index entry has at most 2,704 bytes
  private static final long LOCK = 0x7175697075L; // any number that others do not use

  private final String table;

  /**
   * A table of this name.
   *
   * @throws IllegalArgumentException if the name is not of lower-case letters, digits and
   *     underscores, or is longer than 48 characters
   */
  Schema(String table) {
    if (!table.matches("[a-z_][a-z0-9_]{0,47}")) {
      throw new IllegalArgumentException(
          "table is '%s'; it must be 1 to 48 of a-z, 0-9 and _, and not begin with a digit"
              .formatted(table));
    }
    this.table = table;
  }

  /** A key as the table has it. */
  record StoredKey(String partition, String sort) {
    static StoredKey of(Key key) {
      return new StoredKey(storedPartition(key.partition()), key.sort());
    }
  }

  static String storedPartition(String partition) {
    return Key.shortened(partition, PARTITION_BYTES_MAX);
  }

  String table() {
    return table;
  }

  String versions() {
    return table + "_versions";
  }

  /** The statements that create it, for who may. */
  String ddl() {
    return """
    CREATE SEQUENCE IF NOT EXISTS %2$s;
    CREATE TABLE IF NOT EXISTS %1$s (
      partition text COLLATE "C" NOT NULL,
      sort text COLLATE "C" NOT NULL,
      value bigint,
      fields jsonb NOT NULL,
      version bigint NOT NULL,
      expires_at bigint,
      PRIMARY KEY (partition, sort)
    ) WITH (fillfactor = 70);
    CREATE INDEX IF NOT EXISTS %1$s_expired ON %1$s (expires_at) WHERE expires_at IS NOT NULL;
    """
        .formatted(table, versions());
  }

  /** The rights that a role needs which did not create it. */
  String grants() {
    return """
    -- GRANT SELECT, INSERT, UPDATE, DELETE ON %1$s TO quipu;
    -- GRANT USAGE ON SEQUENCE %2$s TO quipu;
    """
        .formatted(table, versions());
  }

  /** Creates the table if it is not there; tells whether commits are durable. */
  boolean prepare(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      String encoding = ask(statement, "SHOW server_encoding");
      if (!encoding.equals("UTF8")) {
        throw StoreException.notApplied(
            Reason.INVALID, "the database is encoded in %s, it must be UTF8".formatted(encoding));
      }
      boolean there =
          ask(
                  statement,
                  "SELECT to_regclass('%s') IS NOT NULL AND to_regclass('%s') IS NOT NULL"
                      .formatted(table, versions()))
              .equals("t");
      if (!there) {
        // Two servers that start at once must not both create it.
        statement.execute(
            "BEGIN; SELECT pg_advisory_xact_lock(%d); %s COMMIT".formatted(LOCK, ddl()));
      }
      return ask(statement, "SHOW fsync").equals("on")
          && !ask(statement, "SHOW synchronous_commit").equals("off");
    }
  }

  private static String ask(Statement statement, String sql) throws SQLException {
    try (ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }
}
