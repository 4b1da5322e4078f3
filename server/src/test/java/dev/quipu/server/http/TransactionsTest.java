package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.technique.TokenSet;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Transactions over HTTP, on the engine. */
final class TransactionsTest {
  private static final String PATH = "/v1/transactions";

  @TempDir Path directory;
  private Quipu quipu;
  private HttpServer server;
  private Client client;

  @SuppressWarnings("NullAway.Init") // JUnit calls start before each test
  TransactionsTest() {}

  @BeforeEach
  void start() throws Exception {
    quipu = Quipu.builder().directory(directory).build();
    server = serve(quipu);
    client = new Client(server.address());
  }

  private static HttpServer serve(Quipu quipu) throws Exception {
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    return HttpServer.start(options, Services.of(quipu, "test"), Clock.system());
  }

  @AfterEach
  void stop() {
    server.close();
    quipu.close();
  }

  private Client.Reply commit(String id, String body) {
    return client.post(PATH, body.replace('\'', '"'), "Idempotency-Key", id);
  }

  private String value(String counter) {
    return client.get("/v1/counters/" + counter).text("value");
  }

  @Test
  void allAddsCountOrNone() {
    assertEquals(200, client.add("a", "{\"delta\":8}").status());
    String transfer =
        "{'adds':[{'counter':'a','delta':-5,'floor':0},{'counter':'b','delta':'5','ceiling':9}]}";
    Client.Reply first = commit("t-1", transfer);
    assertEquals(200, first.status(), first.body());
    String adds =
        "\"adds\":[{\"counter\":\"a\",\"value\":\"3\",\"added\":\"-5\"},"
            + "{\"counter\":\"b\",\"value\":\"5\",\"added\":\"5\"}]";
    assertEquals("{" + adds + ",\"replayed\":false}", first.body());
    assertTrue(first.headers().firstValue("Idempotent-Replayed").isEmpty());

    Client.Reply rejected = commit("t-2", transfer);
    assertEquals(409, rejected.status());
    assertEquals(
        "{\"type\":\"/problems/bound-reached\",\"title\":\"Bound reached\",\"status\":409,"
            + "\"detail\":\"-5 cannot be added to 3: the floor is 0\",\"bound\":\"floor\","
            + "\"limit\":\"0\",\"value\":\"3\",\"counter\":\"a\",\"outcome\":\"not-applied\"}",
        rejected.body());
    Client.Reply above =
        commit("t-3", "{'adds':[{'counter':'a','delta':1},{'counter':'b','delta':5,'ceiling':9}]}");
    assertEquals("b", above.text("counter"));
    assertEquals("ceiling", above.text("bound"));

    Client.Reply again = commit("t-1", transfer);
    assertEquals("{" + adds + ",\"replayed\":true}", again.body());
    assertEquals("true", again.headers().firstValue("Idempotent-Replayed").orElse(""));
    Client.Reply conflict = commit("t-1", "{'adds':[{'counter':'a','delta':-4}]}");
    assertEquals(422, conflict.status());
    assertEquals("/problems/request-id-reused", conflict.text("type"));
    assertEquals("3", value("a"));
    assertEquals("5", value("b"));

    assertEquals(
        "{\"id\":\"t-1\",\"outcome\":\"applied\"," + adds + "}",
        client.get("/v1/requests/t-1").body());
    assertEquals("applied", client.post("/v1/requests/t-1/cancel", "").text("outcome"), "too late");
  }

  @Test
  void aTransactionIsCanceledAndOutcomesAreReturned() {
    assertEquals(
        "{\"id\":\"n/1\",\"outcome\":\"not-seen\",\"detail\":\"of a transaction or a hold with this id;"
            + " for an add, send the query parameter counter\"}",
        client.get("/v1/requests/n%2F1").body());
    assertEquals(
        "{\"id\":\"n/1\",\"outcome\":\"canceled\",\"detail\":\"of a transaction or a hold with this id;"
            + " for an add, send the query parameter counter\"}",
        client.post("/v1/requests/n%2F1/cancel", "").body());
    Client.Reply canceled = commit("n/1", "{'adds':[{'counter':'a','delta':1}]}");
    assertEquals(409, canceled.status());
    assertEquals("/problems/request-canceled", canceled.text("type"));
    assertEquals("canceled", client.get("/v1/requests/n%2F1").text("outcome"));
    assertEquals("not-seen", client.get("/v1/requests/n%2F1?counter=a").text("outcome"));
    assertEquals(404, client.get("/v1/counters/a").status());
    assertEquals(
        200, client.add("a", "{\"delta\":1}", "Idempotency-Key", "n/1").status(), "another id");
  }

  @Test
  void anOverflowIsRejected() {
    assertEquals(200, client.add("a", "{\"delta\":9223372036854775807}").status());
    Client.Reply reply =
        commit("o", "{'adds':[{'counter':'b','delta':1},{'counter':'a','delta':1}]}");
    assertEquals("/problems/overflow", reply.text("type"));
    assertEquals("a", reply.text("counter"));
    assertEquals(404, client.get("/v1/counters/b").status());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{}|field adds is missing; send an array of objects",
        "{'adds':1}|field adds is not an array of objects",
        "{'adds':['a']}|field adds is not an array of objects",
        "{'adds':[{'counter':'a','delta':1},1]}|field adds is not an array of objects",
        "{'adds':[]}|field adds has 0 entries; it must have 1 to 64",
        "{'adds':[{'counter':'a'}]}|field adds[0].delta is missing",
        "{'adds':[{'delta':1}]}|field adds[0].counter is missing",
        "{'adds':[{'counter':1,'delta':1}]}|field adds[0].counter is not a string",
        "{'adds':[{'counter':'a','delta':1,'id':'x'}]}|unknown field adds[0].id",
        "{'adds':[{'counter':'a','delta':1},{'counter':'b','delta':1.5}]}|amount of b: field delta is not",
        "{'adds':[{'counter':'a','delta':[1]}]}|field adds[0].delta is not an integer",
        "{'adds':[{'counter':'a','delta':0}]}|adds[0]: delta must not be 0",
        "{'adds':[{'counter':'','delta':1}]}|adds[0]: name is empty",
        "{'adds':[{'counter':'a','delta':1,'floor':2,'ceiling':1}]}|adds[0]: floor 2 is above",
        "{'adds':[{'counter':'a','delta':1},{'counter':'a','delta':2}]}|field adds: two adds are to",
        "{'adds':[{'counter':'a','delta':9223372036854775808}]}|adds[0].delta does not fit into 64",
        "{'adds':[{'counter':'a','counter':'b','delta':1}]}|duplicate field",
        "{'adds':[{'counter':'a','delta':1}],'ttl':'PT1M'}|unknown field ttl",
        "{'adds':[{'counter':'a','delta':1,'a':1,'b':1,'c':1,'d':1,'e':1,'f':1,'g':1}]}|unknown field",
      })
  void anInvalidBodyIsNamedAndChangesNothing(String body, String detail) {
    Client.Reply reply = commit("bad", body);
    assertEquals(400, reply.status(), reply.body());
    assertTrue(reply.text("detail").contains(detail), reply.body());
    assertEquals(404, client.get("/v1/counters/a").status());
    assertEquals("not-seen", client.get("/v1/requests/bad").text("outcome"));
  }

  @Test
  void anIdIsRequired() {
    Client.Reply reply = client.post(PATH, "{\"adds\":[{\"counter\":\"a\",\"delta\":1}]}");
    assertEquals(400, reply.status());
    assertTrue(reply.text("detail").startsWith("header Idempotency-Key is missing"), reply.body());
  }

  @Test
  void sixtyFourCountersWithTheLongestNamesAreOneTransaction() {
    List<String> adds = new ArrayList<>();
    for (int i = 0; i < 65; i++) {
      String escaped = "\\u00e9".repeat(255); // two bytes each in UTF-8
      adds.add("{\"counter\":\"%02d%s\",\"delta\":%d}".formatted(i, escaped, i + 1));
    }
    String most = "{\"adds\":[" + String.join(",", adds.subList(0, 64)) + "]}";
    Client.Reply reply = commit("long", most);
    assertEquals(200, reply.status(), reply.body());
    assertEquals(64, reply.json().path("adds").size());
    assertEquals("64", reply.json().path("adds").get(63).path("value").asString());
    assertTrue(commit("long", most).json().path("replayed").asBoolean());
    Client.Reply more = commit("more", "{\"adds\":[" + String.join(",", adds) + "]}");
    assertEquals(400, more.status());
    assertEquals("field adds has 65 entries; it must have 1 to 64", more.text("detail"));
    Client.Reply huge = commit("huge", most + " ".repeat(256 << 10));
    assertEquals(413, huge.status());
  }

  @Test
  void aTechniqueWithoutTransactionsIsNamed() throws Exception {
    try (MemoryDriver driver = new MemoryDriver();
        Quipu other = Backends.on(driver, store -> new TokenSet(store, Randomness.seeded(1), 8));
        HttpServer without = serve(other)) {
      Client there = new Client(without.address());
      for (Client.Reply reply :
          List.of(
              there.post(
                  PATH, "{\"adds\":[{\"counter\":\"a\",\"delta\":1}]}", "Idempotency-Key", "x"),
              there.get("/v1/requests/x"),
              there.get("/v1/holds/x"),
              there.get("/v1/counters/a/holds"),
              there.post("/v1/holds/x/release", ""))) {
        assertEquals(501, reply.status(), reply.body());
        assertEquals("/problems/unsupported", reply.text("type"));
      }
      assertEquals(200, there.add("a", "{\"delta\":1}").status());
      assertEquals(
          "{\"name\":\"a\",\"value\":\"1\",\"low\":\"1\",\"high\":\"1\"}",
          there.get("/v1/counters/a").body());
    }
  }
}
