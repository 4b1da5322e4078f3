package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Bounds;
import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.technique.ItemCollection;
import dev.quipu.technique.MarkerItem;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Responses of the server on the engine. */
@SuppressWarnings("NullAway.Init") // JUnit calls start before each test
final class HttpServerTest {
  @TempDir Path directory;
  private Quipu quipu;
  private HttpServer server;
  private Client client;

  @BeforeEach
  void start() throws Exception {
    quipu = Backends.on(Engine.open(directory, EngineOptions.defaults().withLog(1 << 20, 4 << 20)));
    server = serve(HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false), quipu);
    client = new Client(server.address());
  }

  private static HttpServer serve(HttpOptions options, Quipu quipu) throws Exception {
    return HttpServer.start(options, Services.of(quipu, "test"), Clock.system());
  }

  @AfterEach
  void stop() {
    server.close();
    quipu.close();
  }

  @Test
  void aRepeatedRequestCountsOnce() {
    String[] key = {"Idempotency-Key", "\"order-981\""};
    Client.Reply first = client.add("article/42", "{\"delta\":1}", key);
    Client.Reply second = client.add("article%2F42", "{\"delta\":1}", key);
    assertEquals(200, first.status());
    assertEquals(
        "{\"name\":\"article/42\",\"value\":\"1\",\"added\":\"1\",\"replayed\":false}",
        first.body());
    assertEquals(
        "{\"name\":\"article/42\",\"value\":\"1\",\"added\":\"1\",\"replayed\":true}",
        second.body());
    assertEquals(Optional.of("true"), second.headers().firstValue("Idempotent-Replayed"));
    assertEquals("1", client.get("/v1/counters/article/42").text("value"));
    // A key without quotes is the same key.
    assertEquals(
        "true",
        client.add("article/42", "{\"delta\":1}", "Idempotency-Key", "order-981").text("replayed"));
  }

  /** The bytes of an id in a header are UTF-8, as in a body and a path. */
  @Test
  void aNonAsciiIdIsTheSameInAHeaderALineAndAPath() throws IOException {
    String id = "bestellung-ä1";
    String line = "{\"name\":\"a\",\"delta\":1,\"id\":\"" + id + "\"}";
    client.postAs("/v1/counters/bulk", "application/x-ndjson", line);
    for (String key : List.of(id, "\"" + id + "\"")) {
      String request =
          "POST /v1/counters/a/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
              + "Idempotency-Key: "
              + key
              + "\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{\"delta\":1}";
      String answer = client.raw(request.getBytes(StandardCharsets.UTF_8));
      assertTrue(answer.contains("\"replayed\":true"), answer);
    }
    assertEquals(
        "applied",
        client.post("/v1/requests/bestellung-%C3%A41/cancel?counter=a", "").text("outcome"));
    assertEquals("1", client.get("/v1/counters/a").text("value"));
  }

  @Test
  void quotesInAQuotedKeyAreEscaped() {
    client.add("a", "{\"delta\":1}", "Idempotency-Key", "\"one\\\"two\\\\\"");
    assertEquals("applied", client.get("/v1/requests/one%22two%5C?counter=a").text("outcome"));
  }

  /** As a line of a bulk does. */
  @Test
  void aProblemOfAnAddHasItsNameAndItsOutcome() {
    client.add("a", "{\"delta\":1}", "Idempotency-Key", "\"k\"");
    for (Client.Reply reply :
        List.of(
            client.add("a", "{\"delta\":\"x\"}"),
            client.add("a", "{\"delta\":-9,\"floor\":0}"),
            client.add("a", "{\"delta\":2}", "Idempotency-Key", "\"k\""),
            client.postAs("/v1/counters/a/add", "text/plain", "{\"delta\":1}"))) {
      assertTrue(reply.status() >= 400, reply.body());
      assertEquals("not-applied", reply.text("outcome"), reply.body());
      assertEquals("a", reply.text("name"), reply.body());
    }
    assertEquals("", client.get("/v1/counters/none").text("outcome"));
  }

  @Test
  void aBoundOfAllCountersIsNamedAsTheLimit() throws Exception {
    ShardOptions options = ShardOptions.fixed(2).within(Bounds.between(0, 5));
    Quipu bounded =
        Backends.on(
            new MemoryDriver(), store -> new Sharded(store, new MarkerItem(store), options));
    try (HttpServer other =
        serve(HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false), bounded)) {
      Client of = new Client(other.address());
      for (String bounds : List.of("", ",\"floor\":0,\"ceiling\":5")) {
        Client.Reply reply = of.add("a", "{\"delta\":6" + bounds + "}");
        assertEquals(409, reply.status(), reply.body());
        assertEquals("ceiling", reply.text("bound"));
        assertEquals("5", reply.text("limit"), reply.body());
      }
    } finally {
      bounded.close();
    }
  }

  @Test
  void theSameKeyWithAnotherBodyIsRejected() {
    String[] key = {"Idempotency-Key", "\"k\""};
    client.add("a", "{\"delta\":1}", key);
    for (String body : List.of("{\"delta\":2}", "{\"delta\":1,\"floor\":0}")) {
      Client.Reply reply = client.add("a", body, key);
      assertEquals(422, reply.status());
      assertEquals("/problems/request-id-reused", reply.text("type"));
    }
    assertEquals("1", client.get("/v1/counters/a").text("value"));
  }

  @Test
  void concurrentDuplicatesCountOnce() throws Exception {
    for (int round = 0; round < 5; round++) {
      String key = "twin-" + round;
      List<Callable<Client.Reply>> calls = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        calls.add(() -> client.add("twins", "{\"delta\":1}", "Idempotency-Key", key));
      }
      try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
        int applied = 0;
        for (Future<Client.Reply> each : executor.invokeAll(calls)) {
          assertEquals(200, each.get().status());
          applied += each.get().text("replayed").equals("false") ? 1 : 0;
        }
        assertEquals(1, applied);
      }
    }
    assertEquals("5", client.get("/v1/counters/twins").text("value"));
  }

  @Test
  void aRejectionStatesTheBoundThatWasReached() {
    client.add("stock", "{\"delta\":\"2\"}");
    Client.Reply reply = client.add("stock", "{\"delta\":-3,\"floor\":0}");
    assertEquals(409, reply.status());
    assertEquals("application/problem+json", reply.headers().firstValue("Content-Type").get());
    assertEquals("/problems/bound-reached", reply.text("type"));
    assertEquals("2", reply.text("value"));
    assertEquals("floor", reply.text("bound"));
    assertEquals("ceiling", client.add("stock", "{\"delta\":9,\"ceiling\":3}").text("bound"));
    client.add("max", "{\"delta\":\"9223372036854775807\"}");
    assertEquals("/problems/overflow", client.add("max", "{\"delta\":1}").text("type"));
    client.add("min", "{\"delta\":-9223372036854775808}");
    assertEquals("/problems/overflow", client.add("min", "{\"delta\":-1}").text("type"));
    assertEquals("-9223372036854775808", client.get("/v1/counters/min").text("value"));
  }

  @Test
  void countersAreListedPageByPage() {
    for (int i = 0; i < 5; i++) {
      client.add("page/" + i, "{\"delta\":" + (i + 1) + "}");
    }
    client.add("other", "{\"delta\":1}");
    List<String> names = new ArrayList<>();
    String cursor = "";
    do {
      JsonNode page = client.get("/v1/counters?prefix=page%2F&limit=2" + cursor).json();
      page.path("counters").forEach(each -> names.add(each.path("name").asString()));
      cursor = page.has("cursor") ? "&cursor=" + page.path("cursor").asString() : "";
    } while (!cursor.isEmpty());
    assertEquals(List.of("page/0", "page/1", "page/2", "page/3", "page/4"), names);
    assertEquals(404, client.get("/v1/counters/page").status());
    assertEquals(400, client.get("/v1/counters?limit=0").status());
    assertEquals(400, client.get("/v1/counters?limit=x").status());
    assertEquals(400, client.get("/v1/counters?cursor=*").status());
    assertEquals(400, client.get("/v1/counters?unknown=1").status());
  }

  @Test
  void anUndecodableLineOfABulkIsRejectedByItself() {
    String good = "{\"name\":\"a\",\"delta\":1}\n";
    String body =
        good + "x".repeat(64 << 10) + "\n" + "x".repeat((64 << 10) + 1) + "\n\u00ff\n" + good;
    Client.Reply reply =
        client.send(
            client
                .request("/v1/counters/bulk")
                .header("Content-Type", "application/x-ndjson")
                .POST(
                    HttpRequest.BodyPublishers.ofByteArray(
                        body.getBytes(StandardCharsets.ISO_8859_1))));
    assertEquals(200, reply.status());
    List<JsonNode> lines =
        reply.body().lines().map(line -> JsonMapper.builder().build().readTree(line)).toList();
    assertEquals(
        List.of(200, 400, 400, 400, 200),
        lines.stream().map(line -> line.path("status").asInt()).toList());
    assertEquals(
        "the line has 65537 bytes; the limit is 65536. Shorten it, or keep its line feeds (curl --data-binary)",
        lines.get(2).path("detail").asString());
    assertEquals("the line is not valid UTF-8", lines.get(3).path("detail").asString());
    assertEquals("not-applied", lines.get(3).path("outcome").asString());
    assertEquals(4, lines.get(3).path("line").asInt());
    assertEquals("2", client.get("/v1/counters/a").text("value"));
  }

  @Test
  void eachLineOfABulkHasItsOwnResult() {
    String body =
        """
        {"name":"a","delta":1,"id":"one"}
        {"name":"a","delta":0}
        not json
        {"name":"a","delta":1,"id":"one"}
        {"name":"b","delta":-1,"floor":0}

        {"name":"a","delta":2,"id":"one"}
        """;
    Client.Reply reply = client.postAs("/v1/counters/bulk", "application/x-ndjson", body);
    assertEquals(200, reply.status());
    List<JsonNode> lines =
        reply.body().lines().map(line -> JsonMapper.builder().build().readTree(line)).toList();
    assertEquals(
        List.of(200, 400, 400, 200, 409, 400, 422),
        lines.stream().map(line -> line.path("status").asInt()).toList());
    assertEquals(true, lines.get(3).path("replayed").asBoolean());
    assertEquals(3, lines.get(2).path("line").asInt());
    assertTrue(lines.get(2).path("detail").asString().startsWith("the line is not valid JSON"));
    assertEquals(6, lines.get(5).path("line").asInt());
    assertEquals("the line is blank; remove it", lines.get(5).path("detail").asString());
    assertEquals("1", client.get("/v1/counters/a").text("value"));
    String tooMany = "{\"name\":\"a\",\"delta\":1}\n".repeat(10_001);
    assertEquals(400, client.postAs("/v1/counters/bulk", "application/x-ndjson", tooMany).status());
    assertEquals(415, client.post("/v1/counters/bulk", body).status());
    assertEquals("1", client.get("/v1/counters/a").text("value"));
  }

  @Test
  void theOutcomeOfARequestIsReturnedAndARequestIsCanceled() {
    client.add("a", "{\"delta\":3}", "Idempotency-Key", "one/1");
    assertEquals("applied", client.get("/v1/requests/one%2F1?counter=a").text("outcome"));
    assertEquals("not-seen", client.get("/v1/requests/two?counter=a").text("outcome"));
    assertEquals("canceled", client.post("/v1/requests/two/cancel?counter=a", "").text("outcome"));
    Client.Reply late = client.add("a", "{\"delta\":3}", "Idempotency-Key", "two");
    assertEquals(409, late.status());
    assertEquals("/problems/request-canceled", late.text("type"));
    assertEquals("applied", client.post("/v1/requests/one/1/cancel?counter=a", "").text("outcome"));
    assertEquals("not-seen", client.get("/v1/requests/two").text("outcome"), "a transaction");
  }

  @Test
  void viewsCountOnceAndAreQueriedByTime() {
    String view = "{\"url\":\"/a?b=c\",\"time\":\"2022-03-28T13:17:%s+00:00\",\"clientId\":\"me\"}";
    assertEquals(202, client.post("/v1/views", view.formatted("23")).status());
    assertEquals(202, client.post("/v1/views", view.formatted("23")).status());
    String bulk = view.formatted("23") + "\n" + view.formatted("24") + "\nx\n";
    Client.Reply reply = client.postAs("/v1/views/bulk", "application/x-ndjson", bulk);
    List<String> lines = reply.body().lines().toList();
    assertEquals("{\"status\":202,\"counted\":false}", lines.get(0));
    assertEquals("{\"status\":202,\"counted\":true}", lines.get(1));
    assertTrue(lines.get(2).contains("\"status\":400"), lines.get(2));
    assertEquals(
        "{\"url\":\"/a?b=c\",\"value\":\"2\"}", client.get("/v1/views?url=%2Fa%3Fb%3Dc").body());
    assertEquals(
        "1",
        client
            .get("/v1/views?url=/a%3Fb=c&from=2022-03-28T13:17:24Z&until=2022-03-29T00:00:00Z")
            .text("value"));
    assertEquals(404, client.get("/v1/views?url=/b").status());
    assertEquals(
        400,
        client.post("/v1/views", "{\"url\":\"/a\",\"time\":\"now\",\"clientId\":\"c\"}").status());
  }

  @Test
  void healthMetricsAndProblemTypesAreServed() {
    client.add("a", "{\"delta\":1}");
    assertEquals("ok\n", client.get("/livez").body());
    assertEquals("ok\n", client.get("/readyz").body());
    assertTrue(client.get("/readyz?verbose").body().startsWith("store test: ok ("));
    String metrics = client.get("/metrics").body();
    assertTrue(
        metrics.contains(
            "quipu_adds_total{outcome=\"applied\",store=\"engine\",technique=\"engine\"} 1.0"),
        metrics);
    assertTrue(metrics.contains("route=\"/v1/counters/{name}/add\",status=\"200\""), metrics);
    assertEquals(200, client.get("/problems/bound-reached").status());
    assertEquals(404, client.get("/problems/nothing").status());
  }

  @Test
  void severalCountersAreReadInOrder() {
    client.add("a", "{\"delta\":1}");
    client.add("b/c", "{\"delta\":2}");
    assertEquals(
        "{\"counters\":["
            + "{\"name\":\"b/c\",\"value\":\"2\",\"low\":\"2\",\"high\":\"2\"},"
            + "{\"name\":\"never\"},"
            + "{\"name\":\"a\",\"value\":\"1\",\"low\":\"1\",\"high\":\"1\"}]}",
        client.post("/v1/counters/read", "{\"names\":[\"b/c\",\"never\",\"a\"]}").body());
    assertEquals("{\"counters\":[]}", client.post("/v1/counters/read", "{\"names\":[]}").body());
  }

  private Client.Reply put(String name, String body) {
    return client.send(
        client
            .request("/v1/counters/" + name)
            .header("Content-Type", "application/json")
            .PUT(HttpRequest.BodyPublishers.ofString(body)));
  }

  @Test
  void aCounterIsSetIfItHasTheValue() {
    assertEquals("{\"name\":\"s\",\"value\":\"5\"}", put("s", "{\"value\":\"5\"}").body());
    assertEquals(200, put("s", "{\"value\":-3,\"ifValue\":5}").status());
    Client.Reply mismatch = put("s", "{\"value\":0,\"ifValue\":5}");
    assertEquals(409, mismatch.status());
    assertEquals("/problems/value-mismatch", mismatch.text("type"));
    assertEquals("-3", mismatch.text("value"));
    assertEquals(200, put("new", "{\"value\":1,\"ifValue\":0}").status());
    assertEquals("-3", client.get("/v1/counters/s").text("value"));
  }

  @Test
  void aDeletedCounterIsGoneAndItsRequestsStayReplays() {
    String[] key = {"Idempotency-Key", "one"};
    client.add("d/e", "{\"delta\":1}", key);
    for (int i = 0; i < 2; i++) {
      Client.Reply reply = client.send(client.request("/v1/counters/d/e").DELETE());
      assertEquals(204, reply.status());
      assertEquals("", reply.body());
      assertEquals(404, client.get("/v1/counters/d/e").status());
    }
    assertEquals("true", client.add("d/e", "{\"delta\":1}", key).text("replayed"));
  }

  @Test
  void theOpenApiDocumentHasExactlyTheRoutesOfTheTable() {
    JsonNode paths = client.get("/openapi.json").json().path("paths");
    TreeSet<String> documented = new TreeSet<>();
    for (String path : paths.propertyNames()) {
      for (String method : paths.path(path).propertyNames()) {
        if (!method.equals("parameters")) {
          documented.add(method.toUpperCase(Locale.ROOT) + " " + path);
        }
      }
    }
    assertEquals(
        server.routes().all().stream()
            .map(route -> route.method() + " " + route.path())
            .collect(Collectors.toCollection(TreeSet::new)),
        documented);
  }

  @Test
  void unknownPathsAndMethodsAreRejected() {
    assertEquals(404, client.get("/v2/counters").status());
    Client.Reply wrong = client.send(client.request("/v1/views").DELETE());
    assertEquals(405, wrong.status());
    assertEquals(Optional.of("POST, GET, HEAD, OPTIONS"), wrong.headers().firstValue("Allow"));
    Client.Reply action = client.post("/v1/holds/cart-1/settel", "{}");
    assertEquals(404, action.status());
    assertTrue(action.body().contains("no such action: settel; use settle, release, extend"));
    assertEquals(405, client.post("/v1/holds/cart-1", "{}").status());
    assertTrue(client.post("/v1/counters/a/ad", "{}").body().contains("no such action: ad; use"));
    Client.Reply options =
        client.send(
            client.request("/v1/views").method("OPTIONS", HttpRequest.BodyPublishers.noBody()));
    assertEquals(204, options.status());
    assertEquals(Optional.of("POST, GET, HEAD, OPTIONS"), options.headers().firstValue("Allow"));
    Client.Reply head =
        client.send(client.request("/livez").method("HEAD", HttpRequest.BodyPublishers.noBody()));
    assertEquals(200, head.status());
    assertEquals(Optional.of("3"), head.headers().firstValue("Content-Length"));
    assertEquals("", head.body());
  }

  @Test
  void aTokenIsRequiredIfTheServerHasOne() throws Exception {
    HttpOptions options =
        HttpOptions.defaults().at("127.0.0.1", 0, Optional.of("0123456789abcdef"), false);
    try (HttpServer guarded = serve(options, quipu)) {
      Client stranger = new Client(guarded.address());
      assertEquals(401, stranger.get("/v1/counters/a").status());
      assertEquals(401, stranger.add("a", "{\"delta\":1}").status());
      Client.Reply wrong =
          stranger.add("a", "{\"delta\":1}", "Authorization", "Bearer 0123456789abcdeF");
      assertEquals(401, wrong.status());
      assertTrue(wrong.body().contains("does not accept this token"), wrong::body);
      assertEquals(
          200,
          stranger.add("a", "{\"delta\":1}", "Authorization", "Bearer 0123456789abcdef").status());
      assertEquals(200, stranger.get("/livez").status());
    }
    assertThrows(
        IllegalArgumentException.class,
        () -> HttpOptions.defaults().at("0.0.0.0", 0, Optional.empty(), false));
  }

  @Test
  void aPageOfAnotherSiteCannotWrite() throws Exception {
    String request =
        "POST /v1/counters/a/add HTTP/1.1\r\nHost: %s\r\n%sContent-Type: application/json\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{\"delta\":1}";
    assertTrue(client.raw(request.formatted("evil.example", "")).contains(" 403 "));
    assertTrue(
        client
            .raw(request.formatted("localhost:7080", "Origin: http://evil.example\r\n"))
            .contains(" 403 "));
    assertTrue(client.raw(request.formatted("localhost", "Origin: null\r\n")).contains(" 403 "));
    assertTrue(
        client
            .raw(request.formatted("localhost", "Origin: http://localhost\r\n"))
            .contains(" 200 "));
    assertEquals("1", client.get("/v1/counters/a").text("value"));
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrder() throws Exception {
    StringBuilder requests = new StringBuilder();
    for (int i = 0; i < 200; i++) {
      requests.append(
          "POST /v1/counters/pipe/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 11\r\n%s\r\n{\"delta\":1}"
              .formatted(i == 199 ? "Connection: close\r\n" : ""));
    }
    String answers = client.raw(requests.toString());
    int at = 0;
    for (int i = 1; i <= 200; i++) {
      int next = answers.indexOf("\"value\":\"" + i + "\"", at);
      assertTrue(next >= at, "the answer to request " + i + " is not in its place");
      at = next;
    }
  }

  @Test
  void aClosedServerAcceptsNoConnections() throws Exception {
    client.add("a", "{\"delta\":1}");
    server.close();
    assertThrows(IOException.class, () -> client.connect().close());
    try (HttpServer memory =
        serve(
            HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false),
            Backends.on(new MemoryDriver(), ItemCollection::new))) {
      Client other = new Client(memory.address());
      // A technique that does not return the value leaves it out.
      assertEquals(
          "{\"name\":\"a\",\"added\":\"1\",\"replayed\":false}",
          other.add("a", "{\"delta\":1}").body());
    }
  }
}
