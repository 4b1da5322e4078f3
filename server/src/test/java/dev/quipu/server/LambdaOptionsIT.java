package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.ingest.SqsQueue;
import dev.quipu.layer.Store;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.testservers.MemcachedServer;
import dev.quipu.testservers.PostgresServer;
import dev.quipu.testservers.RedisServer;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The Lambda handler in the runtime of AWS, on each store that can count views, by options. */
final class LambdaOptionsIT {
  private static final String HANDLER = "dev.quipu.ingest.ViewHandler::handleRequest";
  private static final String PAGE = "blog.example/a";
  private static final Instant NOON = Instant.parse("2022-03-28T12:00:00Z");
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  /** Two clients at noon, one of them again a second and a day later, and two malformed events. */
  private static final List<String> MESSAGES =
      List.of(
          SqsQueue.text(new ViewEvent(PAGE, NOON, "a")),
          SqsQueue.text(new ViewEvent(PAGE, NOON, "a")),
          SqsQueue.text(new ViewEvent(PAGE, NOON, "b")),
          "no event",
          SqsQueue.text(new ViewEvent(PAGE, NOON.plusSeconds(1), "a")),
          SqsQueue.text(new ViewEvent(PAGE, NOON.plusSeconds(86_400), "a")),
          "{}");

  private static final Set<String> MALFORMED = Set.of("3", "6");

  @Test
  void onRedis() throws Exception {
    try (RedisServer redis = RedisServer.startDurable()) {
      allOptions("redis://127.0.0.1:%d?prefix=%%s".formatted(redis.port()));
    }
  }

  @Test
  void onPostgres() throws Exception {
    try (PostgresServer postgres = PostgresServer.start()) {
      allOptions(
          "postgresql://postgres@127.0.0.1:%d/postgres?table=%%s".formatted(postgres.port()));
    }
  }

  @Test
  void onDynamoDb() throws Exception {
    Optional<DynamoDbServer> started = DynamoDbServer.start();
    assumeTrue(started.isPresent(), "no DynamoDB Local: build with -Pdynamodb-local");
    try (DynamoDbServer dynamoDb = started.get()) {
      allOptions(
          "dynamodb://key:secret@us-east-1/%%s?endpoint=http://127.0.0.1:%d"
              .formatted(dynamoDb.endpoint().getPort()));
    }
  }

  /** On a store that cannot count views, every message fails. */
  @Test
  void onMemcachedEveryMessageFails() throws Exception {
    Optional<MemcachedServer> started = MemcachedServer.start();
    assumeTrue(started.isPresent(), "no memcached on this machine: ./dev deps installs it");
    try (MemcachedServer memcached = started.get()) {
      Map<String, String> store =
          Map.of("QUIPU_STORE", "memcached://127.0.0.1:" + memcached.port());
      try (LambdaService lambda = new LambdaService(HANDLER, store)) {
        assertEquals(Set.of("0", "1", "2", "3", "4", "5", "6"), failed(lambda.invoke(event())));
      }
    }
  }

  @Test
  void missingOrMalformedOptionsFailTheFunctionAtStart() throws Exception {
    try (RedisServer redis = RedisServer.startDurable()) {
      String store = "redis://127.0.0.1:" + redis.port();
      for (Map<String, String> environment :
          List.of(
              Map.<String, String>of(),
              Map.of("QUIPU_STORE", "none://127.0.0.1"),
              Map.of("QUIPU_STORE", store, "QUIPU_IDENTITY", "nobody"),
              Map.of("QUIPU_STORE", store, "QUIPU_KEEP", "7 days"),
              Map.of("QUIPU_STORE", store, "QUIPU_KEEP", "PT0S"))) {
        try (LambdaService lambda = new LambdaService(HANDLER, environment)) {
          assertEquals(Optional.empty(), lambda.invoke(event()), environment::toString);
        }
      }
      try (StoreDriver driver = StoreProvider.open(store)) {
        assertEquals(
            OptionalLong.empty(), new ViewCounter(new Store(driver, Clock.system())).count(PAGE));
      }
    }
  }

  private static void allOptions(String uri) throws Exception {
    Map<String, Long> views = Map.of("", 4L, "event", 4L, "client", 2L, "client-day", 3L);
    for (Map.Entry<String, Long> each : views.entrySet()) {
      Map<String, String> environment = new HashMap<>();
      String name = "by_" + each.getKey().replace('-', '_');
      environment.put("QUIPU_STORE", uri.formatted(name));
      if (!each.getKey().isEmpty()) {
        environment.put("QUIPU_IDENTITY", each.getKey());
      }
      countsOnce(environment, each.getValue());
    }
    keepsForATime(uri);
  }

  private static void countsOnce(Map<String, String> environment, long views) throws Exception {
    try (LambdaService lambda = new LambdaService(HANDLER, environment)) {
      for (int delivery = 0; delivery < 2; delivery++) {
        assertEquals(MALFORMED, failed(lambda.invoke(event())), environment::toString);
      }
      if (environment.size() == 1) { // without options
        lambda.crash();
        assertEquals(MALFORMED, failed(lambda.invoke(event())), environment::toString);
        assertEquals(2, lambda.starts());
      }
    }
    assertEquals(OptionalLong.of(views), count(environment), environment::toString);
  }

  private static void keepsForATime(String uri) throws Exception {
    Map<String, String> aDay = Map.of("QUIPU_STORE", uri.formatted("a_day"), "QUIPU_KEEP", "P1D");
    countsOnce(aDay, 4);
    Map<String, String> aSecond =
        Map.of("QUIPU_STORE", uri.formatted("a_second"), "QUIPU_KEEP", "PT1S");
    try (LambdaService lambda = new LambdaService(HANDLER, aSecond)) {
      assertEquals(MALFORMED, failed(lambda.invoke(event())));
      assertEquals(OptionalLong.of(4), count(aSecond));
      Progress.await(
          "views that count again",
          () -> {
            assertEquals(MALFORMED, failed(lambda.invoke(event())));
            return count(aSecond).orElseThrow() >= 8;
          });
    }
  }

  private static OptionalLong count(Map<String, String> environment) {
    String uri = environment.getOrDefault("QUIPU_STORE", "");
    try (StoreDriver driver = StoreProvider.open(uri)) {
      return new ViewCounter(new Store(driver, Clock.system())).count(PAGE);
    }
  }

  /** Returns the numbers of the messages to redeliver. */
  private static Set<String> failed(Optional<String> answer) {
    assertTrue(answer.isPresent(), "the function did not respond");
    Set<String> failed = new HashSet<>();
    for (JsonNode each : MAPPER.readTree(answer.get()).path("batchItemFailures")) {
      failed.add(each.path("itemIdentifier").asString());
    }
    return failed;
  }

  private static String event() {
    List<Map<String, Object>> records = new ArrayList<>();
    for (int i = 0; i < MESSAGES.size(); i++) {
      records.add(LambdaService.message(Integer.toString(i), "receipt", MESSAGES.get(i)));
    }
    return MAPPER.writeValueAsString(Map.of("Records", records));
  }
}
