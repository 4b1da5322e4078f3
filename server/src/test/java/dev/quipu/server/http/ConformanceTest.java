package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests and replies follow RFC 9110 and 9112, byte by byte. */
@SuppressWarnings("NullAway.Init") // JUnit calls start before all tests
final class ConformanceTest {
  private static Quipu quipu;
  private static HttpServer server;
  private static Client client;

  @BeforeAll
  static void start() throws Exception {
    quipu = Backends.on(new MemoryDriver());
    HttpOptions options =
        HttpOptions.defaults().at("127.0.0.1", 0, Optional.of("a-long-enough-secret"), false);
    server = HttpServer.start(options, Services.of(quipu, "memory:"), Clock.system());
    client = new Client(server.address());
  }

  @AfterAll
  static void stop() {
    server.close();
    quipu.close();
  }

  /** Sends an add of 1 with more header lines, and returns the reply. */
  private static String add(String name, String lines, String body) throws IOException {
    return client.raw(
        ("POST /v1/counters/%s/add HTTP/1.1\r\nHost: localhost\r\n"
                + "Authorization: Bearer a-long-enough-secret\r\nConnection: close\r\n"
                + "Content-Type: application/json\r\n%s\r\n%s")
            .formatted(name, lines.replace("|", "\r\n"), body));
  }

  private static String get(String path, String lines) throws IOException {
    return client.raw(
        "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n"
            .formatted(path, lines.replace("|", "\r\n")));
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "200, `Content-Length: 11|`",
        "200, `Content-Length: 11|Content-Encoding: identity|`",
        "200, `Content-Length: 11|Expect: 100-Continue|`",
        "200, `Content-Length: 11|Origin: http://localhost|`",
        "400, `Content-Length: 11|X-Note: a| b|`",
        "400, `Content-Length: 11|X-Note: a|\tContent-Type: x|`",
        "400, `X-Note: a||`",
        "415, `Content-Length: 11|Content-Encoding: gzip|`",
        "415, `Content-Length: 11|Content-Encoding: identity|Content-Encoding: br|`",
        "417, `Content-Length: 11|Expect: 200-ok|`",
        "417, `Content-Length: 11|Expect: 100-continue|Expect: x|`",
        "501, `Transfer-Encoding: gzip, chunked|`",
        "400, `Transfer-Encoding: gzip|`",
        "400, `Transfer-Encoding: chunked|Transfer-Encoding: chunked|`",
        "400, `Content-Length: 11|Origin: http://localhost|Origin: http://localhost|`",
        "403, `Content-Length: 11|Origin: http://localhost, http://localhost|`"
      })
  void whatChangesTheMeaningIsHonouredOrRejected(int status, String lines) throws IOException {
    String name = "c" + Integer.toHexString(lines.hashCode());
    String reply = add(name, lines, "{\"delta\":1}");
    assertTrue(reply.contains("HTTP/1.1 " + status + " "), reply);
    assertEquals(status == 200, quipu.counter(name).read().isPresent(), reply);
  }

  @Test
  void aFoldThatArrivesByteByByteIsFound() throws Exception {
    byte[] request = // read one by one, due to the pauses
        "GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Note: a\r\n b\r\n\r\n"
            .getBytes(StandardCharsets.US_ASCII);
    try (var socket = client.connect()) {
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(30_000);
      for (byte each : request) {
        socket.getOutputStream().write(each);
        Thread.sleep(2);
        socket.getOutputStream().flush();
      }
      String reply = Client.read(socket);
      assertTrue(reply.startsWith("HTTP/1.1 400 "), reply);
      assertTrue(reply.contains("second line"), reply);
    }
  }

  @Test
  void aPipelinedRequestWithoutAFoldIsServed() throws IOException {
    String one = "GET /livez HTTP/1.1\r\nHost: localhost\r\n";
    String reply = client.raw(one + "\r\n" + one + "Connection: close\r\n\r\n");
    assertEquals(3, reply.split("HTTP/1.1 200 OK", -1).length, reply);
  }

  @Test
  void repliesHaveTheHeadersThatTheirStatusRequires() throws IOException {
    String denied = get("/v1/counters/a", "");
    assertTrue(denied.startsWith("HTTP/1.1 401 "), denied);
    assertTrue(
        denied.toLowerCase(Locale.ROOT).contains("\r\nwww-authenticate: bearer realm="), denied);
    String method = client.raw("PATCH /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assertTrue(method.startsWith("HTTP/1.1 405 "), method);
    assertTrue(method.toLowerCase(Locale.ROOT).contains("\r\nallow: get"), method);
    String live = get("/livez", "");
    assertTrue(
        live.toLowerCase(Locale.ROOT)
            .matches("(?s).*\r\ndate: [a-z]{3}, \\d\\d [a-z]{3} \\d{4} [0-9:]{8} gmt\r\n.*"),
        live);
    String coded = add("coded", "Content-Length: 0|Content-Encoding: zstd|", "");
    assertTrue(coded.toLowerCase(Locale.ROOT).contains("\r\naccept-encoding: identity\r\n"), coded);
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/counters?cursor=",
    "/v1/counters?cursor=*",
    "/v1/counters?cursor=YQ==",
    "/v1/counters?cursor=YR",
    "/v1/counters?cursor=_w",
    "/v1/counters?prefix=b&cursor=YQ",
    "/v1/changes/a?cursor=YQ",
    "/v1/hits/a?cursor=YQ",
    "/v1/views/events?url=a&cursor=YQ"
  })
  void anInvalidCursorIsRejected(String path) throws IOException {
    String reply = get(path, "Authorization: Bearer a-long-enough-secret|");
    assertTrue(reply.startsWith("HTTP/1.1 400 "), reply);
    assertTrue(reply.contains("cursor"), reply);
    String valid = get("/v1/counters?cursor=YQ", "Authorization: Bearer a-long-enough-secret|");
    assertTrue(valid.startsWith("HTTP/1.1 200 "), valid);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "`{~  \"delta\": x}`, `unexpected text at line 2, column `",
        "`{\"delta\": 1`, `unexpected end at line 1, column 12`",
        "`{\"delta\":1,~\"delta\":2}`, `duplicate field`"
      })
  void anErrorInJsonHasItsPlace(String body, String expected) throws IOException {
    String text = body.replace('~', '\n');
    String reply = add("json", "Content-Length: " + text.length() + "|", text);
    assertTrue(reply.replace("\\\"", "\"").contains(expected), reply);
    assertTrue(reply.matches("(?s).* at line [12], column [0-9]+\".*"), reply);
  }

  @Test
  void theDateIsFormattedOnceASecond() {
    HttpDate date = new HttpDate();
    String text = date.text(784_111_777_000L);
    assertEquals("Sun, 06 Nov 1994 08:49:37 GMT", text);
    assertSame(text, date.text(784_111_777_999L));
    assertNotEquals(text, date.text(784_111_778_000L));
  }
}
