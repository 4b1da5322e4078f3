package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.server.http.route.Services;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Holds over HTTP, on the engine. */
final class HoldsTest {
  @TempDir Path directory;
  private Quipu quipu;
  private HttpServer server;
  private Client client;

  @SuppressWarnings("NullAway.Init") // JUnit calls start before each test
  HoldsTest() {}

  @BeforeEach
  void start() throws Exception {
    quipu = Quipu.builder().directory(directory).build();
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    server = HttpServer.start(options, Services.of(quipu, "test"), Clock.system());
    client = new Client(server.address());
    assertEquals(200, client.add("stock", "{\"delta\":10}").status());
  }

  @AfterEach
  void stop() {
    server.close();
    quipu.close();
  }

  private Client.Reply place(String id, String body) {
    return client.post("/v1/counters/stock/holds", body.replace('\'', '"'), "Idempotency-Key", id);
  }

  private Client.Reply placeAll(String id, String body) {
    return client.post("/v1/holds", body.replace('\'', '"'), "Idempotency-Key", id);
  }

  private Client.Reply change(String id, String action, String body) {
    return client.post("/v1/holds/" + id + "/" + action, body.replace('\'', '"'));
  }

  private Client.Reply stock() {
    return client.get("/v1/counters/stock");
  }

  private void assertProblem(int status, String type, Client.Reply reply) {
    assertEquals(status, reply.status(), reply.body());
    assertEquals("/problems/" + type, reply.text("type"), reply.body());
    assertEquals("not-applied", reply.text("outcome"), reply.body());
  }

  @Test
  void aHoldIsPlacedReadAndSettled() {
    Instant before = Instant.now().truncatedTo(ChronoUnit.MILLIS);
    Client.Reply placed = place("cart-1", "{'delta':-3,'floor':2,'ttl':'PT10M'}");
    assertEquals(201, placed.status(), placed.body());
    String counters = "\"counters\":[{\"counter\":\"stock\",\"delta\":\"-3\"}]";
    assertTrue(
        placed.body().startsWith("{\"id\":\"cart-1\",\"state\":\"open\"," + counters),
        placed.body());
    assertTrue(placed.body().endsWith(",\"replayed\":false}"), placed.body());
    Duration left = Duration.between(before, Instant.parse(placed.text("expires")));
    assertTrue(
        left.compareTo(Duration.ofMinutes(10)) >= 0 && left.compareTo(Duration.ofMinutes(15)) < 0,
        left::toString);

    Client.Reply again = place("cart-1", "{'delta':-3,'floor':2,'ttl':'PT10M'}");
    assertEquals(200, again.status());
    assertTrue(again.json().path("replayed").asBoolean());
    assertEquals(placed.text("expires"), again.text("expires"));
    assertProblemOfId(place("cart-1", "{'delta':-4,'floor':2,'ttl':'PT10M'}"));

    assertEquals(
        "{\"name\":\"stock\",\"value\":\"7\",\"low\":\"7\",\"high\":\"7\","
            + "\"held\":\"-3\",\"available\":{\"floor\":\"5\"}}",
        stock().body());
    Client.Reply read = client.get("/v1/holds/cart-1");
    assertEquals(placed.body().replace(",\"replayed\":false", ""), read.body());
    Client.Reply outcome = client.get("/v1/requests/cart-1");
    assertEquals("held", outcome.text("outcome"));
    assertEquals("open", outcome.json().path("hold").path("state").asString());
    assertProblemOfId(client.post("/v1/requests/cart-1/cancel", ""));

    Client.Reply settled = change("cart-1", "settle", "{'delta':-1}");
    assertEquals(200, settled.status(), settled.body());
    assertEquals("settled", settled.text("state"));
    assertEquals(
        "[{\"counter\":\"stock\",\"delta\":\"-3\",\"settled\":\"-1\"}]",
        settled.json().path("counters").toString());
    assertFalse(settled.json().path("replayed").asBoolean());
    assertFalse(settled.json().has("late"));
    assertTrue(change("cart-1", "settle", "{'delta':-1}").json().path("replayed").asBoolean());
    Client.Reply other = change("cart-1", "settle", "{'delta':-2}");
    assertProblem(409, "hold-closed", other);
    assertEquals("settled", other.text("state"));
    assertEquals("cart-1", other.json().path("hold").path("id").asString());
    assertProblem(409, "hold-closed", change("cart-1", "release", ""));
    assertProblem(409, "hold-closed", change("cart-1", "extend", "{'ttl':'PT1M'}"));
    assertEquals(
        "{\"name\":\"stock\",\"value\":\"9\",\"low\":\"9\",\"high\":\"9\"}", stock().body());
  }

  private static void assertProblemOfId(Client.Reply reply) {
    assertEquals(422, reply.status(), reply.body());
    assertEquals("/problems/request-id-reused", reply.text("type"));
  }

  @Test
  void aHoldIsReleasedAndExtended() {
    String expires = place("r", "{'delta':-3,'ttl':'PT10M'}").text("expires");
    Client.Reply extended = change("r", "extend", "{'ttl':'P1D'}");
    assertEquals(200, extended.status(), extended.body());
    assertTrue(extended.text("expires").compareTo(expires) > 0, extended.body());
    Client.Reply released = change("r", "release", "{}");
    assertEquals("released", released.text("state"));
    assertFalse(released.json().path("replayed").asBoolean());
    assertTrue(change("r", "release", "").json().path("replayed").asBoolean());
    assertEquals("released", change("r", "settle", "{'delta':-1}").text("state"));
    assertEquals("10", stock().text("value"));
  }

  @Test
  void aBoundRejectsAHoldAndNothingChanges() {
    Client.Reply rejected =
        placeAll(
            "two",
            "{'adds':[{'counter':'other','delta':1},{'counter':'stock','delta':-11,'floor':0}],"
                + "'ttl':'PT1M'}");
    assertProblem(409, "bound-reached", rejected);
    assertEquals("stock", rejected.text("counter"));
    assertEquals("10", rejected.text("value"));
    assertEquals(404, client.get("/v1/counters/other").status());
    assertProblem(404, "hold-not-found", change("two", "release", ""));
  }

  @Test
  void oneHoldSpansSeveralCounters() {
    Client.Reply placed =
        placeAll(
            "call",
            "{'adds':[{'counter':'day','delta':5,'ceiling':9},{'counter':'month','delta':5}],"
                + "'ttl':'PT1M'}");
    assertEquals(201, placed.status(), placed.body());
    assertEquals(
        "{\"ceiling\":\"4\"}", client.get("/v1/counters/day").json().path("available").toString());
    Client.Reply missing = change("call", "settle", "{'adds':[{'counter':'day','delta':1}]}");
    assertProblem(400, "bad-request", missing);
    assertTrue(missing.text("detail").contains("month"), missing.body());
    Client.Reply settled =
        change(
            "call",
            "settle",
            "{'adds':[{'counter':'month','delta':2},{'counter':'day','delta':0}]}");
    assertEquals(
        "[{\"counter\":\"day\",\"delta\":\"5\",\"settled\":\"0\"},"
            + "{\"counter\":\"month\",\"delta\":\"5\",\"settled\":\"2\"}]",
        settled.json().path("counters").toString(),
        settled.body());
    assertEquals("0", client.get("/v1/counters/day").text("value"));
    assertEquals("2", client.get("/v1/counters/month").text("value"));
  }

  @Test
  void aSettlementMayExceedTheHoldIfItsPolicyAllowsThat() {
    assertEquals(201, place("strict", "{'delta':-3,'floor':0,'ttl':'PT1M'}").status());
    Client.Reply exceeded = change("strict", "settle", "{'delta':-4}");
    assertProblem(409, "hold-exceeded", exceeded);
    assertEquals("stock", exceeded.text("counter"));
    assertEquals("-3", exceeded.text("held"));
    assertEquals("released", change("strict", "release", "").text("state"));

    String excess = "{'delta':-3,'floor':0,'ttl':'PT1M','excess':'allow'}";
    assertEquals(201, place("loose", excess).status());
    Client.Reply beyond = change("loose", "settle", "{'delta':-11}");
    assertProblem(409, "bound-reached", beyond);
    assertEquals("stock", beyond.text("counter"));
    assertTrue(
        beyond
            .text("detail")
            .startsWith(
                "-8, by which the settlement exceeds the -3 that the hold reserved, cannot be"),
        beyond.body());
    assertEquals("settled", change("loose", "settle", "{'delta':-10}").text("state"));
    assertEquals("0", stock().text("value"));
  }

  @Test
  void anExpiredHoldIsReleasedAndSettledLateByItsPolicy() throws Exception {
    assertEquals(201, place("strict", "{'delta':-3,'ttl':'PT1S'}").status());
    String late = "{'delta':-4,'floor':0,'ttl':'PT1S','late':'apply'}";
    assertEquals(201, place("late", late).status());
    Progress.await("the expiry", () -> stock().text("value").equals("10"));
    assertEquals("expired", client.get("/v1/holds/strict").text("state"));
    Client.Reply closed = change("strict", "settle", "{'delta':-3}");
    assertProblem(409, "hold-closed", closed);
    assertEquals("expired", closed.text("state"));
    Client.Reply settled = change("late", "settle", "{'delta':-4}");
    assertEquals(200, settled.status(), settled.body());
    assertTrue(settled.json().path("late").asBoolean(), settled.body());
    assertEquals("6", stock().text("value"));
  }

  @Test
  void openHoldsAreListedInPages() {
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      assertEquals(201, place("h" + i, "{'delta':-1,'ttl':'PT1M'}").status());
      if (i % 4 > 0) {
        expected.add("-1");
      } else {
        assertEquals(200, change("h" + i, "release", "").status());
      }
    }
    TreeSet<String> ids = new TreeSet<>();
    List<String> found = new ArrayList<>();
    String cursor = "";
    int pages = 0;
    do {
      Client.Reply page = client.get("/v1/counters/stock/holds?limit=7" + cursor);
      assertEquals(200, page.status(), page.body());
      page.json()
          .path("holds")
          .forEach(hold -> {
            ids.add(hold.path("id").asString());
            found.add(hold.path("counters").get(0).path("delta").asString());
            assertEquals("open", hold.path("state").asString());
          });
      cursor = page.json().has("cursor") ? "&cursor=" + page.text("cursor") : "";
      pages++;
    } while (!cursor.isEmpty());
    assertEquals(expected, found);
    assertEquals(30, ids.size());
    assertEquals(5, pages);
    String id = ids.first();
    assertEquals("released", change(id, "release", "").text("state"), "by its 128 bits");
    assertEquals(29, client.get("/v1/counters/stock/holds?limit=1000").json().path("holds").size());
    assertEquals("{\"holds\":[]}", client.get("/v1/counters/none/holds").body());
  }

  @ParameterizedTest
  @CsvSource({
    "?limit=0",
    "?limit=1001",
    "?limit=x",
    "?cursor=",
    "?cursor=YQ",
    "?cursor=*",
    "?prefix=a"
  })
  void anInvalidPageIsRejected(String query) {
    assertEquals(400, client.get("/v1/counters/stock/holds" + query).status());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'delta':-1}|field ttl is missing",
        "{'delta':-1,'ttl':60}|field ttl is not a string",
        "{'delta':-1,'ttl':'10m'}|field ttl is '10m'; send an ISO-8601 duration",
        "{'delta':-1,'ttl':'PT0.999S'}|field ttl is 999ms; it must be from 1s to 366d",
        "{'delta':-1,'ttl':'P367D'}|it must be from 1s to 366d",
        "{'delta':-1,'ttl':'-PT5S'}|it must be from 1s to 366d",
        "{'delta':-1,'ttl':'PT1.0001S'}|whole milliseconds",
        "{'delta':-1,'ttl':'PT99999999999999999999S'}|ISO-8601",
        "{'delta':0,'ttl':'PT1M'}|delta must not be 0",
        "{'ttl':'PT1M'}|field delta is missing",
        "{'delta':-1,'ttl':'PT1M','late':'never'}|field late is 'never'; it must be reject or apply",
        "{'delta':-1,'ttl':'PT1M','excess':'apply'}|it must be reject or allow",
        "{'delta':-1,'ttl':'PT1M','late':true}|field late is not a string",
        "{'adds':[{'counter':'a','delta':1}],'ttl':'PT1M'}|unknown field adds",
      })
  void anInvalidHoldIsNamedAndNotPlaced(String body, String detail) {
    Client.Reply reply = place("bad", body);
    assertEquals(400, reply.status(), reply.body());
    assertTrue(reply.text("detail").contains(detail), reply.body());
    assertEquals(404, client.get("/v1/holds/bad").status());
    assertEquals("10", stock().text("value"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "settle|{}|send either delta",
        "settle|{'delta':-1,'adds':[{'counter':'stock','delta':-1}]}|send either delta",
        "settle|{'delta':1}|another sign",
        "settle|{'adds':[{'counter':'other','delta':-1}]}|other is not a counter of the hold; it has stock",
        "settle|{'adds':[{'counter':'stock','delta':-1},{'counter':'b','delta':-1}]}|b is not a counter of the hold; it has stock",
        "settle|{'adds':[{'counter':'stock','delta':-1},{'counter':'stock','delta':-1}]}|two entries",
        "settle|{'adds':[{'counter':'stock','delta':-1,'floor':0}]}|unknown field adds[0].floor",
        "release|{'delta':-1}|unknown field delta",
        "extend|{}|field ttl is missing",
        "extend|{'ttl':'PT0S'}|it must be from 1s to 366d",
      })
  void anInvalidChangeIsNamedAndTheHoldStaysOpen(String action, String body, String detail) {
    assertEquals(201, place("open", "{'delta':-3,'ttl':'PT1M'}").status());
    Client.Reply reply = change("open", action, body);
    assertEquals(400, reply.status(), reply.body());
    assertTrue(reply.text("detail").contains(detail), reply.body());
    assertEquals("open", client.get("/v1/holds/open").text("state"));
    assertEquals("7", stock().text("value"));
  }

  @Test
  void idsAreRequiredOrRejected() {
    String body = "{\"delta\":-1,\"ttl\":\"PT1M\"}";
    Client.Reply without = client.post("/v1/counters/stock/holds", body);
    assertEquals(400, without.status());
    assertTrue(without.text("detail").startsWith("header Idempotency-Key is missing"));
    assertEquals(201, place("h", body).status());
    for (String action : List.of("settle", "release", "extend")) {
      Client.Reply with =
          client.post(
              "/v1/holds/h/" + action,
              action.equals("extend") ? "{\"ttl\":\"PT1M\"}" : "{}",
              "Idempotency-Key",
              "x");
      assertEquals(400, with.status(), with.body());
    }
    assertProblem(404, "hold-not-found", change("none", "settle", "{'delta':-1}"));
    assertProblem(404, "hold-not-found", change("none", "release", ""));
    assertProblem(404, "hold-not-found", change("none", "extend", "{'ttl':'PT1M'}"));
    assertEquals("/problems/hold-not-found", client.get("/v1/holds/none").text("type"));
  }

  @Test
  void transactionsAndHoldsShareTheirIds() {
    assertEquals(201, place("same", "{'delta':-1,'ttl':'PT1M'}").status());
    String adds = "{\"adds\":[{\"counter\":\"stock\",\"delta\":-1}]}";
    assertProblemOfId(client.post("/v1/transactions", adds, "Idempotency-Key", "same"));
    assertEquals(200, client.post("/v1/transactions", adds, "Idempotency-Key", "other").status());
    assertProblemOfId(place("other", "{'delta':-1,'ttl':'PT1M'}"));
    assertEquals("canceled", client.post("/v1/requests/gone/cancel", "").text("outcome"));
    assertProblem(409, "request-canceled", place("gone", "{'delta':-1,'ttl':'PT1M'}"));
    assertEquals("8", stock().text("value"));
  }

  @Test
  void aCounterWithOpenHoldsIsNotDeleted() {
    assertEquals(201, place("h", "{'delta':-1,'ttl':'PT1M'}").status());
    Client.Reply rejected = client.send(client.request("/v1/counters/stock").DELETE());
    assertEquals(409, rejected.status());
    assertEquals("/problems/holds-open", rejected.text("type"));
    assertEquals("9", stock().text("value"));
    assertEquals("released", change("h", "release", "").text("state"));
    assertEquals(204, client.send(client.request("/v1/counters/stock").DELETE()).status());
    assertEquals(404, stock().status());
  }
}
