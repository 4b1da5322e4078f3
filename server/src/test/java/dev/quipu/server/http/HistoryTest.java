package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.history.HistoryRules;
import dev.quipu.hits.HitLog;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.technique.ItemCollection;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The past over HTTP and by the command, over a day that has 25 hours. */
@SuppressWarnings("NullAway.Init") // JUnit calls start before each test
final class HistoryTest {
  private final ManualClock clock =
      new ManualClock(Instant.parse("2026-10-24T12:00:00Z").toEpochMilli());
  @TempDir Path directory;
  private Quipu quipu;
  private HttpServer server;
  private Client client;

  @BeforeEach
  void start() throws IOException {
    HistoryRules rules = HistoryRules.parse("views/*=hour:90d,day:5y");
    EngineOptions options = EngineOptions.defaults().withClock(clock).withHistory(rules);
    quipu = Backends.on(Engine.open(directory, options));
    server = start(quipu);
    client = new Client(server.address());
  }

  private HttpServer start(Quipu counted) throws IOException {
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    return HttpServer.start(options, Services.of(counted, "engine:"), clock);
  }

  @AfterEach
  void stop() {
    server.close();
    quipu.close();
  }

  /** One add each hour, and 10 to another counter. */
  private void count(int hours) {
    for (int i = 0; i < hours; i++) {
      var unused = quipu.counter("views/a").add(1);
      var unusedToo = quipu.counter("views/b/ü").add(10);
      clock.advance(Duration.ofHours(1));
    }
  }

  @Test
  void countersAreRankedByChange() {
    count(3);
    var unusedC = quipu.counter("views/c").add(7);
    clock.advance(Duration.ofMinutes(121)); // into a new bucket
    var unusedA = quipu.counter("views/a").add(3);
    var unusedB = quipu.counter("views/b/ü").add(-5);
    quipu.counter("views/c").delete();
    var unusedD = quipu.counter("views/d").add(3);
    var unusedOther = quipu.counter("other").add(100);
    var unusedSame = quipu.counter("views/e").add(1);
    var unusedBack = quipu.counter("views/e").add(-1);
    assertEquals(
        "{\"since\":\"2026-10-24T17:00:00Z\",\"counters\":["
            + "{\"name\":\"views/a\",\"value\":\"6\",\"change\":\"3\"},"
            + "{\"name\":\"views/d\",\"value\":\"3\",\"change\":\"3\"},"
            + "{\"name\":\"views/b/ü\",\"value\":\"25\",\"change\":\"-5\"},"
            + "{\"name\":\"views/c\",\"change\":\"-7\"}]}",
        client.get("/v1/counters?sort=-change&prefix=views/").body());
    assertEquals(
        "{\"since\":\"2026-10-24T17:00:00Z\",\"namespaces\":["
            + "{\"name\":\"views/\",\"counters\":4,\"change\":\"-6\"}]}",
        client.get("/v1/namespaces?sort=change").body());
    Client.Reply below = client.get("/v1/namespaces?sort=-change&prefix=views/&limit=3");
    assertEquals(
        "{\"since\":\"2026-10-24T17:00:00Z\",\"namespaces\":["
            + "{\"name\":\"views/a\",\"counters\":1,\"change\":\"3\"},"
            + "{\"name\":\"views/d\",\"counters\":1,\"change\":\"3\"},"
            + "{\"name\":\"views/b/\",\"counters\":1,\"change\":\"-5\"}],\"cursor\":\""
            + below.text("cursor")
            + "\"}",
        below.body());
    assertEquals(
        "{\"since\":\"2026-10-24T17:00:00Z\",\"namespaces\":["
            + "{\"name\":\"views/c\",\"counters\":1,\"change\":\"-7\"}]}",
        client
            .get("/v1/namespaces?sort=-change&prefix=views/&cursor=" + below.text("cursor"))
            .body());
    assertEquals(400, client.get("/v1/namespaces?step=day").status());
    Client.Reply first = client.get("/v1/counters?sort=change&prefix=views/&limit=3");
    assertEquals("-7", first.json().get("counters").get(0).get("change").stringValue());
    clock.advance(Duration.ofMinutes(330)); // the cursor has the boundary
    Client.Reply rest =
        client.get("/v1/counters?sort=change&prefix=views/&limit=3&cursor=" + first.text("cursor"));
    assertEquals(
        "{\"since\":\"2026-10-24T17:00:00Z\",\"counters\":["
            + "{\"name\":\"views/d\",\"value\":\"3\",\"change\":\"3\"}]}",
        rest.body());
    String day = client.get("/v1/counters?sort=-change&prefix=views/&step=day&q=B/").body();
    assertEquals( // recording began on that day
        "{\"since\":\"2026-10-24T12:00:00Z\",\"counters\":["
            + "{\"name\":\"views/b/ü\",\"value\":\"25\",\"change\":\"25\"}]}",
        day);
    Client.Reply rate = client.get("/v1/counters?sort=-rate&prefix=views/");
    assertEquals(400, rate.status());
    assertTrue(rate.text("detail").contains("the shortest step there is hour"), rate.body());
    assertEquals(400, client.get("/v1/counters?sort=-change&prefix=other").status());
    assertEquals(400, client.get("/v1/counters?sort=-value&step=day").status());
    assertEquals(400, client.get("/v1/counters?sort=-change&prefix=views/&cursor=eA").status());
    assertEquals(
        400,
        client
            .get("/v1/counters?sort=-change&prefix=views/&cursor=" + first.text("cursor"))
            .status());
    assertEquals(400, client.get("/v1/counters?sort=-rate&step=minute").status());
    assertEquals(400, client.get("/v1/counters?since=2026-10-24T12:00:00Z").status());
    assertEquals(400, client.get("/v1/counters?sort=-change&since=2099-01-01T00:00:00Z").status());
  }

  @Test
  void countersAreRankedByRate() throws IOException {
    server.close();
    quipu.close();
    EngineOptions options =
        EngineOptions.defaults()
            .withClock(clock)
            .withHistory(HistoryRules.parse("views/*=none,minute:2d"));
    quipu = Backends.on(Engine.open(directory, options));
    server = start(quipu);
    client = new Client(server.address());
    clock.advance(Duration.ofMinutes(5).plusSeconds(30));
    var unusedA = quipu.counter("views/a").add(300);
    clock.advance(Duration.ofMinutes(1));
    var unusedB = quipu.counter("views/b").add(45);
    assertEquals(
        "{\"since\":\"2026-10-24T12:05:00Z\",\"counters\":["
            + "{\"name\":\"views/a\",\"value\":\"300\",\"change\":\"300\",\"rate\":\"3.333\"},"
            + "{\"name\":\"views/b\",\"value\":\"45\",\"change\":\"45\",\"rate\":\"0.500\"}]}",
        client.get("/v1/counters?sort=-rate&prefix=views/").body());
  }

  @Test
  void bucketsHaveValueAndChange() {
    count(72);
    String path = "/v1/counters/views%2Fa/history?step=day&from=2026-10-23T00:00:00Z";
    assertEquals(
        "{\"name\":\"views/a\",\"step\":\"day\",\"buckets\":["
            + "{\"from\":\"2026-10-23T00:00:00Z\"},"
            + "{\"from\":\"2026-10-24T00:00:00Z\",\"value\":\"12\",\"change\":\"12\","
            + "\"since\":\"2026-10-24T12:00:00Z\"},"
            + "{\"from\":\"2026-10-25T00:00:00Z\",\"value\":\"36\",\"change\":\"24\"},"
            + "{\"from\":\"2026-10-26T00:00:00Z\",\"value\":\"60\",\"change\":\"24\"},"
            + "{\"from\":\"2026-10-27T00:00:00Z\",\"value\":\"72\",\"change\":\"12\","
            + "\"complete\":false}],\"to\":\"2026-10-28T00:00:00Z\"}",
        client.get(path).body());
    String berlin = client.get(path + "&tz=Europe/Berlin&to=2026-10-26T00:00:00Z").body();
    assertTrue(
        berlin.contains("{\"from\":\"2026-10-24T22:00:00Z\",\"value\":\"35\",\"change\":\"25\"}"),
        berlin);
    String sums = client.get("/v1/history?prefix=views/&step=day&from=2026-10-26T00:00:00Z").body();
    assertTrue(
        sums.startsWith(
            "{\"prefix\":\"views/\",\"step\":\"day\",\"buckets\":[{\"from\":\"2026-10-26T00:00:00Z\","
                + "\"value\":\"660\",\"change\":\"264\"}"),
        sums);
  }

  @ParameterizedTest
  @CsvSource({
    "step=week, 'week'",
    "step=day@Mars, Mars",
    "tz=Mars, Mars",
    "from=yesterday, 2026-11-29T00:00:00Z",
    "from=2027-01-01T00:00:00Z, from is in the future",
    "to=2100-01-01T00:00:00Z, to is more than a day in the future",
    "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z, from is not before to",
    "step=minute&from=2026-01-01T00:00:00Z, use a longer step",
    "step=minute, the shortest step there is hour",
    "limit=1, unknown query parameter limit",
    "from=-999999999-01-01T00:00:00Z, from"
  })
  void aWrongRequestIsAnError(String query, String detail) {
    count(40);
    Client.Reply reply = client.get("/v1/counters/views%2Fa/history?" + query);
    assertEquals(400, reply.status(), reply.body());
    assertTrue(reply.text("detail").contains(detail), reply.body());
  }

  @Test
  void whatIsNotKeptIsAnError() throws IOException {
    count(1);
    Client.Reply other = client.get("/v1/counters/likes/history");
    assertEquals(400, other.status());
    assertTrue(other.text("detail").contains("--history"), other.body());
    Client.Reply all = client.get("/v1/history");
    assertEquals(400, all.status());
    assertTrue(all.text("detail").contains("add '*' to serve --history"), all.body());
    try (HttpServer stores = start(Backends.on(new MemoryDriver()))) {
      assertEquals(501, new Client(stores.address()).get("/v1/counters/likes/history").status());
    }
  }

  /** Hits, changes and views are summed up by their own times, as a sorted list of them is. */
  @ParameterizedTest
  @ValueSource(strings = {"hit-log", "item-collection", "views"})
  void whatIsStoredOneByOneIsSummedUp(String kind) throws IOException {
    Quipu on =
        Backends.on(
            new MemoryDriver(),
            store ->
                kind.equals("hit-log")
                    ? new HitLog(store)
                    : new ItemCollection(store, Randomness.seeded(3)));
    Random random = new Random(5);
    Clock now = Clock.system();
    Instant end = Instant.ofEpochMilli(now.epochMillis()).truncatedTo(ChronoUnit.HOURS);
    TreeMap<Instant, Long> model = new TreeMap<>();
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    try (on;
        HttpServer stores = HttpServer.start(options, Services.of(on, "memory:"), now)) {
      Client of = new Client(stores.address());
      for (int i = 0; i < 150; i++) {
        Instant at = end.minusSeconds(1 + random.nextInt(40 * 3_600));
        long amount = kind.equals("views") ? 1 : 1 + random.nextInt(5);
        switch (kind) {
          case "hit-log" -> {
            HitLog log = on.counters().as(HitLog.class).orElseThrow();
            var unused = log.add(new Add("a", amount, null), at);
          }
          case "item-collection" -> {
            at = Instant.ofEpochMilli(now.epochMillis());
            var unused = on.counters().add(new Add("a", amount, null));
          }
          default ->
              of.post(
                  "/v1/views",
                  "{\"url\":\"u/ü\",\"time\":\"%s\",\"clientId\":\"c%d\"}".formatted(at, i));
        }
        model.merge(at.truncatedTo(ChronoUnit.MILLIS), amount, Long::sum);
      }
      String path =
          kind.equals("views") ? "/v1/views/history?url=u%2F%C3%BC&" : "/v1/counters/a/history?";
      Client.Reply reply =
          of.get(path + "step=hour&tz=Asia/Kolkata&from=" + end.minusSeconds(50 * 3_600));
      assertEquals(200, reply.status(), reply.body());
      long sum = 0;
      JsonNode buckets = reply.json().get("buckets");
      for (int i = 0; i < buckets.size(); i++) {
        Instant from = Instant.parse(buckets.get(i).get("from").stringValue());
        String next =
            (i + 1 < buckets.size() ? buckets.get(i + 1).get("from") : reply.json().get("to"))
                .stringValue();
        long expected =
            model.subMap(from, Instant.parse(next)).values().stream()
                .mapToLong(Long::longValue)
                .sum();
        JsonNode change = buckets.get(i).get("change");
        if (change != null) {
          assertEquals(Long.toString(expected), change.stringValue(), reply.body());
          sum += expected;
        } else {
          assertEquals(0, expected, reply.body()); // before the oldest one
        }
      }
      assertEquals(model.values().stream().mapToLong(Long::longValue).sum(), sum);
      assertEquals(404, of.get("/v1/views/history?url=nothing").status());
      assertEquals(400, of.get("/v1/views/history").status());
    }
  }

  @Test
  void theCommandPrintsIt() {
    count(30);
    assertEquals(
        "0 2026-10-24T00:00:00Z\t12\t12\tsince 2026-10-24T12:00:00Z\n2026-10-25T00:00:00Z\t30\t18\tuntil now",
        ClientCommand.run(server, "history", "views/a", "--step", "day", "--from", "2026-10-20"));
    assertEquals(
        "0 nothing is known of this time",
        ClientCommand.run(
            server, "history", "views/a", "--from", "2026-10-20", "--to", "2026-10-21"));
    assertEquals(
        "0 nothing was counted in views/none up to the end of this time",
        ClientCommand.run(server, "history", "views/none"));
    String json =
        ClientCommand.run(
            server, "history", "views/a", "--step", "day", "--from", "2026-10-25", "--json");
    assertTrue(json.endsWith("\"change\":\"18\",\"complete\":false}"), json);
  }

  @Test
  void theCommandListsCountersByChange() {
    count(30);
    String since = "2026-10-25T01:30:00Z";
    assertEquals(
        "0 170\t300\tviews/b/ü\n17\t30\tviews/a\nsince 2026-10-25T01:00:00Z",
        ClientCommand.run(server, "list", "--top", "9", "--since", since));
    assertEquals(
        "0 no such changes since then",
        ClientCommand.run(server, "list", "--bottom", "9", "--since", since));
    assertEquals(
        "0 {\"name\":\"views/b/ü\",\"value\":\"300\",\"change\":\"170\",\"since\":\"2026-10-25T01:00:00Z\"}",
        ClientCommand.run(server, "list", "--top", "1", "--since", since, "--json"));
    String day = ClientCommand.run(server, "list", "--top", "1", "--since", since, "--step", "day");
    assertTrue(day.endsWith("since 2026-10-25T00:00:00Z"), day);
    String alone = ClientCommand.run(server, "list", "--since", since);
    assertTrue(alone.startsWith("2 ") && alone.contains("--since requires --top"), alone);
    String wrong = ClientCommand.run(server, "list", "--top", "1", "--since", "noon");
    assertTrue(wrong.startsWith("2 ") && wrong.contains("--since: 'noon' is not"), wrong);
  }

  @Test
  void aDateBeginsInTheTimeZone() {
    count(30);
    String path = "/v1/counters/views%2Fa/history?step=hour&tz=Europe/Berlin&from=2026-10-25";
    assertEquals(
        "2026-10-24T22:00:00Z",
        client.get(path).json().get("buckets").get(0).get("from").stringValue());
    assertEquals(400, client.get(path + "&to=2026-02-30").status());
  }
}
