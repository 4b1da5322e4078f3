package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.time.Clock;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tags and compression of what GET returns. */
@SuppressWarnings("NullAway.Init") // JUnit calls start before each test
final class RepresentationTest {
  private Quipu quipu;
  private HttpServer server;
  private HttpClient client;

  @BeforeEach
  void start() throws Exception {
    quipu = Backends.on(new MemoryDriver());
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    server = HttpServer.start(options, Services.of(quipu, "memory:"), Clock.system());
    client = HttpClient.newHttpClient();
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
    quipu.close();
  }

  private HttpResponse<byte[]> send(String method, String path, String... headers)
      throws Exception {
    URI uri = URI.create("http://127.0.0.1:%d%s".formatted(server.address().getPort(), path));
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri).method(method, HttpRequest.BodyPublishers.noBody());
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  private void addOne() {
    assertTrue(quipu.counter("likes").add(1).isApplied());
  }

  private static String header(HttpResponse<?> response, String name) {
    return response.headers().firstValue(name).orElse("");
  }

  @Test
  void anUnchangedCounterIsNotSentAgain() throws Exception {
    addOne();
    HttpResponse<byte[]> first = send("GET", "/v1/counters/likes");
    String tag = header(first, "ETag");
    assertTrue(tag.matches("\"[0-9a-f]{32}\""), tag);
    assertEquals("private, no-cache", header(first, "Cache-Control"));
    for (String condition : new String[] {tag, "W/" + tag, "\"x\", " + tag, "*"}) {
      HttpResponse<byte[]> same = send("GET", "/v1/counters/likes", "If-None-Match", condition);
      assertEquals(304, same.statusCode(), condition);
      assertEquals(0, same.body().length);
      assertEquals(tag, header(same, "ETag"));
    }
    assertEquals(200, send("GET", "/v1/counters/likes", "If-None-Match", "\"x\"").statusCode());
    addOne();
    HttpResponse<byte[]> changed = send("GET", "/v1/counters/likes", "If-None-Match", tag);
    assertEquals(200, changed.statusCode());
    assertNotEquals(tag, header(changed, "ETag"));
    assertEquals("", header(send("GET", "/v1/nothing"), "ETag"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"gzip|gzip", "br, GZIP;q=0.5|gzip", "*|gzip", "gzip;q=0, *|''", "br|''"})
  void aDocumentIsCompressedForAClientThatAcceptsIt(String accepted, String coding)
      throws Exception {
    byte[] plain = send("GET", "/openapi.json").body();
    HttpResponse<byte[]> response = send("GET", "/openapi.json", "Accept-Encoding", accepted);
    assertEquals(coding, header(response, "Content-Encoding"));
    assertEquals("Accept-Encoding", header(response, "Vary"));
    byte[] sent = response.body();
    assertEquals(Integer.toString(sent.length), header(response, "Content-Length"));
    HttpResponse<byte[]> head = send("HEAD", "/openapi.json", "Accept-Encoding", accepted);
    assertEquals(header(response, "Content-Length"), header(head, "Content-Length"));
    assertEquals(header(response, "ETag"), header(head, "ETag"));
    if (coding.equals("gzip")) {
      assertTrue(sent.length < plain.length / 3, () -> sent.length + " of " + plain.length);
      InputStream content = new GZIPInputStream(new ByteArrayInputStream(sent));
      assertArrayEquals(plain, content.readAllBytes());
    } else {
      assertArrayEquals(plain, sent);
    }
    HttpResponse<byte[]> again =
        send(
            "GET",
            "/openapi.json",
            "Accept-Encoding",
            accepted,
            "If-None-Match",
            header(response, "ETag"));
    assertEquals(304, again.statusCode());
  }

  /** Health and metrics are what they are now; metrics are long, and scrapers accept gzip. */
  @Test
  void aStateIsAlwaysSent() throws Exception {
    for (String path : new String[] {"/livez", "/readyz", "/metrics"}) {
      HttpResponse<byte[]> response =
          send("GET", path, "If-None-Match", "*", "Accept-Encoding", "gzip");
      assertEquals(200, response.statusCode(), path);
      assertEquals("", header(response, "ETag"), path);
      assertEquals("no-store", header(response, "Cache-Control"), path);
      String coding = path.equals("/metrics") ? "gzip" : "";
      assertEquals(coding, header(response, "Content-Encoding"), path);
    }
  }

  @Test
  void aSmallReplyIsNotCompressed() throws Exception {
    addOne();
    HttpResponse<byte[]> small = send("GET", "/v1/counters/likes", "Accept-Encoding", "gzip");
    assertEquals("", header(small, "Content-Encoding"));
  }
}
