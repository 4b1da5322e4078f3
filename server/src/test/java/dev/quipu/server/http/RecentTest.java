package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.RequestId;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.technique.MarkerItem;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/** What the server did last, and what it could do: requests, events, techniques. */
final class RecentTest {
  @TempDir Path directory;

  @SuppressWarnings("NullAway.Init") // JUnit sets the directory
  RecentTest() {}

  private void onEngine(Served use) throws IOException {
    Served.on(Backends.on(Engine.open(directory, EngineOptions.defaults())), use);
  }

  private static int add(Client client, String counter, String body, String key) {
    return client.add(counter, body, "Idempotency-Key", "\"" + key + "\"").status();
  }

  private static List<String> requests(Client client, String path) {
    Client.Reply reply = client.get("/v1/counters/" + path);
    assertEquals(200, reply.status(), reply.body());
    List<String> found = new ArrayList<>();
    for (JsonNode each : reply.json().get("requests")) {
      String why = each.has("why") ? " " + each.get("why").stringValue() : "";
      String value = each.has("value") ? " = " + each.get("value").stringValue() : "";
      String outcome = each.get("outcome").stringValue() + why + value;
      found.add(each.get("delta").stringValue() + " " + outcome);
      assertTrue(each.get("id").stringValue().matches("[a-f0-9]{32}"));
      assertTrue(each.get("time").stringValue().matches("2\\d{3}-.*Z"));
    }
    return found;
  }

  @Test
  void requestsHaveTheirOutcomes() throws IOException {
    onEngine(client -> {
      assertEquals(List.of(), requests(client, "stock/requests"));
      assertEquals(200, add(client, "stock", "{\"delta\":5}", "a"));
      assertEquals(200, add(client, "stock", "{\"delta\":5}", "a"));
      assertEquals(422, add(client, "stock", "{\"delta\":6}", "a"));
      assertEquals(409, add(client, "stock", "{\"delta\":-9,\"floor\":0}", "b"));
      assertEquals(200, add(client, "other", "{\"delta\":1}", "a"));
      assertEquals(200, client.post("/v1/counters/stock/add", "{\"delta\":1}").status());
      assertEquals(
          List.of("-9 rejected floor = 5", "6 conflict", "5 replayed = 5", "5 applied = 5"),
          requests(client, "stock/requests"));
      assertEquals(List.of("-9 rejected floor = 5"), requests(client, "stock/requests?limit=1"));
      assertEquals(List.of("1 applied = 1"), requests(client, "other/requests"));
      assertEquals(
          RequestId.of("a").bits(),
          client
              .get("/v1/counters/other/requests")
              .json()
              .get("requests")
              .get(0)
              .get("id")
              .stringValue());
    });
  }

  @Test
  void amountsOfACounterWithAScaleAreDecimals() throws IOException {
    onEngine(client -> {
      assertEquals(
          200,
          client
              .send(
                  client
                      .request("/v1/counters/eur")
                      .header("Content-Type", "application/json")
                      .PUT(BodyPublishers.ofString("{\"scale\":2}")))
              .status());
      assertEquals(200, add(client, "eur", "{\"delta\":\"1.25\"}", "a"));
      assertEquals(200, add(client, "eur", "{\"delta\":\"1.25\"}", "a"));
      assertEquals(409, add(client, "eur", "{\"delta\":-5,\"floor\":0}", "b"));
      assertEquals(
          List.of("-5.00 rejected floor = 1.25", "1.25 replayed = 1.25", "1.25 applied = 1.25"),
          requests(client, "eur/requests"));
    });
  }

  /** Its place in memory is given to another counter once its ids are forgotten. */
  @Test
  void requestsOfADeletedCounterAreNotThoseOfAnother() throws IOException {
    ManualClock clock = new ManualClock(1_800_000_000_000L);
    EngineOptions options =
        EngineOptions.defaults().withWindow(Duration.ofSeconds(1)).withClock(clock);
    try (Engine engine = Engine.open(directory, options)) {
      Served.on(
          Backends.on(engine),
          client -> {
            assertEquals(200, add(client, "old", "{\"delta\":7}", "a"));
            assertEquals(List.of("7 applied = 7"), requests(client, "old/requests"));
            engine.delete("old");
            assertEquals(List.of("7 applied = 7"), requests(client, "old/requests"));
            for (int i = 0; i < 5; i++) {
              clock.advance(Duration.ofSeconds(2));
              engine.sweep();
              engine.checkpoint();
              assertEquals(200, client.add("new" + i, "{\"delta\":1}").status());
              assertEquals(List.of(), requests(client, "new" + i + "/requests"));
            }
            assertEquals(List.of(), requests(client, "old/requests"));
          });
    }
  }

  @Test
  void onlyTheLastOnesAreKept() throws IOException {
    onEngine(client -> {
      assertEquals(200, add(client, "first", "{\"delta\":1}", "a"));
      StringBuilder lines = new StringBuilder();
      for (int i = 0; i < 4_095; i++) {
        lines.append("{\"name\":\"many\",\"delta\":1,\"id\":\"%d\"}\n".formatted(i));
      }
      assertEquals(
          200,
          client.postAs("/v1/counters/bulk", "application/x-ndjson", lines.toString()).status());
      assertEquals(List.of("1 applied = 1"), requests(client, "first/requests"));
      assertEquals(100, requests(client, "many/requests").size());
      assertEquals("1 applied = 4095", requests(client, "many/requests").getFirst());
      assertEquals(200, add(client, "many", "{\"delta\":1}", "last"));
      assertEquals(List.of(), requests(client, "first/requests"));
    });
  }

  @Test
  void aLimitOutOfRangeIsRejected() throws IOException {
    onEngine(client -> {
      for (String limit : List.of("0", "101", "x", "-1", "")) {
        for (String path : List.of("/v1/counters/a/requests", "/v1/events")) {
          Client.Reply reply = client.get(path + "?limit=" + limit);
          assertEquals(400, reply.status());
          assertTrue(reply.body().contains("it must be an integer from 1 to 100"), reply.body());
        }
      }
    });
  }

  @Test
  void storesKeepNoRequests() throws IOException {
    Served.on(
        Backends.on(new MemoryDriver(), MarkerItem::new),
        client -> {
          Client.Reply reply = client.get("/v1/counters/a/requests");
          assertEquals(501, reply.status());
          assertTrue(reply.body().contains("technique marker-item does not keep"), reply.body());
        });
  }

  @Test
  void eventsAreTheLogOfTheServer() throws IOException {
    onEngine(client -> {
      for (int i = 0; i < 120; i++) {
        LoggerFactory.getLogger("dev.quipu.test")
            .atWarn()
            .addKeyValue("number", i)
            .setCause(new IOException("c".repeat(700)))
            .log("m".repeat(i == 119 ? 700 : 7));
      }
      JsonNode events = client.get("/v1/events").json().get("events");
      assertEquals(100, events.size());
      JsonNode newest = events.get(0);
      assertEquals("warn", newest.get("level").stringValue());
      assertEquals("m".repeat(499) + "…", newest.get("message").stringValue());
      assertEquals("119", newest.get("details").get("number").stringValue());
      String error = newest.get("details").get("error").stringValue();
      assertTrue(error.startsWith("java.io.IOException: ccc") && error.length() == 500, error);
      assertEquals(2, client.get("/v1/events?limit=2").json().get("events").size());
    });
  }

  private static JsonNode technique(Client client, String name) {
    for (JsonNode each : client.get("/v1/techniques").json().get("techniques")) {
      if (each.get("name").stringValue().equals(name)) {
        return each;
      }
    }
    throw new AssertionError("no technique " + name);
  }

  @Test
  void techniquesStateWhetherTheyWorkHere() throws IOException {
    onEngine(client -> {
      assertTrue(technique(client, "engine").get("current").booleanValue());
      assertTrue(technique(client, "engine").get("works").booleanValue());
      assertFalse(technique(client, "marker-item").get("current").booleanValue());
    });
    Served.on(
        Backends.on(new MemoryDriver(), MarkerItem::new),
        client -> {
          JsonNode current = technique(client, "marker-item");
          assertTrue(current.get("current").booleanValue());
          assertTrue(current.get("works").booleanValue());
          assertTrue(current.get("guarantees").size() > 0);
          assertTrue(current.get("perAdd").get("roundTrips").intValue() > 0);
          assertFalse(technique(client, "engine").get("works").booleanValue());
        });
  }
}
