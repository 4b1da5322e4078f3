package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Decimal;
import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.backend.CounterThresholds.Direction;
import dev.quipu.backend.CounterThresholds.Threshold;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.server.webhook.AllowedHosts;
import dev.quipu.server.webhook.Backoff;
import dev.quipu.server.webhook.WebhookSecret;
import dev.quipu.server.webhook.Webhooks;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;
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

/** Thresholds over HTTP. */
@SuppressWarnings("NullAway.Init") // JUnit calls start before each test
final class ThresholdsTest {
  private static final String SOLD_OUT =
      """
      {"counter":"stock/a","at":0,"direction":"down","webhook":"http://127.0.0.1:1/x"}\
      """;

  @TempDir Path directory;
  private Engine engine;
  private Webhooks webhooks;
  private HttpServer server;
  private Client client;

  @BeforeEach
  void start() throws IOException {
    engine = Engine.open(directory, EngineOptions.defaults());
    webhooks =
        Webhooks.start(
            engine.thresholds(),
            AllowedHosts.of(List.of("127.0.0.1:1")), // where nothing listens
            WebhookSecret.parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "test"),
            Backoff.DEFAULT,
            Clock.system(),
            error -> {});
    start(Services.of(Backends.on(engine), "engine:").sending(Optional.of(webhooks)));
  }

  private void start(Services services) throws IOException {
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    server = HttpServer.start(options, services, Clock.system());
    client = new Client(server.address());
  }

  @AfterEach
  void stop() {
    server.close();
    webhooks.close();
    engine.close();
  }

  private Client.Reply put(String id, String body) {
    return client.send(
        client
            .request("/v1/thresholds/" + id)
            .header("Content-Type", "application/json")
            .PUT(BodyPublishers.ofString(body)));
  }

  @Test
  void aThresholdIsDefinedReadListedAndRemoved() {
    Client.Reply created = put("sold-out", SOLD_OUT);
    assertEquals(201, created.status());
    assertEquals(
        "{\"id\":\"sold-out\",\"counter\":\"stock/a\",\"at\":\"0\",\"direction\":\"down\","
            + "\"webhook\":\"http://127.0.0.1:1/x\",\"waiting\":0,\"missed\":0}",
        created.body());
    assertEquals(200, put("sold-out", SOLD_OUT).status());
    var unusedUp = engine.add(new Add("stock/a", 2, null));
    var unusedDown = engine.add(new Add("stock/a", -2, null));
    Client.Reply read = client.get("/v1/thresholds/sold-out");
    assertTrue(read.body().contains("\"waiting\":1"), read.body());
    assertTrue(
        client.get("/v1/thresholds").body().startsWith("{\"thresholds\":[{\"id\":\"sold-out\""));
    assertEquals(204, client.send(client.request("/v1/thresholds/sold-out").DELETE()).status());
    assertEquals(204, client.send(client.request("/v1/thresholds/sold-out").DELETE()).status());
    assertEquals(404, client.get("/v1/thresholds/sold-out").status());
    assertEquals("{\"thresholds\":[]}", client.get("/v1/thresholds").body());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{};counter and prefix",
        "{'counter':'a','prefix':'a','at':1,'direction':'up','webhook':'x'};counter and prefix",
        "{'counter':'a','at':1,'direction':'up'};webhook",
        "{'counter':'a','direction':'up','webhook':'http://127.0.0.1:1/'};at",
        "{'counter':'a','at':1,'direction':'both','webhook':'http://127.0.0.1:1/'};up or down",
        "{'counter':'a','at':1,'direction':'up','webhook':'http://10.0.0.1/'};10.0.0.1",
        "{'counter':'a','at':1,'direction':'up','webhook':'http:// x'};webhook",
        "{'counter':'a','at':1,'direction':'up','webhook':'HTTP://10.0.0.1/'};10.0.0.1",
        "{'counter':'a','at':1,'direction':'up','webhook':'/x'};webhook",
        "{'counter':'a','at':1,'direction':'up','webhook':'ftp://x/'};an address such as https",
        "{'counter':'','at':1,'direction':'up','webhook':'http://127.0.0.1:1/'};counter is empty",
        "{'counter':'a','at':1e40,'direction':'up','webhook':'http://127.0.0.1:1/'};field at",
        "{'counter':'a','at':1,'direction':'up','webhook':'http://127.0.0.1:1/','x':1};x"
      })
  void badInputIsExplained(String body, String contained) {
    Client.Reply reply = put("t", body.replace('\'', '"'));
    assertEquals(400, reply.status(), reply.body());
    assertTrue(reply.text("detail").contains(contained), reply.body());
    assertEquals("{\"thresholds\":[]}", client.get("/v1/thresholds").body());
  }

  @Test
  void aLimitIsAnErrorOfTheClient() {
    for (int i = 0; i < 16; i++) {
      assertEquals(201, put("t" + i, SOLD_OUT).status());
    }
    Client.Reply reply = put("t16", SOLD_OUT);
    assertEquals(400, reply.status(), reply.body());
    assertTrue(reply.text("detail").contains("the limit is 16"), reply.body());
    assertEquals(200, put("t7", SOLD_OUT).status());
  }

  @Test
  void aWrongIdIsExplained() {
    assertEquals(400, put("..", SOLD_OUT).status());
    assertEquals(400, put("%C3%A9", SOLD_OUT).status());
    assertEquals(400, put("a".repeat(65), SOLD_OUT).status());
  }

  private String run(String... words) {
    return ClientCommand.run(server, "threshold", words);
  }

  private String define(String... more) {
    List<String> all = new ArrayList<>(List.of("put", "low", "--webhook=http://127.0.0.1:1/x"));
    all.addAll(List.of(more));
    return run(all.toArray(String[]::new));
  }

  @Test
  void commandsDefineListAndDeleteThresholds() {
    assertEquals("0", run("list"));
    String shown = "low\tdown 2.5\tstock/*\thttp://127.0.0.1:1/x";
    assertEquals("0 " + shown, define("--prefix=stock/", "--at=2.5", "--direction=down"));
    assertEquals("0 " + shown, run("list"));
    assertEquals("0 " + shown, run("get", "low"));
    assertEquals("1 no threshold high", run("get", "high"));
    var unusedUp = engine.add(new Add("stock/a", 4, null));
    var unusedDown = engine.add(new Add("stock/a", -4, null));
    assertTrue(run("list").startsWith("0 " + shown + "\twaiting: 1"), run("list"));
    assertEquals(
        "0 low\tup -3\tstock/a\thttp://127.0.0.1:1/x",
        define("--counter=stock/a", "--at=-3", "--direction=up").replaceAll("\twaiting.*", ""));
    String json = run("list", "--json");
    assertTrue(json.contains("\"counter\":\"stock/a\",\"at\":\"-3\",\"direction\":\"up\""), json);
    assertEquals("0 deleted", run("delete", "low"));
    assertEquals("1 no threshold low", run("delete", "low"));
    assertEquals("0", run("list"));
  }

  @Test
  void wrongOptionsOfTheCommandAreExplained() {
    String none = define("--at=1", "--direction=up");
    assertTrue(none.startsWith("2 ") && none.contains("one of --counter and --prefix"), none);
    String both = define("--at=1", "--direction=up", "--counter=a", "--prefix=a");
    assertTrue(both.startsWith("2 ") && both.contains("one of --counter and --prefix"), both);
    String direction = define("--at=1", "--direction=left", "--counter=a");
    assertTrue(direction.startsWith("2 ") && direction.contains("must be up or down"), direction);
    String at = define("--at=many", "--direction=up", "--counter=a");
    assertTrue(at.startsWith("2 ") && at.contains("--at is not an integer"), at);
    String empty = run("delete", "");
    assertTrue(empty.startsWith("2 ") && empty.contains("ID is empty"), empty);
    String data = run("delete", "low", "--data", directory.resolve("other").toString());
    assertTrue(data.startsWith("2 ") && data.contains("--webhook-allow"), data);
  }

  @Test
  void withoutWebhooksThereIsARemedy() throws IOException {
    server.close();
    start(Services.of(Backends.on(engine), "engine:"));
    Client.Reply reply = put("t", SOLD_OUT);
    assertEquals(400, reply.status());
    assertTrue(reply.text("detail").contains("--webhook-allow"), reply.body());
    var unused =
        engine
            .thresholds()
            .put(
                new Threshold(
                    "t", true, "", new Decimal(1, 0), Direction.UP, URI.create("http://h/")));
    assertTrue(
        client
            .get("/v1/thresholds/t")
            .body()
            .contains("\"failing\":{\"reason\":\"webhooks are off"));
  }

  @Test
  void otherStoresHaveNoThresholds() throws IOException {
    server.close();
    try (Quipu quipu = Backends.on(new MemoryDriver())) {
      start(Services.of(quipu, "memory:"));
      assertEquals(501, put("t", SOLD_OUT).status());
      assertEquals(501, client.get("/v1/thresholds").status());
      server.close();
    }
  }
}
