package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Nothing that a client sends to change the meaning of a request is ignored. */
@SuppressWarnings("NullAway.Init") // JUnit calls start before all tests
final class IgnoredInputTest {
  private static Quipu quipu;
  private static HttpServer server;
  private static Client client;

  @BeforeAll
  static void start() throws Exception {
    quipu = Backends.on(new MemoryDriver());
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    server = HttpServer.start(options, Services.of(quipu, "memory:"), Clock.system());
    client = new Client(server.address());
    client.add("state", "{\"delta\":7}");
  }

  @AfterAll
  static void stop() {
    server.close();
    quipu.close();
  }

  @ParameterizedTest
  @CsvSource({
    "POST, /v1/counters/odd/add, '{\"delta\":1}'",
    "PUT, /v1/counters/odd, '{\"value\":\"1\"}'",
    "DELETE, /v1/counters/odd, ''",
    "GET, /v1/counters/odd, ''",
    "GET, /v1/presence/odd, ''",
    "GET, /v1/display/odd, ''",
    "POST, /v1/display/odd/view, ''"
  })
  void unknownQueryParametersAreRejected(String method, String path, String body) {
    HttpRequest.Builder request =
        client
            .request(path + "?ifvalue=1")
            .header("Content-Type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    Client.Reply reply = client.send(request);
    assertEquals(400, reply.status(), reply.body());
    assertTrue(reply.text("detail").startsWith("unknown query parameter ifvalue"), reply.body());
    assertEquals(404, client.get("/v1/counters/odd").status(), "nothing was changed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"If-Match", "If-None-Match", "If-Unmodified-Since"})
  void aPreconditionOfAWriteIsRejected(String name) {
    Client.Reply reply = client.add("guarded", "{\"delta\":1}", name, "\"7\"");
    assertEquals(400, reply.status());
    assertTrue(reply.text("detail").startsWith("header " + name + " is not"), reply.body());
    assertEquals(404, client.get("/v1/counters/guarded").status());
    assertEquals(200, client.send(client.request("/livez").header(name, "*").GET()).status());
  }

  @ParameterizedTest
  @CsvSource({
    "http://localhost:1/v1/counters/state, localhost, 200",
    "HTTP://127.0.0.1/v1/counters?prefix=st, evil.example, 200",
    "https://[::1]/v1/counters/state, localhost, 200",
    "http://localhost?x, localhost, 200",
    "http://evil.example/v1/counters/state, localhost, 403",
    "ftp://localhost/v1/counters/state, localhost, 400",
    "v1/counters/state, localhost, 400"
  })
  void anAbsoluteTargetNamesTheHost(String target, String host, int status) throws IOException {
    String reply =
        client.raw(
            "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n".formatted(target, host));
    assertTrue(reply.startsWith("HTTP/1.1 " + status + " "), reply);
  }
}
