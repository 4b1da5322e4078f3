package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.PostgresProtocol;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.simulation.proxy.RedisProtocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.testservers.PostgresServer;
import dev.quipu.testservers.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Sends bulk requests to three servers on one store that loses replies, becomes read-only, and
 * crashes: the reply to each line agrees exactly with the content of the store.
 */
final class BulkIT {
  private static final int SERVERS = 3;
  private static final int CLIENTS = 8;
  private static final int LINES = 25;
  private static final int BULKS = Soak.size(120, 1_200);
  private static final int COUNTERS = 10;
  private static final double LOST = 0.05;
  private static final long SEED = Long.getLong("seed", 20_261_123L);
  private static final Duration ANSWER_MAX = Duration.ofMinutes(5);
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  @TempDir Path temporary;

  private final Map<String, Long> counted = new ConcurrentHashMap<>();
  private final Set<String> doubtful = ConcurrentHashMap.newKeySet();
  private final Set<String> canceled = ConcurrentHashMap.newKeySet();
  private final AtomicInteger decided = new AtomicInteger();
  private final AtomicInteger notApplied = new AtomicInteger();
  private final AtomicInteger unknown = new AtomicInteger();
  private final AtomicInteger abandoned = new AtomicInteger();

  /** An operator of a store. */
  private interface Operator {
    void readOnly(boolean isReadOnly) throws Exception;

    void crash() throws Exception;
  }

  private record Line(String counter, long delta, String id) {
    String json() {
      return "{\"name\":\"%s\",\"delta\":%d,\"id\":\"%s\"}".formatted(counter, delta, id);
    }
  }

  @Test
  void onPostgres() throws Exception {
    try (PostgresServer store = PostgresServer.start()) {
      run(
          new PostgresProtocol(),
          store.port(),
          "postgresql://postgres@127.0.0.1:%d/postgres?table=bulk",
          new PostgresOperator(store.port()));
    }
  }

  @Test
  void onRedisThatSyncsEachWrite() throws Exception {
    try (RedisServer store = RedisServer.startDurable()) {
      run(
          new RedisProtocol(),
          store.port(),
          "redis://127.0.0.1:%d?prefix=bulk",
          new RedisOperator(store));
    }
  }

  @Test
  void onRedisThatNeverSyncs() throws Exception {
    try (RedisServer store = RedisServer.start("--appendonly", "yes", "--appendfsync", "no")) {
      run(
          new RedisProtocol(),
          store.port(),
          "redis://127.0.0.1:%d?prefix=bulk&durability=process",
          new RedisOperator(store));
    }
  }

  private void run(Protocol protocol, int storePort, String uri, Operator operator)
      throws Exception {
    try (FaultProxy proxy =
        FaultProxy.start(protocol, storePort, Duration.ofSeconds(1), write -> 0)) {
      List<QuipuProcess> servers = new ArrayList<>();
      try (ExecutorService executor = Executors.newFixedThreadPool(CLIENTS)) {
        for (int i = 0; i < SERVERS; i++) {
          servers.add(serve(uri.formatted(proxy.port())));
        }
        proxy.use(FaultPlan.atRandom(SEED, LOST, WireFault.REPLY_DROPPED, BulkIT::isOfCounters));
        List<Future<?>> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
          int client = i;
          clients.add(
              executor.submit(() -> {
                send(servers, client);
                return null;
              }));
        }
        try {
          awaitDecided(BULKS * LINES / 3, clients);
          operator.readOnly(true);
          awaitNotApplied(notApplied.get() + LINES, clients);
          operator.readOnly(false);
          awaitDecided(BULKS * LINES * 2 / 3, clients);
          operator.crash();
        } catch (Exception e) {
          executor.shutdownNow(); // its clients would repeat their lines forever
          throw e;
        }
        for (Future<?> each : clients) {
          each.get();
        }
        proxy.use(FaultPlan.none());
        assertTrue(proxy.ledger().fired(WireFault.REPLY_DROPPED) > 0, "no reply was lost");
        for (QuipuProcess server : servers) {
          assertEquals(counted, values(server), "seed " + SEED);
        }
        System.out.printf(
            "BulkIT: %s, %d servers, %d lines; answered as not applied %d, unknown %d;"
                + " abandoned %d%n",
            uri.split(":", 2)[0],
            SERVERS,
            BULKS * LINES,
            notApplied.get(),
            unknown.get(),
            abandoned.get());
      } finally {
        servers.forEach(QuipuProcess::close);
      }
    }
  }

  private QuipuProcess serve(String uri) throws IOException {
    return QuipuProcess.serve(
        temporary.resolve("out"), "--store", uri, "--technique", "marker-item");
  }

  private static boolean isOfCounters(byte[] write) {
    return new String(write, StandardCharsets.ISO_8859_1).contains("counter/bulk-");
  }

  private void awaitDecided(int lines, List<Future<?>> clients) throws Exception {
    while (decided.get() < lines && !areDone(clients)) {
      Thread.sleep(20);
    }
  }

  private void awaitNotApplied(int lines, List<Future<?>> clients) throws Exception {
    while (notApplied.get() < lines && !areDone(clients)) {
      Thread.sleep(20);
    }
  }

  private static boolean areDone(List<Future<?>> clients) throws Exception {
    boolean areDone = true;
    for (Future<?> each : clients) {
      areDone &= each.isDone();
      if (each.isDone()) {
        each.get(); // rethrows its failure
      }
    }
    return areDone;
  }

  /** Sends the lines of one client until each is decided. */
  private void send(List<QuipuProcess> servers, int client) throws Exception {
    Random random = new Random(SEED + client);
    try (HttpClient http = HttpClient.newHttpClient()) {
      for (int bulk = client; bulk < BULKS; bulk += CLIENTS) {
        List<Line> left = new ArrayList<>();
        for (int i = 0; i < LINES; i++) {
          left.add(
              new Line(
                  "bulk-" + random.nextInt(COUNTERS),
                  1 + random.nextInt(3),
                  "line-%d-%d".formatted(bulk, i)));
        }
        while (!left.isEmpty()) {
          URI server = servers.get(random.nextInt(SERVERS)).uri();
          left = sendOnce(http, server, left, random);
        }
      }
    }
  }

  /** Returns the lines to repeat. */
  private List<Line> sendOnce(HttpClient http, URI server, List<Line> lines, Random random)
      throws Exception {
    String body = String.join("\n", lines.stream().map(Line::json).toList());
    String answer = post(http, server.resolve("/v1/counters/bulk"), body);
    List<String> answers = answer.lines().toList();
    assertEquals(lines.size(), answers.size(), answer);
    List<Line> left = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      Line line = lines.get(i);
      JsonNode result = MAPPER.readTree(answers.get(i));
      int status = result.path("status").asInt();
      if (status == 200) {
        assertEquals(Long.toString(line.delta), result.path("added").asString(), answers.get(i));
        decided(line, true);
        continue;
      }
      if (status == 409 && canceled.contains(line.id)) {
        decided(line, false); // by a cancellation whose reply was lost
        continue;
      }
      String outcome = result.path("outcome").asString();
      // On a busy machine an add may wait too long for others to the row, before it is sent.
      assertTrue(status == 503 || (status == 429 && outcome.equals("not-applied")), answers.get(i));
      if (outcome.equals("not-applied")) {
        notApplied.incrementAndGet();
        if (!doubtful.contains(line.id) && random.nextInt(3) == 0) {
          abandoned.incrementAndGet();
          decided(line, false); // canceled: it must never count
          continue;
        }
      } else {
        assertEquals("unknown", outcome, answers.get(i));
        unknown.incrementAndGet();
        doubtful.add(
            line.id); // "not applied" refers to one call; an earlier one may have been applied
        if (random.nextInt(4) == 0) {
          canceled.add(line.id);
          Optional<String> became = cancel(http, server, line);
          if (became.isPresent()) {
            decided(line, became.get().equals("applied"));
            continue;
          }
        }
      }
      left.add(line);
    }
    return left;
  }

  private void decided(Line line, boolean isCounted) {
    if (isCounted) {
      counted.merge(line.counter, line.delta, Long::sum);
    }
    decided.incrementAndGet();
  }

  /** Cancels a request whose outcome is unknown; returns its outcome if known. */
  private static Optional<String> cancel(HttpClient http, URI server, Line line) throws Exception {
    URI uri = server.resolve("/v1/requests/%s/cancel?counter=%s".formatted(line.id, line.counter));
    HttpResponse<String> response = exchange(http, uri, "");
    if (response.statusCode() == 503) {
      return Optional.empty();
    }
    assertEquals(200, response.statusCode(), response.body());
    return Optional.of(MAPPER.readTree(response.body()).path("outcome").asString());
  }

  private static String post(HttpClient http, URI uri, String body) throws Exception {
    HttpResponse<String> response = exchange(http, uri, body);
    assertEquals(200, response.statusCode(), response.body());
    return response.body();
  }

  private static HttpResponse<String> exchange(HttpClient http, URI uri, String body)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(uri)
            .timeout(ANSWER_MAX)
            .header("Content-Type", "application/x-ndjson")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    return http.send(request, HttpResponse.BodyHandlers.ofString());
  }

  private static Map<String, Long> values(QuipuProcess server) throws Exception {
    Map<String, Long> values = new HashMap<>();
    try (HttpClient http = HttpClient.newHttpClient()) {
      for (int i = 0; i < COUNTERS; i++) {
        String counter = "bulk-" + i;
        URI uri = server.uri().resolve("/v1/counters/" + counter);
        HttpResponse<String> response =
            http.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() == 200) {
          values.put(counter, MAPPER.readTree(response.body()).path("value").asLong());
        } else {
          assertEquals(404, response.statusCode(), response.body());
        }
      }
    }
    return values;
  }

  // ---- operators

  private record PostgresOperator(int port) implements Operator {
    @Override
    public void readOnly(boolean isReadOnly) throws SQLException {
      try (Connection connection = connect();
          Statement statement = connection.createStatement()) {
        statement.execute("SET default_transaction_read_only = off");
        statement.execute(
            "ALTER SYSTEM SET default_transaction_read_only = " + (isReadOnly ? "on" : "off"));
        statement.execute("SELECT pg_reload_conf()");
      }
    }

    /** Kills a server process, which stops all others and replays the log. */
    @Override
    public void crash() throws SQLException {
      try (Connection connection = connect();
          Statement statement = connection.createStatement();
          ResultSet pid = statement.executeQuery("SELECT pg_backend_pid()")) {
        pid.next();
        ProcessHandle.of(pid.getLong(1)).orElseThrow().destroyForcibly();
      }
    }

    private Connection connect() throws SQLException {
      return DriverManager.getConnection(
          "jdbc:postgresql://127.0.0.1:%d/postgres".formatted(port), "postgres", "");
    }
  }

  private record RedisOperator(RedisServer server) implements Operator {
    /** Demotes the primary, as a failover does. */
    @Override
    public void readOnly(boolean isReadOnly) {
      RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", server.port()));
      try (StatefulRedisConnection<String, String> connection = client.connect()) {
        if (isReadOnly) {
          connection.sync().replicaof("127.0.0.1", 1); // no server there
        } else {
          connection.sync().replicaofNoOne();
        }
      } finally {
        client.shutdown();
      }
    }

    @Override
    public void crash() {
      server.killAndRestart();
    }
  }
}
