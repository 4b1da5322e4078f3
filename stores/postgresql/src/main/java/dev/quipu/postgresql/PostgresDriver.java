package dev.quipu.postgresql;

import dev.quipu.QuipuException;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreDriver.Finding;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Survival;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.store.group.Group;
import dev.quipu.store.group.GroupCommit;
import dev.quipu.store.group.Member;
import dev.quipu.store.group.Sum;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Driver for PostgreSQL 12 and later.
 *
 * <p><b>Stored.</b> One table with a row per item; {@link Schema} has its DDL.
 *
 * <pre>
 * partition, sort   the key, in byte order; a partition above 1,536 bytes is stored as its digest
 * value             the field "value", if it is a number
 * fields            all other fields: numbers, texts, and sets as objects with a member per token
 * version           from a sequence, new with each write
 * expires_at        milliseconds since 1970; rows stay until overwritten or removed
 * </pre>
 *
 * <p><b>Protocol.</b>
 *
 * <ol>
 *   <li>A write is one statement, an upsert if the item may be new, which contains the condition.
 *       If it returns a row, the write was applied.
 *   <li>Otherwise the driver reads the item and evaluates the condition. If it does not hold, this
 *       is the result; if it holds, another writer has changed the row: go to 1.
 *   <li>A batch is a transaction of such statements in order of key, so that batches cannot
 *       deadlock. A statement without a row rolls back the batch; then the driver reads all items
 *       in one snapshot and evaluates the conditions in the order of the batch.
 *   <li>Adds to one number that arrive during another add are combined into one statement, whose
 *       condition holds only if that of each add does; with the markers of their requests, if any,
 *       into one transaction ({@link GroupCommit}).
 *   <li>If all connections are in use, a call waits for one in order of arrival. After the timeout
 *       it is rejected before anything is sent.
 * </ol>
 *
 * <p><b>Atomic.</b> Batches over all items. <b>Limits.</b> An item of 1 MiB, a batch of 100. The
 * server's encoding must be UTF8. <b>Durable</b> if {@code fsync} and {@code synchronous_commit}
 * are on, which the driver checks when it opens, and in {@link #inspect}.
 *
 * <p><b>After a lost connection</b> the outcome of a write is unknown: the server may have
 * committed it. The driver retries only statements that the server reported as rolled back.
 *
 * @see <a href="https://www.postgresql.org/docs/current/sql-insert.html#SQL-ON-CONFLICT">ON
 *     CONFLICT</a>
 */
public final class PostgresDriver implements BatchDriver, ScanDriver {
  /** Largest item, in bytes. */
  static final int ITEM_BYTES_MAX = 1 << 20;

  /** Default limit of connections in use at a time. */
  public static final int CONNECTIONS = 8;

  private static final int BATCH_ITEMS_MAX = 100;
  private static final int GROUP_MEMBERS_MAX = 1_000;
  private static final int RACES_MAX = 100;
  private static final Set<Capability> CAPABILITIES =
      EnumSet.of(
          Capability.STRONG_READ,
          Capability.NATIVE_ADD,
          Capability.NATIVE_UPDATE,
          Capability.ATOMIC_BATCH,
          Capability.BATCH_RETURNS,
          Capability.ORDERED_SCAN);

  private final Connections connections;
  private final Schema schema;
  private final Survival accepted;
  private final Statements statements;
  private final GroupCommit groups;
  private final Runnable onClose;
  private final StoreProfile profile;

  private PostgresDriver(
      Connections connections,
      Schema schema,
      Survival accepted,
      boolean combines,
      Runnable onClose) {
    this.connections = connections;
    this.schema = schema;
    this.accepted = accepted;
    this.statements = new Statements(schema);
    this.onClose = onClose;
    this.profile = profile(inspect().stream().noneMatch(Finding::losesWrites));
    Duration waitMax = Duration.ofMillis(connections.timeoutMillis());
    this.groups =
        new GroupCommit("PostgreSQL", new GroupsTable(combines), 1, GROUP_MEMBERS_MAX, waitMax);
  }

  /**
   * Opens a driver on a table, which is created if it is missing.
   *
   * @param source of connections; without a pool, each add opens one. The caller closes it
   * @param table a name of lower-case letters, digits and underscores
   * @param connectionsMax maximum number of connections in use at a time: at most those that the
   *     source has for this driver
   * @param timeout longest wait for a connection, and for one reply
   * @throws QuipuException if the server cannot be used
   */
  public static PostgresDriver of(
      DataSource source, String table, int connectionsMax, Duration timeout) {
    Connections connections = new Connections(source, "", connectionsMax, timeout, false);
    return open(connections, table, Survival.FSYNC, true, () -> {});
  }

  /** Opens a driver that uses at most {@link #CONNECTIONS} connections at a time. */
  public static PostgresDriver of(DataSource source, String table, Duration timeout) {
    return of(source, table, CONNECTIONS, timeout);
  }

  static PostgresDriver open(
      Connections connections,
      String table,
      Survival accepted,
      boolean combines,
      Runnable onClose) {
    Schema schema = new Schema(table);
    try (PooledConnection borrowed = connections.borrow()) {
      schema.prepare(borrowed.connection);
    } catch (SQLException e) {
      throw Failures.ofRead(e);
    }
    return new PostgresDriver(connections, schema, accepted, combines, onClose);
  }

  static StoreProfile profile(boolean durable) {
    Set<Capability> capabilities = EnumSet.copyOf(CAPABILITIES);
    if (durable) {
      capabilities.add(Capability.DURABLE);
    }
    return new StoreProfile(
        "postgresql", capabilities, Atomicity.STORE, BATCH_ITEMS_MAX, ITEM_BYTES_MAX);
  }

  @Override
  public Optional<Instant> time() {
    try (PooledConnection borrowed = connections.borrow()) {
      return Optional.of(Schema.time(borrowed.connection));
    } catch (SQLException e) {
      throw Failures.ofRead(e);
    }
  }

  @Override
  public List<Finding> inspect() {
    try (PooledConnection borrowed = connections.borrow()) {
      return schema.inspect(borrowed.connection, accepted);
    } catch (SQLException e) {
      throw Failures.ofRead(e);
    }
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return Optional.ofNullable(read(List.of(key)).get(key));
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    Map<Key, Item> found = read(keys); // one statement reads one snapshot
    return keys.stream().map(key -> Optional.ofNullable(found.get(key))).toList();
  }

  @Override
  public Page scan(Scan scan) {
    Sql sql = statements.scan(scan);
    try (PooledConnection borrowed = connections.borrow();
        PreparedStatement statement = sql.prepare(borrowed.connection);
        ResultSet rows = statement.executeQuery()) {
      List<Item> found = new ArrayList<>();
      while (rows.next()) {
        found.add(JsonFields.item(new Key(scan.partition(), rows.getString("sort")), rows));
      }
      return Page.of(scan, found);
    } catch (SQLException e) {
      throw Failures.ofRead(e);
    }
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    if (token != null) {
      throw profile.lacks(Capability.TOKEN_BATCH);
    }
    return groups.write(writes);
  }

  private WriteResult writeBatch(List<Write> writes) {
    List<Write> inOrder = writes.stream().sorted((a, b) -> a.key().compareTo(b.key())).toList();
    List<Sql> compiled = inOrder.stream().map(statements::write).toList();
    Sql all = Sql.sequence(compiled);
    for (int race = 0; race < RACES_MAX; race++) {
      Optional<WriteResult.Applied> applied = commit(inOrder, all, writes.getLast());
      if (applied.isPresent()) {
        return applied.get();
      }
      Map<Key, Item> found = read(writes.stream().map(Write::key).toList());
      for (Write write : writes) {
        Optional<Item> item = Optional.ofNullable(found.get(write.key()));
        if (!write.holdsOn(item)) {
          return new WriteResult.ConditionFailed(write.key(), item);
        }
      }
    }
    throw writes.getFirst().key().contended(RACES_MAX + " attempts");
  }

  private WriteResult writeOne(Write write) {
    Sql sql = statements.write(write);
    boolean deletes = write instanceof Write.Delete;
    for (int race = 0; race < RACES_MAX; race++) {
      Optional<Item> after = execute(write.key(), sql);
      if (after.isPresent()) {
        return new WriteResult.Applied(deletes ? Optional.empty() : after);
      }
      Optional<Item> found = get(write.key(), Consistency.STRONG);
      if (!write.holdsOn(found)) {
        return new WriteResult.ConditionFailed(write.key(), found);
      }
      if (deletes && found.isEmpty()) {
        return new WriteResult.Applied(Optional.empty());
      }
    }
    throw write.key().contended(RACES_MAX + " attempts");
  }

  private Optional<Item> execute(Key key, Sql sql) {
    try (PooledConnection borrowed = connections.borrowToWrite()) {
      return execute(borrowed.connection, key, sql);
    } catch (SQLException e) {
      throw Failures.ofWrite(e);
    }
  }

  private static Optional<Item> execute(Connection connection, Key key, Sql sql)
      throws SQLException {
    try (PreparedStatement statement = sql.prepare(connection);
        ResultSet rows = statement.executeQuery()) {
      return rows.next() ? Optional.of(JsonFields.item(key, rows)) : Optional.empty();
    }
  }

  /** Executes groups of adds on the table. */
  private final class GroupsTable implements GroupCommit.Table {
    private final boolean combines;

    GroupsTable(boolean combines) {
      this.combines = combines;
    }

    /** Markers sort before the number, so that groups and other batches lock in the same order. */
    @Override
    public boolean accepts(Member member) {
      return combines
          && member.markerKey().map(marker -> marker.compareTo(member.key()) < 0).orElse(true);
    }

    @Override
    public List<Optional<WriteResult>> write(Group group) {
      List<Write.Put> markers = group.markers();
      Stored stored =
          markers.isEmpty()
              ? new Stored(Set.of(), add(group, Set.of()))
              : inTransaction(
                  connection -> {
                    Set<Key> inserted = insert(connection, markers);
                    Optional<Sum> sum = group.sum(inserted);
                    return new Stored(
                        inserted,
                        sum.isEmpty()
                            ? Optional.empty()
                            : execute(
                                connection, group.key(), statements.add(group.key(), sum.get())));
                  },
                  result -> result.after.isPresent());
      return group.results(stored.markers, stored.after, existing(group, stored.markers));
    }

    private Optional<Item> add(Group group, Set<Key> stored) {
      return group
          .sum(stored)
          .flatMap(sum -> execute(group.key(), statements.add(group.key(), sum)));
    }

    /** Returns the markers that existed before. */
    private Map<Key, Item> existing(Group group, Set<Key> stored) {
      List<Key> keys = group.markersOutside(stored);
      try {
        return keys.isEmpty() ? Map.of() : read(keys);
      } catch (QuipuException e) {
        return Map.of(); // each is executed separately, and reads its own
      }
    }

    @Override
    public WriteResult alone(List<Write> writes) {
      return writes.size() == 1 ? writeOne(writes.getFirst()) : writeBatch(writes);
    }
  }

  /**
   * The result of a transaction of a group.
   *
   * @param markers that were inserted
   * @param after the item after the add; if empty, all was rolled back
   */
  private record Stored(Set<Key> markers, Optional<Item> after) {}

  /** Inserts items; returns the keys of those that did not exist. */
  private Set<Key> insert(Connection connection, List<Write.Put> puts) throws SQLException {
    Map<Schema.StoredKey, Key> byStored = new HashMap<>();
    puts.forEach(put -> byStored.put(Schema.StoredKey.of(put.key()), put.key()));
    Set<Key> inserted = new HashSet<>();
    try (PreparedStatement statement = statements.insert(puts).prepare(connection);
        ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        Schema.StoredKey stored = new Schema.StoredKey(rows.getString(1), rows.getString(2));
        inserted.add(Objects.requireNonNull(byStored.get(stored)));
      }
    }
    return inserted;
  }

  /** Commits all statements if each returns a row, and returns the result; otherwise none. */
  private Optional<WriteResult.Applied> commit(List<Write> writes, Sql all, Write last) {
    return inTransaction(
        connection -> {
          try (PreparedStatement statement = all.prepare(connection)) {
            return eachBroughtARow(statement, writes, last);
          }
        },
        Optional::isPresent);
  }

  private interface Work<T> {
    T on(Connection connection) throws SQLException;
  }

  /** Makes a transaction, and commits it if its result is as wanted. */
  private <T> T inTransaction(Work<T> work, Predicate<T> isWanted) {
    try (PooledConnection borrowed = connections.borrowToWrite()) {
      borrowed.begin();
      T result;
      try {
        result = work.on(borrowed.connection);
      } catch (SQLException e) {
        borrowed.rollBack();
        throw Failures.beforeCommit(e);
      }
      if (isWanted.test(result)) {
        borrowed.commit();
      } else {
        borrowed.rollBack();
      }
      return result;
    } catch (SQLException e) {
      throw Failures.ofWrite(e);
    }
  }

  private static Optional<WriteResult.Applied> eachBroughtARow(
      PreparedStatement statement, List<Write> writes, Write last) throws SQLException {
    Optional<Item> after = Optional.empty();
    boolean hasRows = statement.execute();
    for (Write write : writes) {
      if (!hasRows) {
        throw new SQLException("a statement of a batch returned no result set");
      }
      try (ResultSet rows = statement.getResultSet()) {
        boolean missing = !rows.next();
        boolean needless =
            write instanceof Write.Delete && write.condition() instanceof Condition.Always;
        if (missing && !needless) {
          return Optional.empty();
        }
        if (write.equals(last) && !(write instanceof Write.Delete)) {
          after = Optional.of(JsonFields.item(write.key(), rows));
        }
      }
      hasRows = statement.getMoreResults();
    }
    return Optional.of(new WriteResult.Applied(after));
  }

  private Map<Key, Item> read(Collection<Key> keys) {
    Sql sql = statements.read(List.copyOf(keys));
    try (PooledConnection borrowed = connections.borrow();
        PreparedStatement statement = sql.prepare(borrowed.connection);
        ResultSet rows = statement.executeQuery()) {
      Map<Key, Item> found = new HashMap<>();
      Map<Schema.StoredKey, Key> byStored = new HashMap<>();
      keys.forEach(key -> byStored.put(Schema.StoredKey.of(key), key));
      while (rows.next()) {
        Schema.StoredKey stored =
            new Schema.StoredKey(rows.getString("partition"), rows.getString("sort"));
        Key key = byStored.get(stored);
        if (key != null) {
          found.put(key, JsonFields.item(key, rows));
        }
      }
      return found;
    } catch (SQLException e) {
      throw Failures.ofRead(e);
    }
  }

  /** Skips rows that are locked by another server. */
  @Override
  public int removeExpired(Instant before, int itemsMax) {
    try (PooledConnection borrowed = connections.borrowToWrite();
        PreparedStatement statement =
            statements.removeExpired(before, itemsMax).prepare(borrowed.connection)) {
      return statement.executeUpdate();
    } catch (SQLException e) {
      throw Failures.ofRead(e); // idempotent
    }
  }

  @Override
  public Map<Measure, Long> measures() {
    Map<Measure, Long> measures = connections.measures();
    measures.putAll(groups.measures());
    return measures;
  }

  @Override
  public void close() {
    onClose.run();
  }
}
