package dev.quipu.bench.ports.subject;

import dev.quipu.bench.ports.load.AddKind;
import dev.quipu.bench.ports.load.Request;
import dev.quipu.bench.ports.load.RequestNumbers;
import dev.quipu.bench.ports.load.Workload;
import dev.quipu.time.Clock;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** PostgreSQL by its JDBC driver: a thread and a connection per add in flight. */
public final class PostgresSubject implements Subject {
  private static final String PLAIN =
      "INSERT INTO counter AS c VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET n = c.n + 1";

  private static final String ONCE =
      "WITH marker AS (INSERT INTO request VALUES (?) ON CONFLICT DO NOTHING RETURNING 1)"
          + " INSERT INTO counter AS c SELECT ?, 1 FROM marker"
          + " ON CONFLICT (name) DO UPDATE SET n = c.n + 1";

  private final String url;
  private final long pid;
  private final RequestNumbers numbers;

  public PostgresSubject(int port, RequestNumbers numbers) throws SQLException {
    this.numbers = numbers;
    url = "jdbc:postgresql://127.0.0.1:%d/postgres?user=postgres".formatted(port);
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE counter (name text PRIMARY KEY, n bigint NOT NULL)");
      statement.execute("CREATE TABLE request (id bigint PRIMARY KEY)");
      long own = number(statement, "SELECT pg_backend_pid()");
      pid = ProcessHandle.of(own).flatMap(ProcessHandle::parent).orElseThrow().pid();
    }
  }

  /** Returns the parent process of the server. */
  public long pid() {
    return pid;
  }

  @Override
  public String name() {
    return "PostgreSQL";
  }

  @Override
  public Measurement measure(Workload workload, Duration time) throws Exception {
    if (workload.pipeline() != 1 || workload.kind() == AddKind.BOUNDED) {
      throw new IllegalArgumentException("unsupported workload for PostgreSQL: " + workload);
    }
    List<Connection> connections = new ArrayList<>();
    try (Connection control = DriverManager.getConnection(url);
        Statement statement = control.createStatement()) {
      for (int i = 0; i < Workload.CONNECTIONS; i++) {
        connections.add(DriverManager.getConnection(url));
      }
      long before = sum(statement);
      Cpu cpu = Processes.cpu(pid);
      long start = Clock.system().nanoTime();
      long applied = run(connections, workload, start + time.toNanos());
      long nanos = Clock.system().nanoTime() - start;
      Cpu taken = Processes.cpu(pid).since(cpu);
      long found = sum(statement) - before;
      if (found != applied) {
        throw new WrongCountException(name(), workload, applied, found);
      }
      return new Measurement(applied, applied / (nanos / 1e9), taken.per(applied / 1e6));
    } finally {
      for (Connection each : connections) {
        each.close();
      }
    }
  }

  private long run(List<Connection> connections, Workload workload, long end) throws Exception {
    try (ExecutorService executor = Executors.newFixedThreadPool(connections.size())) {
      List<Future<Long>> running = new ArrayList<>();
      for (Connection connection : connections) {
        running.add(executor.submit(() -> client(connection, workload, end)));
      }
      long applied = 0;
      for (Future<Long> each : running) {
        applied += each.get();
      }
      return applied;
    }
  }

  private long client(Connection connection, Workload workload, long end) throws SQLException {
    boolean once = workload.kind() == AddKind.ONCE;
    long applied = 0;
    try (PreparedStatement add = connection.prepareStatement(once ? ONCE : PLAIN)) {
      while (Clock.system().nanoTime() < end) {
        long number = number();
        int at = 1;
        if (once) {
          add.setLong(at++, number);
        }
        add.setString(at, Request.key(RequestNumbers.key(number, workload.keys())));
        applied += add.executeUpdate();
      }
    }
    return applied;
  }

  private synchronized long number() {
    return numbers.next();
  }

  private static long sum(Statement statement) throws SQLException {
    return number(statement, "SELECT coalesce(sum(n), 0)::bigint FROM counter");
  }

  private static long number(Statement statement, String query) throws SQLException {
    try (ResultSet rows = statement.executeQuery(query)) {
      rows.next();
      return rows.getLong(1);
    }
  }
}
