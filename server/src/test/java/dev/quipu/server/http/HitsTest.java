package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.NotAppliedException;
import dev.quipu.Quipu;
import dev.quipu.Reason;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLogOptions;
import dev.quipu.layer.Store;
import dev.quipu.server.http.route.Services;
import dev.quipu.simpledbserver.SimpleDbOptions;
import dev.quipu.simpledbserver.SimpleDbServer;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Old hits that are listed, added, edited and deleted, over HTTP and by commands. */
final class HitsTest {
  private static final String HITS = "/v1/hits/a/page";
  private static final HitLogOptions OPTIONS = HitLogOptions.DEFAULT;

  @TempDir Path directory;

  private final ManualClock clock = new ManualClock(Clock.system().epochMillis());
  private final AtomicBoolean failsSummaries = new AtomicBoolean();
  private final Deque<Runnable> closing = new ArrayDeque<>();
  private HitLog hits;
  private HttpServer server;
  private Client client;

  @SuppressWarnings("NullAway.Init") // each test calls start
  HitsTest() {}

  private void start(StoreDriver driver) throws IOException {
    InterceptingDriver.Interceptor broken =
        new InterceptingDriver.Interceptor() {
          @Override
          public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
            boolean isSummary =
                writes.stream().anyMatch(write -> write.key().sort().equals("summary"));
            if (isSummary && failsSummaries.get()) {
              throw new NotAppliedException(Reason.UNAVAILABLE, "the store went away");
            }
            return call.get();
          }
        };
    hits = new HitLog(new Store(driver, clock), OPTIONS);
    HitLog served = new HitLog(new Store(new InterceptingDriver(driver, broken), clock), OPTIONS);
    Quipu quipu = Backends.on(driver, store -> served);
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    server = HttpServer.start(options, Services.of(quipu, "test"), Clock.system());
    client = new Client(server.address());
    closing.addFirst(server::close);
  }

  private void startOnEngine() throws IOException {
    Engine engine = Engine.open(directory.resolve("data"), EngineOptions.defaults());
    closing.addFirst(engine::close);
    start(engine.driver());
  }

  private void startOnSimpleDb() throws IOException {
    SimpleDbServer simpleDb = SimpleDbServer.start(SimpleDbOptions.DEFAULT, Clock.system());
    closing.addFirst(simpleDb::close);
    StoreDriver driver =
        StoreProvider.open(
            "simpledb://key:secret@us-east-1/one,two?endpoint=" + simpleDb.endpoint());
    closing.addFirst(driver::close);
    start(driver);
  }

  @AfterEach
  void close() {
    closing.forEach(Runnable::run);
  }

  private Instant now() {
    return Instant.ofEpochMilli(clock.epochMillis());
  }

  private void isCounted(long count) {
    Client.Reply reply = client.get("/v1/counters/a/page");
    assertEquals(Long.toString(count), reply.text("value"), reply.body());
  }

  private Client.Reply insert(long amount, Instant at, String... headers) {
    String body = "{\"amount\":%d,\"at\":\"%s\"}".formatted(amount, at);
    return client.post(HITS, body, headers);
  }

  private Client.Reply set(String hit, String amount) {
    return client.send(
        client
            .request(HITS + "?hit=" + hit)
            .header("Content-Type", "application/json")
            .PUT(HttpRequest.BodyPublishers.ofString("{\"amount\":%s}".formatted(amount))));
  }

  private int delete(String hit) {
    return client.send(client.request(HITS + "?hit=" + hit).DELETE()).status();
  }

  /** Lists all hits in pages. */
  private List<JsonNode> list(int limit, String more) {
    List<JsonNode> all = new ArrayList<>();
    String cursor = "";
    while (true) {
      Client.Reply reply = client.get("%s?limit=%d%s%s".formatted(HITS, limit, more, cursor));
      assertEquals(200, reply.status(), reply.body());
      JsonNode found = reply.json().path("hits");
      assertTrue(found.size() <= limit, reply.body());
      found.forEach(all::add);
      if (!reply.json().has("cursor")) {
        return all;
      }
      cursor = "&cursor=" + reply.text("cursor");
    }
  }

  private String hit(long amount) {
    return list(100, "").stream()
        .filter(each -> each.path("amount").asString("").equals(Long.toString(amount)))
        .findFirst()
        .orElseThrow()
        .path("hit")
        .asString("");
  }

  /** Adds 1, 10, 1, 10, 1, 10, 1 a second apart; they are in a summary, and beyond the window. */
  private Instant addSeven() {
    Instant start = now();
    for (int i = 0; i < 7; i++) {
      String[] id = {"Idempotency-Key", "\"%d\"".formatted(i)};
      String delta = "{\"delta\":%d}".formatted(i % 2 == 0 ? 1 : 10);
      assertEquals(200, client.add("a/page", delta, id).status());
      clock.advance(Duration.ofSeconds(1));
    }
    clock.advance(OPTIONS.settle());
    assertTrue(hits.rollUp("a/page").isStored());
    clock.advance(OPTIONS.window());
    isCounted(34);
    return start;
  }

  private void correctHitsBeyondTheWindow() {
    Instant start = addSeven();
    List<JsonNode> all = list(2, "");
    assertEquals(all, list(100, ""));
    assertEquals(7, all.size());
    assertEquals(start.toString(), all.getFirst().path("at").asString(""));
    String period = "&from=%s&until=%s".formatted(start.plusSeconds(1), start.plusSeconds(4));
    assertEquals(all.subList(1, 4), list(2, period));
    assertEquals(all.subList(1, 4), list(3, period));

    Client.Reply edited = set(hit(1), "\"4\"");
    assertEquals(200, edited.status(), edited.body());
    assertEquals("4", edited.text("amount"), edited.body());
    isCounted(37);
    assertEquals(200, set(hit(4), "4").status());
    isCounted(37);
    String ten = hit(10);
    assertEquals(204, delete(ten));
    assertEquals(204, delete(ten));
    isCounted(27);
    assertEquals(200, set(hit(4), "0").status());
    isCounted(23);
    assertEquals(5, list(3, "").size());

    Client.Reply added = insert(1000, start.minusSeconds(3600));
    assertEquals(200, added.status(), added.body());
    isCounted(1023);
    assertEquals("1000", list(1, "").getFirst().path("amount").asString(""));
    String[] id = {"Idempotency-Key", "\"late\""};
    Client.Reply tooOld = insert(5, start, id);
    assertEquals(400, tooOld.status(), tooOld.body());
    assertTrue(tooOld.body().contains("or in the past without a request id"), tooOld.body());
    Instant recent = now().minus(Duration.ofHours(1));
    assertEquals("false", insert(5, recent, id).text("replayed"));
    assertEquals("true", insert(5, recent, id).text("replayed"));
    assertEquals(422, insert(6, recent, id).status());
    isCounted(1028);
    String stored = hit(5);
    clock.advance(OPTIONS.window().plus(OPTIONS.settle()));
    for (int i = 0; i < 4; i++) {
      clock.advance(OPTIONS.settle().multipliedBy(2));
      hits.rollUpDue();
    }
    assertEquals(List.of(), list(100, ""));
    Client.Reply swept = set(stored, "9");
    assertEquals(404, swept.status());
    assertTrue(swept.body().contains("add the difference"), swept.body());
    isCounted(1028);
  }

  @Test
  void hitsAreCorrectedOnTheEngine() throws Exception {
    startOnEngine();
    correctHitsBeyondTheWindow();
  }

  @Test
  void hitsAreCorrectedOnSimpleDb() throws Exception {
    startOnSimpleDb();
    correctHitsBeyondTheWindow();
  }

  /** The server loses the store between editing a hit and correcting the summary. */
  @Test
  void anInterruptedEditIsCompletedByAnyServer() throws Exception {
    startOnEngine();
    addSeven();
    String edited = hit(10);
    failsSummaries.set(true);
    Client.Reply unknown = set(edited, "50");
    assertEquals(503, unknown.status(), unknown.body());
    assertEquals("unknown", unknown.text("outcome"), unknown.body());
    isCounted(34);
    hits.rollUpDue(); // of another server
    isCounted(74);
    assertEquals(503, set(edited, "60").status());
    isCounted(74);
    failsSummaries.set(false);
    assertEquals(200, set(edited, "60").status());
    isCounted(84);
  }

  @Test
  void badInputIsRejected() throws Exception {
    startOnEngine();
    addSeven();
    String hit = hit(10);
    for (String query :
        List.of(
            "limit=0",
            "limit=1001",
            "limit=x",
            "cursor=*",
            "cursor=MTIz",
            "cursor=",
            "from=now",
            "until=1",
            "page=1")) {
      assertEquals(400, client.get(HITS + "?" + query).status(), query);
    }
    String late = "?from=%s&until=%s".formatted(now(), now().minusSeconds(1));
    assertTrue(client.get(HITS + late).body().contains("until is before from"));
    assertTrue(insert(0, now()).body().contains("amount is 0"));
    Client.Reply future = insert(1, now().plusSeconds(60));
    assertTrue(future.body().contains("at is "), future.body());
    assertEquals(400, future.status());
    assertEquals(400, insert(1, Instant.MAX).status());
    assertEquals(400, insert(1, Instant.EPOCH.minusSeconds(1)).status());
    assertTrue(client.post(HITS, "{\"amount\":1}").body().contains("field at is missing"));
    assertTrue(set("", "1").body().contains("send the field hit"));
    assertTrue(set("x", "1").body().contains("send the field hit"));
    assertTrue(set(hit, "1.5").body().contains("not an integer"));
    assertTrue(set(hit, "\"%d\"".formatted(Long.MIN_VALUE)).body().contains("the minimum is"));
    assertEquals(404, set("1-none", "1").status());
    assertEquals(400, client.send(client.request(HITS).DELETE()).status());
    HttpRequest.Builder withId = client.request(HITS + "?hit=" + hit).DELETE();
    Client.Reply reply = client.send(withId.header("Idempotency-Key", "\"x\""));
    assertTrue(reply.body().contains("a repeat has the same effect"), reply.body());
    assertEquals(7, list(100, "").size());
    isCounted(34);
  }

  private String run(String... words) {
    return ClientCommand.run(server, "hits", words);
  }

  @Test
  void commandsCorrectHits() throws Exception {
    startOnEngine();
    Instant start = addSeven();
    List<String> lines = run("list", "a/page", "--limit", "3").lines().toList();
    assertEquals(3, lines.size(), lines.toString());
    assertTrue(lines.getFirst().startsWith("0 " + start + "\t1\t"), lines.toString());
    String hit = lines.get(1).split("\t", -1)[2];
    assertEquals(4, run("list", "a/page", "--from", start.plusSeconds(3) + "").lines().count());
    assertEquals("0 amount 12", run("set", "a/page", hit, "12"));
    isCounted(36);
    assertEquals("0 deleted", run("delete", "a/page", hit));
    isCounted(24);
    String at = start.minusSeconds(60).toString();
    assertEquals("0 added -4", run("insert", "a/page", "-4", "--at", at));
    isCounted(20);
    String recent = now().minusSeconds(60).toString();
    assertEquals("0 added 5", run("insert", "a/page", "5", "--at", recent, "--id", "é"));
    assertEquals("0 added 5 (replayed)", run("insert", "a/page", "5", "--at", recent, "--id", "é"));
    assertTrue(run("insert", "a/page", "6", "--at", recent, "--id", "é").startsWith("3 "));
    isCounted(25);
    String json = run("list", "a/page", "--until", start.toString(), "--json");
    assertTrue(json.contains("\"amount\":\"-4\""), json);

    assertTrue(run("set", "a/page", "1-none", "1").startsWith("1 "));
    String inRange = run("insert", "a/page", "1", "--at", at, "--id", "x");
    assertTrue(inRange.startsWith("2 ") && inRange.contains("without a request id"), inRange);
    for (String wrong :
        List.of(
            "list a/page --limit 0",
            "list a/page --from yesterday",
            "insert a/page 0 --at " + at,
            "insert a/page 1",
            "insert a/page 1 --at noon",
            "set a/page x 1",
            "list a/page --data " + directory)) {
      String said = run(wrong.split(" ", -1));
      assertTrue(said.startsWith("2 "), wrong + ": " + said);
    }
    isCounted(25);
  }

  @Test
  void otherTechniquesKeepNoHits() throws Exception {
    Engine engine = Engine.open(directory.resolve("data"), EngineOptions.defaults());
    Quipu quipu = Backends.on(engine);
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    try (quipu;
        HttpServer other = HttpServer.start(options, Services.of(quipu, "test"), Clock.system())) {
      Client.Reply reply = new Client(other.address()).get(HITS);
      assertEquals(501, reply.status());
      assertTrue(reply.body().contains("technique hit-log does"), reply.body());
    }
  }
}
