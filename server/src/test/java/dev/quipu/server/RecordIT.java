package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Add;
import dev.quipu.layer.Store;
import dev.quipu.record.RecordGuard;
import dev.quipu.record.StoreRecord;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.RedisProtocol;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.Optimistic;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.testservers.MemcachedServer;
import dev.quipu.testservers.PostgresServer;
import dev.quipu.testservers.RedisServer;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** Differently configured servers on one store: those that contradict its record do not write. */
final class RecordIT {
  private static final Duration ANSWER_MAX = Duration.ofMinutes(5);
  private static final String LIKES = "/v1/counters/likes";

  @TempDir Path temporary;

  private QuipuProcess serve(String uri, String... options) throws IOException {
    List<String> all = new ArrayList<>(List.of("--store", uri));
    all.addAll(List.of(options));
    return QuipuProcess.serve(temporary.resolve("out"), all.toArray(String[]::new));
  }

  /** Returns the output of a server that did not start. */
  private static String rejected(Callable<QuipuProcess> start) {
    return String.valueOf(assertThrows(IllegalStateException.class, start::call).getMessage());
  }

  private static void add(QuipuProcess server, long delta) throws Exception {
    QuipuProcess.Answer answer = server.send(LIKES + "/add", "{\"delta\":%d}".formatted(delta));
    assertEquals(200, answer.status(), answer.body());
  }

  private static String value(QuipuProcess server) throws Exception {
    QuipuProcess.Answer answer = server.send(LIKES, "");
    assertEquals(200, answer.status(), answer.body());
    return JsonMapper.shared().readTree(answer.body()).path("value").asString();
  }

  // ---- another technique

  private void rejectsAnotherTechnique(String uri, String one, String other) throws Exception {
    try (QuipuProcess server = serve(uri, "--technique", one)) {
      add(server, 35);
      String said = rejected(() -> serve(uri, "--technique", other));
      assertTrue(
          said.contains("technique: record %s, this process %s".formatted(one, other)), said);
      assertTrue(said.contains("quipu adopt STORE-URI --technique " + other), said);
      add(server, 30);
    }
    try (QuipuProcess again = serve(uri, "--technique", one)) {
      assertEquals("65", value(again));
    }
  }

  @Test
  void onPostgres() throws Exception {
    try (PostgresServer store = PostgresServer.start()) {
      String uri = "postgresql://postgres@127.0.0.1:%d/postgres".formatted(store.port());
      rejectsAnotherTechnique(uri, "marker-item", "token-set");
      String said = rejected(() -> serve(uri, "--window", "48h"));
      assertTrue(said.contains("window: record 24h, this process 48h"), said);
      said = rejected(() -> serve(uri, "--shards", "4", "--floor", "0"));
      assertTrue(said.contains("--shards 4 --floor 0 --window 24h"), said);
    }
  }

  @Test
  void countersWithoutARecordAreAdopted() throws Exception {
    try (RedisServer redis = RedisServer.startDurable()) {
      String uri = "redis://127.0.0.1:" + redis.port();
      try (StoreDriver driver = StoreProvider.open(uri)) {
        new AtomicAdd(new Store(driver, Clock.system())).add(new Add("likes", 35, null));
      }
      String said = rejected(() -> serve(uri, "--technique", "atomic-add"));
      String command = "quipu adopt STORE-URI --technique atomic-add";
      assertTrue(said.contains(command), said);
      Process adopt =
          QuipuProcess.run(temporary.resolve("out"), "adopt", uri, "--technique", "atomic-add");
      assertEquals(0, adopt.waitFor());
      try (QuipuProcess server = serve(uri, "--technique", "atomic-add")) {
        add(server, 30);
        assertEquals("65", value(server));
      }
    }
  }

  @Test
  void onRedis() throws Exception {
    try (RedisServer store = RedisServer.startDurable()) {
      rejectsAnotherTechnique(
          "redis://127.0.0.1:" + store.port(), "item-collection", "marker-item");
    }
  }

  @Test
  void onMemcached() throws Exception {
    Optional<MemcachedServer> started = MemcachedServer.start();
    assumeTrue(started.isPresent(), "no memcached on this machine: ./dev deps installs it");
    try (MemcachedServer store = started.get()) {
      String uri = "memcached://127.0.0.1:" + store.port();
      rejectsAnotherTechnique(uri, "atomic-add", "optimistic");
      try (QuipuProcess server = serve(uri, "--technique", "atomic-add")) {
        store.restart(); // the store is empty again, without a record
        Progress.await(
            "adds after the restart",
            () -> {
              String body = "{\"delta\":1}";
              return server.send(LIKES + "/add", body).status() == 200;
            });
        Progress.await("the record", () -> rejectsOptimistic(uri));
      }
    }
  }

  private static boolean rejectsOptimistic(String uri) {
    try (StoreDriver driver = StoreProvider.open(uri)) {
      Store store = new Store(driver, Clock.system());
      RecordGuard.require(store, StoreRecord.of(Optimistic.SPEC, Optional.empty()));
      return false;
    } catch (IllegalArgumentException e) {
      return true;
    }
  }

  @Test
  void onDynamoDb() throws Exception {
    Optional<DynamoDbServer> started = DynamoDbServer.start();
    assumeTrue(started.isPresent(), "no DynamoDB Local: build with -Pdynamodb-local");
    try (DynamoDbServer store = started.get()) {
      rejectsAnotherTechnique(
          "dynamodb://key:secret@us-east-1/record?endpoint=" + store.endpoint(),
          "marker-item",
          "request-token");
    }
  }

  // ---- at once, and while one runs

  @Test
  void oneOfTwoServersStartedAtOnceIsRejected() throws Exception {
    try (PostgresServer store = PostgresServer.start();
        ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      String uri = "postgresql://postgres@127.0.0.1:%d/postgres".formatted(store.port());
      List<Future<Optional<QuipuProcess>>> starting = new ArrayList<>();
      for (String technique : List.of("marker-item", "token-set")) {
        starting.add(
            executor.submit(() -> {
              try {
                return Optional.of(serve(uri, "--technique", technique));
              } catch (IllegalStateException e) {
                assertTrue(e.toString().contains("quipu adopt"), e.toString());
                return Optional.empty();
              }
            }));
      }
      int started = 0;
      for (Future<Optional<QuipuProcess>> each : starting) {
        Optional<QuipuProcess> server = each.get();
        server.ifPresent(QuipuProcess::close);
        started += server.isPresent() ? 1 : 0;
      }
      assertEquals(1, started);
    }
  }

  @Test
  void aServerStopsWritingWhenAnotherRecordIsAdopted() throws Exception {
    try (RedisServer redis = RedisServer.startDurable();
        StoreDriver driver = StoreProvider.open("redis://127.0.0.1:" + redis.port());
        QuipuProcess server = serve("redis://127.0.0.1:" + redis.port())) {
      add(server, 1);
      ManualClock clock =
          new ManualClock(Clock.system().epochMillis()); // sleeps return immediately
      Store store = new Store(driver, clock);
      StoreRecord other = StoreRecord.of(AtomicAdd.SPEC, Optional.empty());
      RecordGuard.adopt(store, other);
      Progress.await(
          "a rejected add",
          () -> {
            QuipuProcess.Answer answer = server.send(LIKES + "/add", "{\"delta\":1}");
            boolean isRejected = answer.status() == 503;
            assertTrue(!isRejected || answer.body().contains("not-applied"), answer.body());
            assertTrue(!isRejected || answer.body().contains("quipu adopt"), answer.body());
            return isRejected;
          });
      assertEquals(503, server.send("/readyz", "").status());
      String before = value(server); // reads still work
      RecordGuard.adopt(store, StoreRecord.of(MarkerItem.SPEC, Optional.of(Duration.ofHours(24))));
      Progress.await("ready", () -> server.send("/readyz", "").status() == 200);
      add(server, 1);
      assertEquals(Long.parseLong(before) + 1, Long.parseLong(value(server)));
    }
  }

  // ---- a store that is away

  @Test
  void viewsAreAcceptedWhileTheStoreIsUnavailableAtStart() throws Exception {
    try (RedisServer redis = RedisServer.startDurable();
        FaultProxy proxy =
            FaultProxy.start(new RedisProtocol(), redis.port(), ANSWER_MAX, write -> 0)) {
      proxy.reject();
      String uri = "redis://127.0.0.1:" + proxy.port();
      assertTrue(rejected(() -> serve(uri)).contains("quipu: "));
      String queue = "engine:" + temporary.resolve("queue");
      try (QuipuProcess server = serve(uri, "--queue", queue)) {
        for (int i = 0; i < 5; i++) {
          String event =
              "{\"url\":\"u\",\"time\":\"2026-11-21T10:00:0%dZ\",\"clientId\":\"c\"}".formatted(i);
          assertEquals(202, server.send("/v1/views", event).status());
        }
        assertEquals(503, server.send(LIKES + "/add", "{\"delta\":1}").status());
        assertEquals(503, server.send("/readyz", "").status());
        proxy.accept();
        Progress.await(
            "5 views",
            () -> {
              QuipuProcess.Answer views = server.send("/v1/views?url=u", "");
              return views.status() == 200 && views.body().contains("\"5\"");
            });
        Progress.await("ready", () -> server.send("/readyz", "").status() == 200);
        add(server, 1);
      }
    }
  }

  // ---- regions

  private QuipuProcess region(String own, String initial, List<Integer> ports) throws IOException {
    String text =
        "{\"initial\":[%s],\"ceiling\":300,\"regions\":{%s,%s}}"
            .formatted(
                initial,
                "\"eu\":\"redis://127.0.0.1:%d\"".formatted(ports.get(0)),
                "\"us\":\"redis://127.0.0.1:%d\"".formatted(ports.get(1)));
    Path file = Files.writeString(Files.createTempFile(temporary, "regions", ".json"), text);
    return QuipuProcess.serve(
        temporary.resolve("out"), "--region", own, "--topology", file.toString());
  }

  @Test
  void commandsCountOnAServerOfARegion() throws Exception {
    try (RedisServer eu = RedisServer.startDurable();
        RedisServer us = RedisServer.startDurable();
        QuipuProcess server = region("eu", "\"eu\",\"us\"", List.of(eu.port(), us.port()))) {
      String url = server.uri().toString();
      assertEquals(0, command("add", "likes", "1", "--server", url));
      assertEquals(0, command("add", "likes", "2", "--id", "eu/x", "--server", url));
      assertEquals(0, command("add", "likes", "2", "--id", "eu/x", "--server", url), "replayed");
      assertEquals(0, command("add", "likes", "1", "--server", url));
      assertEquals(0, command("get", "likes", "--server", url));
      assertEquals(0, command("outcome", "likes", "eu/x", "--server", url));
      assertEquals(0, command("list", "--server", url));
      assertEquals(3, command("add", "likes", "400", "--server", url));
      assertEquals(
          "added 1,added 2,added 2 (replayed),added 1,4,applied 2,4\tlikes,rejected (ceiling): likes"
              + " is 4",
          String.join(",", Files.readAllLines(temporary.resolve("printed"))));
    }
  }

  private int command(String... words) throws Exception {
    return QuipuProcess.run(temporary.resolve("printed"), words).waitFor();
  }

  @Test
  void aRegionWithOtherInitialRegionsDoesNotStart() throws Exception {
    try (RedisServer eu = RedisServer.startDurable();
        RedisServer us = RedisServer.startDurable();
        FaultProxy toEu =
            FaultProxy.start(new RedisProtocol(), eu.port(), ANSWER_MAX, write -> 0)) {
      String both = "\"eu\",\"us\"";
      List<Integer> ports = List.of(toEu.port(), us.port());
      try (QuipuProcess server = region("eu", both, List.of(eu.port(), us.port()))) {
        String said = rejected(() -> region("us", "\"us\"", ports));
        assertTrue(said.contains("regions: record eu,us, this process us"), said);
        assertTrue(said.contains("region eu"), said);
        toEu.reject();
        said = rejected(() -> region("us", both, ports)); // the record of the others is unknown
        assertTrue(said.contains("do not respond: eu"), said);
        toEu.accept();
        region("us", both, ports).close();
        toEu.reject();
        region("us", both, ports).close(); // it has its own record now
        QuipuProcess.Answer answer = server.send(LIKES + "/add", "{\"delta\":1}");
        assertEquals(200, answer.status(), answer.body());
      }
    }
  }
}
