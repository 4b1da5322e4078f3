package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.display.CacheFirst;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.presence.OnlineRing;
import dev.quipu.presence.OnlineSessions;
import dev.quipu.presence.SessionTokens;
import dev.quipu.presence.Window;
import dev.quipu.server.http.route.Services;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.time.Clock;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Display counters and presence over HTTP. */
final class ShownTest {
  private static final HttpOptions OPTIONS =
      HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);

  @TempDir Path directory;

  @SuppressWarnings("NullAway.Init") // JUnit sets the directory
  ShownTest() {}

  /** A test on a server. */
  private interface Questions {
    void ask(Client client);
  }

  private static void serve(Services services, Questions questions) throws Exception {
    try (HttpServer server = HttpServer.start(OPTIONS, services, Clock.system())) {
      questions.ask(new Client(server.address()));
    }
  }

  private static Client.Reply view(Client client, String name, String... headers) {
    return client.post("/v1/display/" + name + "/view", "", headers);
  }

  private static Client.Reply seen(Client client, String room, String body) {
    return client.post("/v1/presence/" + room, body);
  }

  @Test
  void withoutACacheDisplayCountersComeFromTheEngine() throws Exception {
    try (Quipu quipu = Quipu.builder().directory(directory).build()) {
      serve(
          Services.of(quipu, "test"),
          client -> {
            assertEquals(404, client.get("/v1/display/page").status());
            assertEquals("{\"name\":\"page\",\"value\":\"1\"}", view(client, "page").body());
            assertEquals("2", view(client, "page", "Idempotency-Key", "\"x\"").text("value"));
            assertEquals("2", view(client, "page", "Idempotency-Key", "\"x\"").text("value"));
            Client.Reply shown = client.get("/v1/display/page");
            assertEquals(200, shown.status());
            for (String field : List.of("value", "low", "high")) {
              assertEquals("2", shown.text(field));
            }
            assertFalse(Instant.parse(shown.text("asOf")).isBefore(Instant.EPOCH));
            assertEquals("2", client.get("/v1/counters/page").text("value"), "the same counter");
          });
    }
  }

  @Test
  void cacheFirstKeepsNoIdsAndReturnsTheDurableLowerBound() throws Exception {
    try (Quipu quipu = Quipu.builder().directory(directory).build()) {
      Store cache = new Store(new MemoryDriver(), Clock.system());
      CacheFirst display =
          new CacheFirst(cache.operations(), quipu.part(Store.class), quipu.counters(), 10);
      serve(
          Services.of(quipu, "test").showing(display),
          client -> {
            assertEquals("1", view(client, "a/page").text("value"));
            assertEquals("2", view(client, "a/page").text("value"));
            assertEquals("0", client.get("/v1/display/a/page").text("low"));
            assertEquals(404, client.get("/v1/counters/a/page").status());
            display.writeBack();
            assertEquals("2", client.get("/v1/display/a/page").text("low"));
            assertEquals("2", client.get("/v1/counters/a/page").text("value"));
            Client.Reply rejected = view(client, "a/page", "Idempotency-Key", "\"x\"");
            assertEquals(501, rejected.status());
            assertEquals("not-applied", rejected.text("outcome"));
            assertTrue(rejected.text("detail").contains("durable-first"), rejected.body());
          });
    }
  }

  @Test
  void presenceIsExactOnTheEngine() throws Exception {
    try (Quipu quipu = Quipu.builder().directory(directory).build()) {
      serve(
          Services.of(quipu, "test"),
          client -> {
            assertEquals("0", client.get("/v1/presence/lobby").text("value"));
            for (String name : List.of("ann", "bob", "ann")) {
              Client.Reply noted = seen(client, "lobby", "{\"clientId\":\"" + name + "\"}");
              assertEquals(
                  "{\"room\":\"lobby\",\"clientId\":\"%s\"}".formatted(name), noted.body());
            }
            seen(client, "a%20room%2Fwith%20slash", "{\"clientId\":\"数\"}");
            assertEquals("1", client.get("/v1/presence/a%20room/with%20slash").text("value"));
            Client.Reply online = client.get("/v1/presence/lobby");
            assertEquals("2", online.text("value"));
            assertEquals("2", online.text("low"));
            assertEquals("2", online.text("high"));
            assertEquals("true", online.text("complete"));
            Instant end = Instant.parse(online.text("from")).plus(Duration.ofMinutes(5));
            Instant until = Instant.parse(online.text("until"));
            assertFalse(end.isBefore(until), "shorter by what the read took, never longer");
          });
    }
  }

  @Test
  void anIncompletePresenceHasNoBounds() throws Exception {
    ManualClock clock = new ManualClock(Clock.system().epochMillis());
    try (Quipu quipu = Quipu.builder().directory(directory).build()) {
      OnlineRing ring = new OnlineRing(new Store(new Forgetful(), clock), Window.DEFAULT);
      serve(
          Services.of(quipu, "test").with(ring),
          client -> {
            seen(client, "lobby", "{\"clientId\":\"ann\"}");
            clock.advance(Duration.ofMinutes(1));
            Client.Reply online = client.get("/v1/presence/lobby");
            assertEquals("1", online.text("value"));
            assertEquals("false", online.text("complete"));
            assertTrue(online.json().path("low").isMissingNode(), online.body());
            assertTrue(online.json().path("high").isMissingNode(), online.body());
          });
    }
  }

  @Test
  void aSessionKeepsItsMark() throws Exception {
    try (Quipu quipu = Quipu.builder().directory(directory).build()) {
      Store store = quipu.part(Store.class);
      for (Window window : List.of(Window.DEFAULT, Window.ofTwoKeys(Window.DEFAULT.length()))) {
        serve(
            Services.of(quipu, "test")
                .with(new OnlineSessions(store, window, new SessionTokens(new byte[32]))),
            client -> {
              Client.Reply first = seen(client, "lobby", "{\"session\":\"\"}");
              assertEquals("true", first.text("counted"));
              String mark = "{\"session\":\"%s\"}".formatted(first.text("session"));
              assertEquals(200, seen(client, "lobby", "{\"clientId\":\"ann\"}").status());
              // Counted again only if a window of two keys has ended since.
              assertEquals(200, seen(client, "lobby", mark).status());
              Client.Reply foreign = seen(client, "another", mark);
              assertEquals(400, foreign.status());
              assertTrue(foreign.text("detail").contains("another room"), foreign.body());
              Client.Reply changed = seen(client, "lobby", mark.replace("\"}", "x\"}"));
              assertEquals(400, changed.status());
              String both = "{\"session\":\"\",\"clientId\":\"ann\"}";
              assertEquals(400, seen(client, "lobby", both).status());
            });
      }
      serve(
          Services.of(quipu, "test"),
          client -> {
            Client.Reply without = seen(client, "lobby", "{\"session\":\"\"}");
            assertEquals(501, without.status());
            assertTrue(without.text("detail").contains("session key"), without.body());
          });
    }
  }

  @Test
  void recordsAreNumberedWithoutAGap() throws Exception {
    try (Quipu quipu = Quipu.builder().directory(directory).build()) {
      serve(
          Services.of(quipu, "test"),
          client -> {
            String next = "/v1/sequences/invoices/2027/next";
            assertEquals("0", client.get("/v1/sequences/invoices/2027").text("last"));
            assertEquals(
                "{\"name\":\"invoices/2027\",\"number\":\"1\",\"replayed\":false}",
                client.post(next, "{\"payload\":\"a\"}", "Idempotency-Key", "\"k\"").body());
            Client.Reply again =
                client.post(next, "{\"payload\":\"a\"}", "Idempotency-Key", "\"k\"");
            assertEquals("1", again.text("number"));
            assertEquals("true", again.text("replayed"));
            Client.Reply other =
                client.post(next, "{\"payload\":\"b\"}", "Idempotency-Key", "\"k\"");
            assertEquals(422, other.status());
            assertEquals("2", client.post(next, "{}").text("number"));
            String voided = "{\"number\":1,\"reason\":\"printed twice\"}";
            assertEquals(200, client.post("/v1/sequences/invoices/2027/void", voided).status());
            Client.Reply first = client.get("/v1/sequences/invoices/2027?number=1");
            assertEquals("a", first.text("payload"));
            assertEquals("printed twice", first.text("voided"));
            assertEquals("2", client.get("/v1/sequences/invoices/2027").text("last"));
            assertEquals(404, client.get("/v1/sequences/invoices/2027?number=3").status());
            assertEquals(400, client.get("/v1/sequences/invoices/2027?number=0").status());
            assertEquals(400, client.post(next, "{\"payload\":5}").status());
            String never = "{\"number\":9,\"reason\":\"x\"}";
            assertEquals(404, client.post("/v1/sequences/invoices/2027/void", never).status());
          });
    }
  }

  @Test
  void badInputIsNamed() throws Exception {
    try (Quipu quipu = Quipu.builder().directory(directory).build()) {
      serve(
          Services.of(quipu, "test"),
          client -> {
            assertEquals(400, seen(client, "lobby", "{}").status());
            assertEquals(400, seen(client, "lobby", "{\"clientId\":\"\"}").status());
            Client.Reply tooLong =
                seen(client, "lobby", "{\"clientId\":\"" + "x".repeat(256) + "\"}");
            assertEquals(400, tooLong.status());
            assertTrue(tooLong.text("detail").contains("limit is 255"), tooLong.body());
            assertEquals(400, seen(client, "lobby", "{\"clientId\":\"a\",\"b\":1}").status());
            assertEquals(400, seen(client, "x".repeat(513), "{\"clientId\":\"a\"}").status());
            assertEquals(400, client.get("/v1/presence/%0A").status());
            assertEquals(400, view(client, "x".repeat(513)).status());
            assertEquals(400, client.get("/v1/display/%00").status());
            assertEquals(400, view(client, "a", "Idempotency-Key", "x".repeat(256)).status());
            assertEquals("0", client.get("/v1/presence/lobby").text("value"));
          });
    }
  }
}
