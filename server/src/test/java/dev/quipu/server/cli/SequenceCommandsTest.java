package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.http.route.Services;
import dev.quipu.time.Clock;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sequences of a server, by its commands and over HTTP. */
final class SequenceCommandsTest {
  private Quipu quipu;
  private HttpServer server;

  @SuppressWarnings("NullAway.Init") // JUnit calls start before each test
  SequenceCommandsTest() {}

  @BeforeEach
  void start() throws Exception {
    quipu = Backends.on(new MemoryDriver());
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    server = HttpServer.start(options, Services.of(quipu, "test"), Clock.system());
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
    quipu.close();
  }

  /** Returns the exit code and the output of a command. */
  private String run(String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--server", "http://127.0.0.1:" + server.address().getPort()));
    StringWriter out = new StringWriter();
    int code =
        QuipuCommand.commandLine()
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(new StringWriter()))
            .execute(all.toArray(String[]::new));
    return code + " " + out.toString().replace(System.lineSeparator(), "\n");
  }

  private HttpResponse<String> get(String path) throws Exception {
    URI uri = URI.create("http://127.0.0.1:%d%s".formatted(server.address().getPort(), path));
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    }
  }

  @Test
  void recordsAreCountedAndPaged() throws Exception {
    assertEquals("0 0\n", run("sequence", "a/b"));
    assertEquals("0 ", run("sequence", "a/b", "--from", "1"));
    SequenceOfRecords records = quipu.part(SequenceOfRecords.class);
    for (int i = 1; i <= 2_100; i++) {
      records.add("a/b", "p" + i);
    }
    assertTrue(records.voidNumber("a/b", 2, "printed twice"));
    assertEquals("0 2100\n", run("sequence", "a/b"));
    assertEquals("0 {\"name\":\"a/b\",\"last\":\"2100\"}\n", run("sequence", "a/b", "--json"));
    assertEquals("0 1\tp1\n2\tp2\t(voided)\n", run("sequence", "a/b", "--limit", "2"));
    assertEquals(2_101 - 50, run("sequence", "a/b", "--from", "50").lines().count());
    assertEquals(1_500, run("sequence", "a/b", "--limit", "1500").lines().count());
    assertEquals("2 ", run("sequence", "a/b", "--from", "0"));
    assertEquals("2 ", run("sequence", "a/b", "--limit", "0"));
    records.add("lines", "a\tb\nc\\");
    assertEquals("0 1\ta\\tb\\nc\\\\\n", run("sequence", "lines", "--from", "1"));

    String body = get("/v1/sequences/a/b?from=2099&limit=5").body();
    assertTrue(body.contains("\"last\":\"2100\",\"records\":[{\"number\":\"2099\""), body);
    assertTrue(body.contains("{\"number\":\"2100\",\"payload\":\"p2100\""), body);
    assertEquals(101, get("/v1/sequences/a/b?from=1").body().split("\"payload\"", -1).length);
    assertTrue(get("/v1/sequences/a/b?from=2101").body().endsWith("\"records\":[]}"));
    for (String wrong : List.of("from=0", "limit=0", "limit=1001", "from=x", "from=1&number=1")) {
      assertEquals(400, get("/v1/sequences/a/b?" + wrong).statusCode(), wrong);
    }
  }
}
