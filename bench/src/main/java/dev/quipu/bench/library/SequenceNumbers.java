package dev.quipu.bench.library;

import dev.quipu.RequestId;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.layer.Store;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testservers.PostgresServer;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Durable gap-free numbers of one series, each with its record and request id, on the engine and on
 * PostgreSQL, compared with the usual pattern of PostgreSQL: a counter row, locked from the update
 * to the commit, and the record in the same transaction.
 */
public final class SequenceNumbers {
  private static final int TURNS = 7; // after a warm-up
  private static final Duration TURN = Duration.ofSeconds(2);
  private static final List<Integer> CLIENTS = List.of(1, 64);
  private static final String SERIES = "invoices";
  private static final String PAYLOAD = "{\"customer\":4711,\"cents\":129900}";

  /** A client that takes numbers. */
  private interface Client extends AutoCloseable {
    void next() throws Exception;

    @Override
    default void close() throws SQLException {}
  }

  private interface Clients {
    Client open() throws Exception;
  }

  private SequenceNumbers() {}

  /** Returns the rows of the table. */
  public static String measure() throws Exception {
    Path data = Files.createTempDirectory(Path.of(System.getProperty("bench.dir")), "sequences");
    try (PostgresServer server = PostgresServer.start();
        Engine engine = Engine.open(data, EngineOptions.defaults());
        StoreDriver postgres =
            StoreProvider.open(
                "postgresql://postgres@127.0.0.1:%d/postgres?connections=8"
                    .formatted(server.port()))) {
      String url = "jdbc:postgresql://127.0.0.1:%d/postgres?user=postgres".formatted(server.port());
      createTables(url);
      Clients onEngine = records(engine.driver());
      Clients onPostgres = records(postgres);
      Clients counterRow = () -> new CounterRow(url);
      StringBuilder rows = new StringBuilder();
      for (int clients : CLIENTS) {
        rows.append(row(clients, onEngine, onPostgres, counterRow));
      }
      return rows.toString();
    }
  }

  private static Clients records(StoreDriver driver) {
    SequenceOfRecords sequence = new SequenceOfRecords(new Store(driver, Clock.system()));
    return () -> () -> sequence.add(SERIES, PAYLOAD, RequestId.random(Randomness.secure()));
  }

  private static String row(int clients, Clients engine, Clients postgres, Clients counterRow)
      throws Exception {
    List<Double> onEngine = new ArrayList<>();
    List<Double> onPostgres = new ArrayList<>();
    List<Double> byRow = new ArrayList<>();
    for (int turn = 0; turn <= TURNS; turn++) {
      double first = turn(clients, engine);
      double second = turn(clients, postgres);
      double third = turn(clients, counterRow);
      if (turn > 0) {
        onEngine.add(first);
        onPostgres.add(second);
        byRow.add(third);
      }
    }
    return String.format(
        Locale.ROOT,
        "| %d | %,.0f | %,.0f | %,.0f | %.1f | %.1f |%n",
        clients,
        StoreOverhead.median(onEngine),
        StoreOverhead.median(onPostgres),
        StoreOverhead.median(byRow),
        StoreOverhead.median(onEngine) / StoreOverhead.median(byRow),
        StoreOverhead.median(onPostgres) / StoreOverhead.median(byRow));
  }

  /** Returns numbers per second. */
  private static double turn(int clients, Clients opener) throws Exception {
    try (ExecutorService executor = Executors.newFixedThreadPool(clients)) {
      List<Client> open = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        open.add(opener.open());
      }
      long start = Clock.system().nanoTime();
      List<Future<Long>> running = new ArrayList<>();
      for (Client client : open) {
        running.add(
            executor.submit(() -> {
              long taken = 0;
              while (Clock.system().nanoTime() - start < TURN.toNanos()) {
                client.next();
                taken++;
              }
              return taken;
            }));
      }
      long taken = 0;
      for (Future<Long> each : running) {
        taken += each.get();
      }
      double seconds = (Clock.system().nanoTime() - start) / 1e9;
      for (Client client : open) {
        client.close();
      }
      return taken / seconds;
    }
  }

  private static void createTables(String url) throws Exception {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE counter (series text PRIMARY KEY, n bigint NOT NULL)");
      statement.execute("INSERT INTO counter VALUES ('" + SERIES + "', 0)");
      statement.execute(
          "CREATE TABLE invoice (series text, n bigint, request uuid UNIQUE, payload text,"
              + " PRIMARY KEY (series, n))");
    }
  }

  /** Takes each number in a transaction, on its own connection. */
  private static final class CounterRow implements Client {
    private final Connection connection;
    private final PreparedStatement update;
    private final PreparedStatement insert;

    CounterRow(String url) throws Exception {
      connection = DriverManager.getConnection(url);
      connection.setAutoCommit(false);
      update =
          connection.prepareStatement("UPDATE counter SET n = n + 1 WHERE series = ? RETURNING n");
      insert = connection.prepareStatement("INSERT INTO invoice VALUES (?, ?, ?, ?)");
    }

    @Override
    public void next() throws Exception {
      update.setString(1, SERIES);
      long number;
      try (ResultSet result = update.executeQuery()) {
        result.next();
        number = result.getLong(1);
      }
      insert.setString(1, SERIES);
      insert.setLong(2, number);
      insert.setObject(3, new UUID(Randomness.secure().nextLong(), number));
      insert.setString(4, PAYLOAD);
      insert.executeUpdate();
      connection.commit();
    }

    @Override
    public void close() throws SQLException {
      connection.close();
    }
  }
}
