package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What others may read: badges without a token, and everything with a token that only reads. */
@SuppressWarnings("NullAway.Init") // each test starts the server
final class BadgeTest {
  private static final String TOKEN = "a-token-of-20-bytes!";
  private static final String READ_TOKEN = "a-token-for-readers!";

  private final Quipu quipu = Backends.on(new MemoryDriver());
  private HttpServer server;
  private Client client;

  private void start(HttpOptions options) throws IOException {
    server = HttpServer.start(options, Services.of(quipu, "memory:"), Clock.system());
    client = new Client(server.address());
  }

  private static HttpOptions options(Optional<String> token) {
    return HttpOptions.defaults().at("127.0.0.1", 0, token, false);
  }

  @AfterEach
  void stop() {
    server.close();
    quipu.close();
  }

  @Test
  void aBadgeShowsACounterAndCountsNothing() throws IOException {
    start(options(Optional.empty()));
    var unused = quipu.counter("views/a<b").add(12);
    for (int i = 0; i < 2; i++) {
      Client.Reply badge = client.get("/badge/views%2Fa%3Cb.svg");
      assertEquals(200, badge.status());
      assertTrue(badge.body().contains("aria-label=\"views/a&lt;b: 12\""), badge.body());
    }
    assertTrue(client.get("/badge/views%2Fa%3Cb.svg?label=x").body().contains("x: 12"));
    Client.Reply json = client.get("/badge/views%2Fa%3Cb.json");
    assertEquals("{\"name\":\"views/a<b\",\"value\":\"12\"}", json.body());
    assertEquals("*", json.headers().firstValue("Access-Control-Allow-Origin").orElse(""));
    assertEquals("0", client.get("/badge/never.json").text("value"));
    assertTrue(client.get("/badge.js").body().contains("data-counter"));
  }

  @Test
  void withATokenOnlyShownCountersHaveBadges() throws IOException {
    start(options(Optional.of(TOKEN)).showing(Set.of("views/")));
    var unused = quipu.counter("views/a").add(3);
    var unusedSecret = quipu.counter("secret").add(4);
    assertEquals("3", client.get("/badge/views%2Fa.json").text("value"));
    assertEquals(404, client.get("/badge/secret.json").status());
    assertEquals(404, client.get("/badge/secret.svg").status());
    assertEquals(
        "*",
        client
            .get("/badge/secret.json")
            .headers()
            .firstValue("Access-Control-Allow-Origin")
            .orElse(""));
    assertEquals(401, client.get("/v1/counters/views%2Fa").status());
  }

  private int status(String method, String path, String token) {
    return client
        .send(
            client
                .request(path)
                .header("Authorization", "Bearer " + token)
                .header("Content-Type", "application/json")
                .method(
                    method, BodyPublishers.ofString(method.equals("POST") ? "{\"delta\":1}" : "")))
        .status();
  }

  private String body(String path, String token) {
    return client.send(client.request(path).header("Authorization", "Bearer " + token)).body();
  }

  @Test
  void aReadTokenOnlyReads() throws IOException {
    start(options(Optional.of(TOKEN)).readableWith(Optional.of(READ_TOKEN)));
    assertEquals(200, status("POST", "/v1/counters/a/add", TOKEN));
    assertEquals(200, status("GET", "/v1/counters/a", READ_TOKEN));
    assertTrue(body("/v1/technique", READ_TOKEN).endsWith("\"readOnly\":true}"));
    assertTrue(body("/v1/technique", TOKEN).endsWith("\"readOnly\":false}"));
    assertEquals(403, status("POST", "/v1/counters/a/add", READ_TOKEN));
    assertEquals(403, status("DELETE", "/v1/counters/a", READ_TOKEN));
    assertEquals(403, status("GET", "/hit/a.svg", READ_TOKEN));
    assertEquals(200, status("GET", "/hit/a.json", READ_TOKEN));
    assertEquals(401, status("GET", "/v1/counters/a", "another-token-20-byte"));
    assertEquals(1, quipu.counter("a").read().orElseThrow().value());
    assertThrows(
        IllegalArgumentException.class,
        () -> options(Optional.of(TOKEN)).readableWith(Optional.of(TOKEN)));
    assertThrows(
        IllegalArgumentException.class,
        () -> options(Optional.empty()).readableWith(Optional.of(READ_TOKEN)));
  }
}
