package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

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
    all.addAll(1, List.of("--server", "http://127.0.0.1:" + server.address().getPort()));
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

  private HttpResponse<String> send(String method, String path, String body) throws Exception {
    URI uri = URI.create("http://127.0.0.1:%d%s".formatted(server.address().getPort(), path));
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(
          HttpRequest.newBuilder(uri)
              .header("Content-Type", "application/json")
              .method(method, HttpRequest.BodyPublishers.ofString(body))
              .build(),
          HttpResponse.BodyHandlers.ofString());
    }
  }

  @Test
  void entitiesAreCountedByTheirRevisions() throws Exception {
    assertEquals("0 0\n", run("revisions", "c d"));
    assertEquals("0 1\n", run("revise", "c d", "insert", "ann", "--payload", "a\nb"));
    assertEquals("3 rejected: ann exists\n", run("revise", "c d", "insert", "ann"));
    assertEquals("3 rejected: bob does not exist\n", run("revise", "c d", "update", "bob"));
    assertEquals("0 2\n", run("revise", "c d", "insert", "bob"));
    assertEquals(
        "0 {\"name\":\"c d\",\"number\":\"3\",\"count\":\"1\"}\n",
        run("revise", "c d", "delete", "bob", "--json"));
    assertEquals("0 1\n", run("revisions", "c d"));
    assertEquals("0 a\\nb\n", run("revisions", "c d", "ann"));
    assertEquals("1 ", run("revisions", "c d", "bob"));
    assertEquals("2 ", run("revise", "c d", "upsert", "bob"));
    assertEquals("2 ", run("revise", "c d", "insert", "x".repeat(513)));

    String update = "{\"entity\":\"ann\",\"kind\":\"update\",\"payload\":\"c\"}";
    assertEquals(
        "{\"name\":\"c d\",\"number\":\"4\",\"count\":\"1\"}",
        send("POST", "/v1/revisions/c%20d", update).body());
    String missing = "{\"entity\":\"bob\",\"kind\":\"delete\"}";
    assertEquals(409, send("POST", "/v1/revisions/c%20d", missing).statusCode());
    String kind = "{\"entity\":\"bob\",\"kind\":\"upsert\"}";
    assertEquals(400, send("POST", "/v1/revisions/c%20d", kind).statusCode());
    assertEquals(
        "{\"name\":\"c d\",\"number\":\"4\",\"count\":\"1\"}", get("/v1/revisions/c%20d").body());
    assertTrue(get("/v1/revisions/c%20d?entity=ann").body().contains("\"payload\":\"c\""));
    assertTrue(get("/v1/revisions/c%20d?number=3").body().contains("\"kind\":\"delete\""));
    assertEquals(404, get("/v1/revisions/c%20d?number=5").statusCode());
    assertEquals(404, get("/v1/revisions/c%20d?entity=bob").statusCode());
    assertEquals(400, get("/v1/revisions/c%20d?entity=ann&number=1").statusCode());
  }

  @Test
  void aJobRunsACommandForEachNumber(@TempDir Path directory) throws Exception {
    String file = directory.resolve("{}").toString();
    assertEquals("1 ", run("job", "m/n"));
    assertEquals("0 0 of 7\n", run("job", "m/n", "--last", "7", "--ranges", "3"));
    assertEquals("2 ", run("job", "m/n", "--last", "8"));
    assertEquals("1 0 of 7\n", run("job", "m/n", "false"));
    // mkdir fails for a number that is processed a second time
    assertEquals("0 7 of 7\n", run("job", "m/n", "mkdir", file));
    assertEquals("0 7 of 7\n", run("job", "m/n", "mkdir", file));
    for (int number = 1; number <= 7; number++) {
      assertTrue(Files.isDirectory(directory.resolve("" + number)), "number " + number);
    }
    assertEquals("2 ", run("job", "m/n", "--lease", "0s"));
    assertEquals("2 ", run("job", "x", "--last", "0"));
    assertEquals("1 0 of 1\n", run("job", "slow", "--last", "1", "--lease", "1s", "sleep", "60"));
  }

  @Test
  void aJobIsProcessedOverHttp() throws Exception {
    assertEquals(404, get("/v1/jobs/m").statusCode());
    assertEquals(
        "{\"name\":\"m\",\"last\":\"2\",\"ranges\":1,\"processed\":\"0\",\"done\":false}",
        send("PUT", "/v1/jobs/m", "{\"last\":2,\"ranges\":1}").body());
    assertEquals(400, send("PUT", "/v1/jobs/m", "{\"last\":3,\"ranges\":1}").statusCode());
    assertEquals(400, send("POST", "/v1/jobs/m/take", "{\"leaseSeconds\":0}").statusCode());
    JsonNode taken = json(send("POST", "/v1/jobs/m/take", "{}"));
    assertEquals("1", taken.path("next").asString());
    assertEquals("2", taken.path("last").asString());
    assertEquals("{\"name\":\"m\",\"done\":false}", send("POST", "/v1/jobs/m/take", "{}").body());
    String done = "{\"task\":\"%s\",\"number\":%d}";
    String task = taken.path("task").asString();
    JsonNode second = json(send("POST", "/v1/jobs/m/done", done.formatted(task, 1)));
    assertEquals("2", second.path("next").asString());
    assertNotEquals(taken.path("requestId"), second.path("requestId"));
    assertEquals(400, send("POST", "/v1/jobs/m/done", done.formatted(task, 3)).statusCode());
    assertEquals(400, send("POST", "/v1/jobs/m/done", done.formatted("0 x", 2)).statusCode());
    // A repeat, or another worker: the range is to be taken again.
    assertFalse(json(send("POST", "/v1/jobs/m/done", done.formatted(task, 1))).has("next"));
    String release = "{\"task\":\"%s\"}".formatted(task);
    assertEquals(200, send("POST", "/v1/jobs/m/release", release).statusCode());
    JsonNode again = json(send("POST", "/v1/jobs/m/take", "{}"));
    assertEquals(second.path("requestId"), again.path("requestId"));
    String own = again.path("task").asString();
    assertFalse(json(send("POST", "/v1/jobs/m/done", done.formatted(own, 2))).has("next"));
    assertTrue(json(get("/v1/jobs/m")).path("done").asBoolean());
    assertTrue(json(send("POST", "/v1/jobs/m/take", "{}")).path("done").asBoolean());
  }

  private static JsonNode json(HttpResponse<String> response) {
    assertEquals(200, response.statusCode(), response.body());
    return JsonMapper.builder().build().readTree(response.body());
  }
}
