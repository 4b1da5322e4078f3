package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.OperationRoutes;
import dev.quipu.server.http.route.Services;
import dev.quipu.time.Clock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Malformed input gets a clear problem or a closed connection, and the server still works. */
@SuppressWarnings("NullAway.Init") // JUnit calls start before all tests
final class BadInputTest {
  private static final String HEAD =
      "POST /v1/counters/a/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  private static final int IDLE_CONNECTIONS = 10_000;

  private static Quipu quipu;
  private static HttpServer server;
  private static Client client;

  @BeforeAll
  static void start() throws Exception {
    quipu = Backends.on(new MemoryDriver());
    HttpOptions options =
        HttpOptions.defaults()
            .at("127.0.0.1", 0, Optional.empty(), false)
            .within(
                IDLE_CONNECTIONS + 100,
                Duration.ofMillis(500),
                Duration.ofMillis(700),
                Duration.ofSeconds(60),
                Duration.ofSeconds(15));
    server = HttpServer.start(options, Services.of(quipu, "memory:"), Clock.system());
    client = new Client(server.address());
    client.add("state", "{\"delta\":7}");
  }

  @Test
  void aRequestIdOfASetOrDeleteIsRejected() {
    for (String method : List.of("PUT", "DELETE")) {
      Client.Reply reply =
          client.send(
              client
                  .request("/v1/counters/keyed")
                  .header("Content-Type", "application/json")
                  .header("Idempotency-Key", "once")
                  .method(
                      method,
                      method.equals("PUT")
                          ? HttpRequest.BodyPublishers.ofString("{\"value\":\"5\"}")
                          : HttpRequest.BodyPublishers.noBody()));
      assertEquals(400, reply.status());
      assertEquals(
          "header Idempotency-Key is not supported by " + method + " here; use ifValue, or an add",
          reply.text("detail"));
    }
    assertEquals(404, client.get("/v1/counters/keyed").status());
  }

  /** Every problem type in the reference has a page, and every page is in the reference. */
  @Test
  void everyProblemTypeIsExplained() throws IOException {
    Set<String> types = new TreeSet<>();
    Pattern row = Pattern.compile("\\| [0-9, ]+ \\|([^|]*)\\|.*");
    Pattern type = Pattern.compile("`([a-z-]+)`");
    for (String line : Files.readAllLines(Path.of("../docs/reference/http.md"))) {
      Matcher matcher = row.matcher(line);
      if (matcher.matches()) {
        type.matcher(matcher.group(1)).results().forEach(each -> types.add(each.group(1)));
      }
    }
    for (String each : types) {
      assertEquals(200, client.get("/problems/" + each).status(), each);
    }
    assertEquals(OperationRoutes.problems(), types);
  }

  @AfterAll
  static void stop() {
    server.close();
    quipu.close();
  }

  @AfterEach
  void theServerStillWorksAndNothingHasChanged() {
    assertEquals("7", client.get("/v1/counters/state").text("value"));
    assertEquals(404, client.get("/v1/counters/a").status());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{`delta`:1,`x`:2}|unknown field x",
        "{`delta`:1,`delta`:2}|uplicate",
        "{`floor`:1}|field delta is missing",
        "{`delta`:0}|delta must not be 0",
        "{`delta`:1.0}|field delta is not an integer",
        "{`delta`:1e3}|field delta is not an integer",
        "{`delta`:null}|field delta is not an integer",
        "{`delta`:true}|field delta is not an integer",
        "{`delta`:[1]}|field delta is not an integer",
        "{`delta`:`1.0`}|field delta is not an integer",
        "{`delta`:`+1`}|field delta is not an integer",
        "{`delta`:` 1`}|field delta is not an integer",
        "{`delta`:`007`}|field delta is not an integer",
        "{`delta`:`0x10`}|field delta is not an integer",
        "{`delta`:``}|field delta is not an integer",
        "{`delta`:`١`}|field delta is not an integer",
        "{`delta`:9223372036854775808}|does not fit into 64 bits",
        "{`delta`:-9223372036854775809}|does not fit into 64 bits",
        "{`delta`:`18446744073709551616`}|does not fit into 64 bits",
        "{`delta`:1,`floor`:2,`ceiling`:1}|floor 2 is above ceiling 1",
        "{`delta`:NaN}|not valid JSON",
        "{`delta`:Infinity}|not valid JSON",
        "{`delta`:01}|not valid JSON",
        "{`delta`:1}x|not valid JSON",
        "{`delta`:1}{}|not valid JSON",
        "[]|not a JSON object",
        "1|not a JSON object",
        "null|not a JSON object",
        "{|not valid JSON",
      })
  void wrongBodiesAreNamed(String body, String detail) {
    Client.Reply reply = client.add("a", body.replace('`', '"'));
    assertEquals(400, reply.status(), reply.body());
    assertEquals("/problems/bad-request", reply.text("type"));
    assertTrue(reply.text("detail").contains(detail), reply.body());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{}|field names is missing",
        "{`names`:`a`}|field names is not an array of strings",
        "{`names`:[`a`,1]}|field names is not an array of strings",
        "{`names`:[`a`,[`b`]]}|field names is not an array of strings",
        "{`names`:[`a`,``]}|names[1] is empty",
        "{`names`:[`a`|the body is not valid JSON",
        "{`name`:`a`}|unknown field name",
      })
  void wrongNamesAreNamed(String body, String detail) {
    Client.Reply reply = client.post("/v1/counters/read", body.replace('`', '"'));
    assertEquals(400, reply.status());
    assertTrue(reply.text("detail").contains(detail), reply.body());
  }

  @Test
  void moreThanAThousandNamesAreRejected() {
    String body = "{\"names\":[" + "\"a\",".repeat(1_000) + "\"a\"]}";
    Client.Reply reply = client.post("/v1/counters/read", body);
    assertEquals(400, reply.status());
    assertEquals(
        "field names has 1001 strings; the limit is 1000. Send several requests",
        reply.text("detail"));
    String most = "{\"names\":[" + ("\"" + "x".repeat(512) + "\",").repeat(999) + "\"a\"]}";
    assertEquals(200, client.post("/v1/counters/read", most).status());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{}|field value is missing",
        "{`value`:1.5}|field value is not an integer",
        "{`value`:1,`ifValue`:null}|field ifValue is not an integer",
        "{`value`:9223372036854775808}|field value does not fit into 64 bits",
        "{`value`:1,`delta`:2}|unknown field delta",
      })
  void wrongValuesAreNamed(String body, String detail) {
    Client.Reply reply =
        client.send(
            client
                .request("/v1/counters/state")
                .header("Content-Type", "application/json")
                .PUT(HttpRequest.BodyPublishers.ofString(body.replace('`', '"'))));
    assertEquals(400, reply.status());
    assertTrue(reply.text("detail").contains(detail), reply.body());
  }

  @Test
  void emptyHugeAndDeepBodies() {
    assertEquals(400, client.add("a", "").status());
    assertEquals(400, client.add("a", "\uFEFF{\"delta\":1}").status());
    assertEquals(400, client.add("a", "[".repeat(30_000)).status());
    assertEquals(400, client.add("a", "{\"delta\":" + "1".repeat(50_000) + "}").status());
    Client.Reply huge = client.add("a", "{\"delta\":1" + " ".repeat(70_000) + "}");
    assertEquals(413, huge.status());
    assertTrue(huge.text("detail").contains("65536"), huge.body());
    assertEquals(415, client.postAs("/v1/counters/a/add", "text/plain", "{\"delta\":1}").status());
    assertEquals(
        415,
        client
            .postAs("/v1/counters/a/add", "application/json; charset=utf-16", "{\"delta\":1}")
            .status());
  }

  @Test
  void anEmptyNameInAPathIsNamed() {
    Client.Reply reply = client.post("/v1/counters//add", "{\"delta\":1}");
    assertEquals(400, reply.status());
    assertTrue(reply.text("detail").contains("the path has an empty name"), reply.body());
  }

  /** The message states the limit, and no internals of the parser. */
  @Test
  void messagesShowNoInternalsOfTheParser() {
    for (List<String> each :
        List.of(
            List.of(
                "{\"delta\":1", "the body is not valid JSON: unexpected end at line 1, column 11"),
            List.of(
                "{\"delta\":x}", "the body is not valid JSON: unexpected text at line 1, column "),
            List.of(
                "{\"delta\":1,\"delta\":2}",
                "the body is not valid JSON: duplicate field \"delta\" at line 1, column "),
            List.of("{\"delta\":+1}", "the body is not valid JSON: "),
            List.of("{\"delta\":01}", "the body is not valid JSON: "),
            List.of("{\"delta\":.5}", "the body is not valid JSON: "),
            List.of("{\"delta\":NaN}", "the body is not valid JSON: "),
            List.of("{\"delta\":1/**/}", "the body is not valid JSON: "),
            List.of("{'delta':1}", "the body is not valid JSON: "),
            List.of("{delta:1}", "the body is not valid JSON: "),
            List.of(
                "{\"delta\":1.5}",
                "it must be one from -9223372036854775808 to 9223372036854775807. A new counter can have"
                    + " a scale, by serve --scale or PUT with scale"),
            List.of("{\"delta\":\"" + "1".repeat(16_385) + "\"}", "a string is longer than 16384"),
            List.of("{\"" + "n".repeat(257) + "\":1}", "a field name is longer than 256"),
            List.of("{\"delta\":" + "1".repeat(65) + "}", "a number is longer than 64"),
            List.of("{\"delta\":" + "[".repeat(17) + "}", "it is nested deeper than 16"))) {
      String detail = client.add("a", each.getFirst()).text("detail");
      assertTrue(detail.contains(each.getLast()), detail);
      assertFalse(detail.matches("(?s).*(Source|Stream|Feature|#|offset|start marker).*"), detail);
    }
  }

  @Test
  void bodiesThatAreNotUtf8() throws IOException {
    byte[] head =
        (HEAD + "Content-Length: 3\r\nConnection: close\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII);
    byte[] request = new byte[head.length + 3];
    System.arraycopy(head, 0, request, 0, head.length);
    request[head.length] = (byte) 0xff;
    request[head.length + 1] = (byte) 0xc0;
    request[head.length + 2] = (byte) 0xaf;
    String answer = client.raw(request);
    assertTrue(answer.contains(" 400 ") && answer.contains("not valid UTF-8"), answer);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "%00",
        "%0a",
        "a%0D%0Ab",
        "%7f",
        "%c2%85",
        "%ff",
        "%c0%af",
        "%ed%a0%80",
        "%",
        "%4",
        "%zz",
      })
  void wrongNamesAreRejected(String name) throws IOException {
    String answer =
        client.raw(
            "POST /v1/counters/%s/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{\"delta\":1}"
                .formatted(name));
    assertTrue(answer.startsWith("HTTP/1.1 400 "), answer);
    assertTrue(answer.contains("problem+json"), answer);
  }

  @Test
  void emptyAndLongNames() {
    assertEquals(400, client.add("", "{\"delta\":1}").status());
    Client.Reply reply = client.add("x".repeat(513), "{\"delta\":1}");
    assertEquals(400, reply.status());
    assertEquals("name is 513 bytes long; the limit is 512", reply.text("detail"));
    assertEquals(400, client.add("x".repeat(5_000), "{\"delta\":1}").status());
    assertEquals(200, client.add("y".repeat(512), "{\"delta\":1}").status());
    for (String name :
        List.of("..%2f..%2fetc%2fpasswd", "%3Cscript%3E", "%24%7Bjndi:x%7D", "__proto__")) {
      assertEquals(200, client.add(name, "{\"delta\":1}").status());
    }
  }

  @Test
  void wrongIdempotencyKeys() throws IOException {
    String body = "Content-Length: 11\r\nConnection: close\r\n\r\n{\"delta\":1}";
    for (String header :
        List.of(
            "Idempotency-Key: \r\n",
            "Idempotency-Key: \"\"\r\n",
            "Idempotency-Key: " + "k".repeat(256) + "\r\n",
            "Idempotency-Key: \"unclosed\r\n",
            "Idempotency-Key: \"unclosed\\\"\r\n",
            "Idempotency-Key: unopened\"\r\n",
            "Idempotency-Key: \"a\"b\"\r\n",
            "Idempotency-Key: \"\r\n",
            "Idempotency-Key: bestellung-\u00e41\r\n", // Latin-1
            "Idempotency-Key: one\r\nIdempotency-Key: two\r\n")) {
      String answer = client.raw(HEAD + header + body);
      assertTrue(answer.startsWith("HTTP/1.1 400 "), header + answer);
      assertTrue(answer.contains("Idempotency-Key"), answer);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "NONSENSE\r\n\r\n",
        "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        "GET /livez HTTP/1.1\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "POST /v1/counters/a/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 11\r\nTransfer-Encoding: chunked\r\n\r\n{\"delta\":1}",
        "POST /v1/counters/a/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 11\r\nContent-Length: 12\r\n\r\n{\"delta\":1}",
        "POST /v1/counters/a/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: -1\r\n\r\n{\"delta\":1}",
        "POST /v1/counters/a/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        "GET /livez HTTP/1.1\r\nHost: localhost\r\nBad Header\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: a\u0000b\r\n\r\n",
        "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
        "*1\r\n$4\r\nPING\r\n",
      })
  void malformedRequestsAreRejectedAndTheConnectionIsClosed(String request) throws IOException {
    String answer = client.raw(request);
    assertTrue(
        answer.isEmpty() || answer.startsWith("HTTP/1.1 400 ") || answer.equals("[reset]"), answer);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: -1",
        "Content-Length: x",
        "Content-Length: 99999999999999999999",
        "Content-Length: 11\r\nContent-Length: 12",
        "Content-Length: 11\r\nTransfer-Encoding: chunked"
      })
  void malformedContentLengthsAreNamed(String headers) throws IOException {
    String answer =
        client.raw(
            "POST /v1/counters/a/add HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n\r\n");
    assertTrue(answer.contains("header Content-Length is malformed, repeated, or"), answer);
  }

  @Test
  void longLinesAndHeads() throws IOException {
    String line = client.raw("GET /" + "x".repeat(9_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assertTrue(line.startsWith("HTTP/1.1 414 "), line);
    String head =
        client.raw(
            "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + "x".repeat(70_000) + "\r\n\r\n");
    assertTrue(head.startsWith("HTTP/1.1 431 ") || head.equals("[reset]"), head);
    String many =
        client.raw(
            "GET /livez HTTP/1.1\r\nHost: localhost\r\n" + "X: y\r\n".repeat(10_000) + "\r\n");
    assertTrue(many.startsWith("HTTP/1.1 431 ") || many.equals("[reset]"), many);
  }

  @Test
  void aBodyThatGrowsBeyondItsLimitInChunksIsRejected() throws IOException {
    StringBuilder request = new StringBuilder(HEAD + "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 20; i++) {
      request.append("1000\r\n").append(" ".repeat(4_096)).append("\r\n");
    }
    String answer = client.raw(request + "0\r\n\r\n");
    assertTrue(answer.startsWith("HTTP/1.1 413 ") || answer.equals("[reset]"), answer);
  }

  @Test
  void slowClientsAreDropped() throws IOException {
    for (String begun : List.of("POST /v1/cou", HEAD + "Content-Length: 11\r\n\r\n{\"del")) {
      try (Socket socket = client.connect()) {
        OutputStream out = socket.getOutputStream();
        out.write(begun.getBytes(StandardCharsets.US_ASCII));
        out.flush();
        assertEquals("", Client.read(socket)); // closed without a reply
      }
    }
  }

  @Test
  void expect100ContinueIsSupported() throws IOException {
    try (Socket socket = client.connect()) {
      OutputStream out = socket.getOutputStream();
      out.write(
          ("POST /v1/counters/expected/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  + "Content-Length: 11\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n")
              .getBytes(StandardCharsets.US_ASCII));
      out.flush();
      byte[] status = socket.getInputStream().readNBytes(25);
      assertTrue(new String(status, StandardCharsets.US_ASCII).startsWith("HTTP/1.1 100 "));
      out.write("{\"delta\":1}".getBytes(StandardCharsets.US_ASCII));
      out.flush();
      assertTrue(Client.read(socket).contains(" 200 "));
    }
  }

  @Test
  void tenThousandIdleConnectionsDoNotAffectOthers() throws IOException {
    Process clients =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                IdleClients.class.getName(),
                Integer.toString(server.address().getPort()),
                Integer.toString(IDLE_CONNECTIONS))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    List<Socket> more = new ArrayList<>();
    try {
      BufferedReader said =
          new BufferedReader(
              new InputStreamReader(clients.getInputStream(), StandardCharsets.UTF_8));
      int open = Integer.parseInt(said.readLine());
      Assumptions.assumeTrue(
          open == IDLE_CONNECTIONS, "only " + open + " connections can be opened here");
      for (int i = 1; i <= 100; i++) {
        assertEquals(200, client.add("busy", "{\"delta\":1}").status());
      }
      assertEquals("100", client.get("/v1/counters/busy").text("value"));
      // Connections above the limit replace idle ones.
      for (int i = 0; i < 200; i++) {
        more.add(client.connect());
      }
      String ask = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
      more.getLast().getOutputStream().write(ask.getBytes(StandardCharsets.US_ASCII));
      assertTrue(Client.read(more.getLast()).startsWith("HTTP/1.1 200 "));
    } finally {
      for (Socket socket : more) {
        socket.close();
      }
      clients.destroyForcibly();
    }
  }
}
