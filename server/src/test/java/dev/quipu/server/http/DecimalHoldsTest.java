package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Decimal;
import dev.quipu.Hold;
import dev.quipu.HoldReading;
import dev.quipu.HoldResult;
import dev.quipu.Quipu;
import dev.quipu.RequestId;
import dev.quipu.ScaleRules;
import dev.quipu.Settlement;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.TransactionResult.Added;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Transactions and holds on counters that are decimals, over HTTP, RESP and the Java client. */
final class DecimalHoldsTest {
  private static final Duration TTL = Duration.ofMinutes(10);

  @TempDir static Path directory;
  private static AllPorts ports;
  private static Client client;
  private static Quipu remote;

  @BeforeAll
  static void start() throws IOException {
    ports = AllPorts.start(directory, ScaleRules.parse(List.of("money/*=2", "fine/*=6")));
    client = ports.client();
    remote = Quipu.connect(URI.create("http://127.0.0.1:" + ports.http().address().getPort()));
  }

  @AfterAll
  static void stop() {
    remote.close();
    ports.close();
  }

  private static Client.Reply post(String path, String id, String body) {
    return client.post(path, body.replace('\'', '"'), "Idempotency-Key", id);
  }

  private static Client.Reply change(String path, String body) {
    return client.post(path, body.replace('\'', '"'));
  }

  private static void fill(String counter, String amount) {
    assertTrue(remote.counter(counter).add(new BigDecimal(amount)).isApplied());
  }

  private static String value(String counter) {
    return client.get("/v1/counters/" + counter.replace("/", "%2F")).text("value");
  }

  private static BigDecimal decimal(String text) {
    return new BigDecimal(text);
  }

  private static String bulk(String text) {
    return "$%d\r\n%s\r\n".formatted(text.length(), text);
  }

  @Test
  void transactionsOverHttp() {
    fill("money/h", "10");
    String body =
        "{'adds':[{'counter':'money/h','delta':-1.5,'floor':0},"
            + "{'counter':'fine/h','delta':'0.25'},{'counter':'h','delta':3}]}";
    Client.Reply done = post("/v1/transactions", "h-1", body);
    String adds =
        "\"adds\":[{\"counter\":\"money/h\",\"value\":\"8.50\",\"added\":\"-1.50\"},"
            + "{\"counter\":\"fine/h\",\"value\":\"0.250000\",\"added\":\"0.250000\"},"
            + "{\"counter\":\"h\",\"value\":\"3\",\"added\":\"3\"}]";
    assertEquals("{" + adds + ",\"replayed\":false}", done.body());
    assertTrue(post("/v1/transactions", "h-1", body).json().path("replayed").asBoolean());
    assertTrue(client.get("/v1/requests/h-1").body().contains(adds));
    Client.Reply rejected =
        post(
            "/v1/transactions", "h-2", "{'adds':[{'counter':'money/h','delta':-9,'floor':'0.5'}]}");
    assertEquals(409, rejected.status());
    assertEquals("8.50", rejected.text("value"));
    assertEquals("0.50", rejected.text("limit"));
    assertTrue(rejected.text("detail").startsWith("-9.00 cannot be added to 8.50"));
    Client.Reply tooFine =
        post("/v1/transactions", "h-3", "{'adds':[{'counter':'money/h','delta':0.001}]}");
    assertEquals(400, tooFine.status());
    assertTrue(tooFine.text("detail").startsWith("amount of money/h: field delta has 3 digits"));
    assertEquals("8.50", value("money/h"));
  }

  @Test
  void holdsOverHttp() {
    fill("money/i", "10");
    Client.Reply placed =
        post(
            "/v1/holds",
            "i-1",
            "{'adds':[{'counter':'money/i','delta':-2.5,'floor':0},{'counter':'fine/i','delta':-2.5}],"
                + "'ttl':'PT10M'}");
    assertEquals(201, placed.status(), placed.body());
    assertTrue(
        placed
            .body()
            .contains(
                "\"counters\":[{\"counter\":\"money/i\",\"delta\":\"-2.50\"},"
                    + "{\"counter\":\"fine/i\",\"delta\":\"-2.500000\"}]"),
        placed.body());
    Client.Reply reading = client.get("/v1/counters/money%2Fi");
    assertEquals("-2.50", reading.text("held"), reading.body());
    assertEquals("7.50", reading.json().path("available").path("floor").asString());
    Client.Reply exceeded = change("/v1/holds/i-1/settle", "{'delta':-2.51}");
    assertEquals("/problems/hold-exceeded", exceeded.text("type"));
    assertEquals("-2.50", exceeded.text("held"));
    assertEquals(400, change("/v1/holds/i-1/settle", "{'delta':-0.001}").status());
    Client.Reply settled =
        change(
            "/v1/holds/i-1/settle",
            "{'adds':[{'counter':'money/i','delta':'-0.01'},{'counter':'fine/i','delta':-0.000001}]}");
    assertEquals(200, settled.status(), settled.body());
    assertTrue(settled.body().contains("\"settled\":\"-0.01\""), settled.body());
    assertTrue(settled.body().contains("\"settled\":\"-0.000001\""), settled.body());
    assertEquals("9.99", value("money/i"));
  }

  @Test
  void transactionsAndHoldsOverResp() throws IOException {
    fill("money/r", "10");
    try (var redis = ports.respClient()) {
      assertEquals(
          "*2\r\n*2\r\n*2\r\n" + bulk("8.50") + bulk("-1.50") + "*2\r\n:3\r\n:3\r\n:0\r\n",
          redis.ask("QUIPU.TX r-1 2 money/r -1.5 FLOOR 0 r 3"));
      assertEquals(
          "-ERR amount of money/r: field delta has 3 digits after the point; the limit is 2, the scale"
              + " of the counter\r\n",
          redis.ask("QUIPU.TX r-2 1 money/r 0.001"));
      String rejected = redis.ask("QUIPU.HOLD money/r -9 ID r-3 TTL 600000 FLOOR 0");
      assertTrue(rejected.contains("8.50"), rejected);
      assertTrue(redis.ask("QUIPU.HOLD money/r -2.5 ID r-4 TTL 600000 FLOOR 0").contains("open"));
      assertTrue(
          redis.ask("QUIPU.SETTLE r-4 -2.51").startsWith("-EXCEEDED the settlement of money/r"));
      assertTrue(redis.ask("QUIPU.SETTLE r-4 -0.5").contains("settled"));
      String info = redis.ask("QUIPU.HOLDINFO r-4");
      assertTrue(info.contains(bulk("-2.50")) && info.contains(bulk("-0.50")), info);
      assertEquals(bulk("8.00"), redis.ask("GET money/r"));
    }
  }

  @Test
  void theJavaClientHasUnitsAndDecimals() {
    fill("money/j", "10");
    TransactionResult.Applied applied =
        remote
            .transaction(RequestId.of("j-1"))
            .add("money/j", decimal("-1.5"), BigDecimal.ZERO, null)
            .add("fine/j", decimal("0.25"), null, null)
            .commit()
            .orElseThrow();
    List<Added> adds =
        List.of(new Added("money/j", -150, 850, 2), new Added("fine/j", 250_000, 250_000, 6));
    assertEquals(adds, applied.adds());
    assertEquals(
        new TransactionOutcome.Applied(adds),
        remote.part(dev.quipu.Transactions.class).outcome(RequestId.of("j-1")));
    assertEquals(
        new TransactionResult.Applied(List.of(new Added("money/j", -50, 800, 2)), false),
        remote.transaction(RequestId.of("j-2")).add("money/j", -50).commit());
    IllegalArgumentException both =
        assertThrows(
            IllegalArgumentException.class,
            () ->
                remote
                    .transaction(RequestId.of("j-3"))
                    .add("money/j", -50)
                    .add("fine/j", BigDecimal.ONE, null, null)
                    .commit()
                    .orElseThrow());
    assertTrue(String.valueOf(both.getMessage()).endsWith("use one type"));
    try (Hold hold =
        remote
            .hold(RequestId.of("j-4"))
            .add("money/j", decimal("-2.5"), BigDecimal.ZERO, null)
            .place(TTL)) {
      assertEquals(
          List.of(new HoldReading.Part("money/j", -250, OptionalLong.empty(), 2)),
          hold.placed().counters());
      assertEquals(new HoldResult.Exceeded("money/j", -250, 2), hold.settle(decimal("-2.51")));
      Settlement used =
          Settlement.ofDecimals(Map.of("money/j", Decimal.of("used", decimal("-0.5"))));
      HoldResult.Done done = assertInstanceOf(HoldResult.Done.class, hold.settle(used));
      assertEquals(
          List.of(new HoldReading.Part("money/j", -250, OptionalLong.of(-50), 2)),
          done.hold().counters());
      assertTrue(hold.settle(-50).orElseThrow().isReplayed());
    }
    assertEquals("7.50", value("money/j"));
  }
}
