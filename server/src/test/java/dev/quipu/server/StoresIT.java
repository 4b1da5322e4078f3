package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.simulation.proxy.DynamoDbProtocol;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.PostgresProtocol;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.simulation.proxy.RedisProtocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.testservers.MemcachedServer;
import dev.quipu.testservers.PostgresServer;
import dev.quipu.testservers.RedisCluster;
import dev.quipu.testservers.RedisServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiFunction;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Several servers on one store whose replies to one write in twenty are lost. With request ids the
 * count is exact; without, it drifts by exactly the amount recorded by the proxy.
 */
final class StoresIT {
  private static final int SERVERS = 3;
  private static final int CLIENTS = 16;
  private static final int ADDS = Soak.size(1_500, 20_000);
  private static final double LOST = 0.05;
  private static final long SEED = Long.getLong("seed", 20_261_121L);
  private static final String COUNTER = "hot";
  private static final String WITHOUT_IDS = "without";
  private static final String PARTITION = "counter/" + COUNTER;
  private static final Duration ANSWER_MAX = Duration.ofMinutes(5);
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  @TempDir Path temporary;

  // ---- exact, and not

  @Test
  void onRedis() throws Exception {
    try (RedisServer store = RedisServer.startDurable()) {
      countBothWays(
          new RedisProtocol(),
          store.port(),
          (port, name) ->
              "redis://127.0.0.1:%d?prefix=%s&combine=%s".formatted(port, name, combine(name)),
          write -> contains(write, "{" + PARTITION + "}:value") ? 1 : 0);
    }
  }

  @Test
  void onPostgres() throws Exception {
    try (PostgresServer store = PostgresServer.start()) {
      countBothWays(
          new PostgresProtocol(),
          store.port(),
          (port, name) ->
              "postgresql://postgres@127.0.0.1:%d/postgres?table=%s".formatted(port, name),
          write -> MergedAdds.sum(write, PARTITION));
    }
  }

  @Test
  void onDynamoDb() throws Exception {
    Optional<DynamoDbServer> started = DynamoDbServer.start();
    assumeTrue(started.isPresent(), "no DynamoDB Local: build with -Pdynamodb-local");
    try (DynamoDbServer store = started.get()) {
      countBothWays(
          new DynamoDbProtocol(),
          store.endpoint().getPort(),
          (port, name) ->
              "dynamodb://key:secret@us-east-1/%s?endpoint=http://127.0.0.1:%d&combine=%s"
                  .formatted(name, port, combine(name)),
          write -> contains(write, PARTITION) ? 1 : 0);
    }
  }

  /** Without ids each write is one add, which the proxy counts. */
  private static String combine(String store) {
    return store.equals(WITHOUT_IDS) ? "off" : "on";
  }

  private void countBothWays(
      Protocol protocol,
      int storePort,
      BiFunction<Integer, String, String> uri,
      ToLongFunction<byte[]> measure)
      throws Exception {
    for (String technique : List.of("marker-item", "atomic-add")) {
      boolean hasIds = technique.equals("marker-item");
      String store = hasIds ? "with_ids" : WITHOUT_IDS;
      try (FaultProxy proxy =
          FaultProxy.start(protocol, storePort, Duration.ofSeconds(1), measure)) {
        String through = uri.apply(proxy.port(), store);
        proxy.use(
            FaultPlan.atRandom(
                SEED, LOST, WireFault.REPLY_DROPPED, write -> contains(write, PARTITION)));
        List<QuipuProcess> servers = serve(through, technique);
        try {
          long repeats = load(servers, hasIds);
          proxy.use(FaultPlan.none());
          long lost = proxy.ledger().fired(WireFault.REPLY_DROPPED);
          assertTrue(lost > 0, "no reply was lost, so this run is void");
          assertEquals(0, proxy.ledger().unknownOutcomes(), "the proxy itself does not know");
          for (QuipuProcess server : servers) {
            long drift = Long.parseLong(get(server, COUNTER).path("value").asString()) - ADDS;
            if (hasIds) {
              assertEquals(0, drift, "drift with ids");
            } else {
              assertEquals(proxy.ledger().sum() - ADDS, drift, "drift without ids");
              assertTrue(drift > 0, "without ids it must drift, or the fault did not fire");
            }
          }
          System.out.printf(
              "StoresIT: %s by %s, %d servers, %d clients, %d adds, %d replies lost, %d repeats,"
                  + " drift %d%n",
              through.split(":", 2)[0],
              technique,
              SERVERS,
              CLIENTS,
              ADDS,
              lost,
              repeats,
              hasIds ? 0 : proxy.ledger().sum() - ADDS);
        } finally {
          servers.forEach(QuipuProcess::close);
        }
      }
    }
  }

  private List<QuipuProcess> serve(String uri, String technique) throws IOException {
    List<QuipuProcess> servers = new ArrayList<>();
    for (int i = 0; i < SERVERS; i++) {
      servers.add(
          QuipuProcess.serve(temporary.resolve("out"), "--store", uri, "--technique", technique));
    }
    return servers;
  }

  /** Sends all adds, each until it is known to be applied; returns the number of repeats. */
  private static long load(List<QuipuProcess> servers, boolean hasIds) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient();
        ExecutorService executor = Executors.newFixedThreadPool(CLIENTS)) {
      List<Future<Long>> running = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        int first = i;
        running.add(
            executor.submit(() -> {
              long repeats = 0;
              for (int number = first; number < ADDS; number += CLIENTS) {
                Optional<String> id = hasIds ? Optional.of("request-" + number) : Optional.empty();
                while (!add(client, servers.get(number % SERVERS).uri(), id)) {
                  repeats++;
                }
              }
              return repeats;
            }));
      }
      long repeats = 0;
      for (Future<Long> each : running) {
        repeats += each.get();
      }
      return repeats;
    }
  }

  /** Returns whether the add was applied; false if it was not or the outcome is unknown. */
  private static boolean add(HttpClient client, URI server, Optional<String> id) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(server.resolve("/v1/counters/" + COUNTER + "/add"))
            .timeout(ANSWER_MAX)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{\"delta\":1}"));
    id.ifPresent(text -> request.header("Idempotency-Key", "\"" + text + "\""));
    HttpResponse<String> response =
        client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    assertTrue(
        response.statusCode() == 200 || response.statusCode() == 503,
        () -> response.statusCode() + ": " + response.body());
    return response.statusCode() == 200;
  }

  private static JsonNode get(QuipuProcess server, String counter) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(server.uri().resolve("/v1/counters/" + counter)).build();
      HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
      assertEquals(200, response.statusCode(), response.body());
      return MAPPER.readTree(response.body());
    }
  }

  private static boolean contains(byte[] bytes, String text) {
    return new String(bytes, StandardCharsets.ISO_8859_1).contains(text);
  }

  // ---- the others

  @Test
  void onRedisCluster() throws Exception {
    try (RedisCluster store = RedisCluster.start()) {
      countWithoutFaults("redis-cluster://127.0.0.1:" + store.ports().getFirst(), true);
    }
  }

  @Test
  void onMemcached() throws Exception {
    Optional<MemcachedServer> started = MemcachedServer.start();
    assumeTrue(started.isPresent(), "no memcached on this machine: ./dev deps installs it");
    try (MemcachedServer store = started.get()) {
      countWithoutFaults("memcached://127.0.0.1:" + store.port(), false);
    }
  }

  private void countWithoutFaults(String uri, boolean hasIds) throws Exception {
    List<QuipuProcess> servers = serve(uri, hasIds ? "marker-item" : "atomic-add");
    try {
      assertEquals(0, load(servers, hasIds));
      for (QuipuProcess server : servers) {
        assertEquals(Integer.toString(ADDS), get(server, COUNTER).path("value").asString());
      }
    } finally {
      servers.forEach(QuipuProcess::close);
    }
  }

  /** A server finds the values of another after both have stopped. */
  @Test
  void aStoreOutlivesItsServers() throws Exception {
    try (RedisServer store = RedisServer.startDurable()) {
      String uri = "redis://127.0.0.1:" + store.port();
      try (QuipuProcess server = QuipuProcess.serve(temporary.resolve("out"), "--store", uri);
          HttpClient client = HttpClient.newHttpClient()) {
        assertTrue(add(client, server.uri(), Optional.of("once")));
      }
      store.killAndRestart();
      try (QuipuProcess server = QuipuProcess.serve(temporary.resolve("out"), "--store", uri);
          HttpClient client = HttpClient.newHttpClient()) {
        assertTrue(add(client, server.uri(), Optional.of("once")));
        assertEquals("1", get(server, COUNTER).path("value").asString());
      }
      try (StoreDriver driver = StoreProvider.open(uri)) {
        assertTrue(driver.profile().has(Capability.DURABLE));
      }
    }
  }
}
