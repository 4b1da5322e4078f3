package dev.quipu.postgresql;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Finding;
import dev.quipu.store.Survival;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The table: its DDL, its creation and its settings. */
final class Schema {
  /** Default name of the table. */
  static final String TABLE = "quipu_items";

  private static final int PARTITION_BYTES_MAX = 1_536; // an index entry has at most 2,704 bytes
  private static final long LOCK = 0x7175697075L; // an arbitrary number

  private final String table;

  /**
   * Creates the schema of a table.
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

  /** A key as stored in the table. */
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

  /** Returns the statements that create the table. */
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

  /** Returns the grants that a role needs if it does not own the table. */
  String grants() {
    return """
    -- GRANT SELECT, INSERT, UPDATE, DELETE ON %1$s TO quipu;
    -- GRANT USAGE ON SEQUENCE %2$s TO quipu;
    """
        .formatted(table, versions());
  }

  /** Creates the table if it is missing. */
  void prepare(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      String encoding = ask(statement, "SHOW server_encoding");
      if (!encoding.equals("UTF8")) {
        throw new NotAppliedException(
            Reason.INVALID,
            "the encoding of the database is %s; it must be UTF8".formatted(encoding));
      }
      boolean there =
          ask(
                  statement,
                  "SELECT to_regclass('%s') IS NOT NULL AND to_regclass('%s') IS NOT NULL"
                      .formatted(table, versions()))
              .equals("t");
      if (!there) {
        // Servers that start at the same time must not all create it.
        statement.execute(
            "BEGIN; SELECT pg_advisory_xact_lock(%d); %s COMMIT".formatted(LOCK, ddl()));
      }
    }
  }

  /**
   * Returns the settings that endanger writes.
   *
   * @param accepted the least that the user accepts that acknowledged writes survive
   */
  List<Finding> inspect(Connection connection, Survival accepted) throws SQLException {
    List<Finding> found = new ArrayList<>();
    try (Statement statement = connection.createStatement()) {
      for (String each : List.of("fsync", "synchronous_commit", "full_page_writes")) {
        if (ask(statement, "SHOW " + each).equals("off")) {
          found.add(
              Finding.losesWrites(
                  accepted, survivesWithout(each), each + "=off", "set " + each + " = on"));
        }
      }
      if (ask(statement, persistence()).equals("t")) {
        String remedy = "ALTER TABLE " + table + " SET LOGGED";
        found.add(Finding.losesWrites(accepted, Survival.NONE, "table=unlogged", remedy));
      }
      rejecting(found, statement, "SELECT pg_is_in_recovery()", "recovery=on", "use the primary");
      rejecting(
          found,
          statement,
          "SELECT current_setting('transaction_read_only') = 'on'",
          "transaction_read_only=on",
          "unset default_transaction_read_only");
      rejecting(found, statement, lacksColumns(), "schema=outdated", "compare with quipu schema");
      rejecting(found, statement, lacksRights(), "rights=missing", "see quipu schema for GRANTs");
    }
    return found;
  }

  /** A commit may be lost with the memory of the server, or only with that of its machine. */
  private static Survival survivesWithout(String setting) {
    return setting.equals("synchronous_commit") ? Survival.NONE : Survival.PROCESS;
  }

  /** Returns the time of the server. */
  static Instant time(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      String millis =
          ask(statement, "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint");
      return Instant.ofEpochMilli(Long.parseLong(millis));
    }
  }

  private static void rejecting(
      List<Finding> found, Statement statement, String sql, String setting, String remedy)
      throws SQLException {
    if (ask(statement, sql).equals("t")) {
      found.add(Finding.rejectsWrites(setting, remedy));
    }
  }

  private String persistence() {
    return "SELECT COALESCE((SELECT relpersistence <> 'p' FROM pg_class WHERE oid ="
        + " to_regclass('%s')), false)".formatted(table);
  }

  private String lacksColumns() {
    return """
    SELECT to_regclass('%2$s') IS NULL OR 6 <> (
      SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass('%1$s')
      AND (attname::text, format_type(atttypid, atttypmod)) IN (('partition', 'text'),
      ('sort', 'text'), ('value', 'bigint'), ('fields', 'jsonb'), ('version', 'bigint'),
      ('expires_at', 'bigint')))
    """
        .formatted(table, versions());
  }

  /** Returns SQL that is null if the table is missing, which the check of columns reports. */
  private String lacksRights() {
    return """
    SELECT COALESCE(NOT (has_table_privilege(t, 'SELECT') AND has_table_privilege(t, 'INSERT')
      AND has_table_privilege(t, 'UPDATE') AND has_table_privilege(t, 'DELETE')
      AND has_sequence_privilege(s, 'USAGE')), false)
    FROM (SELECT to_regclass('%s')::oid AS t, to_regclass('%s')::oid AS s) AS of
    """
        .formatted(table, versions());
  }

  private static String ask(Statement statement, String sql) throws SQLException {
    try (ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }
}
