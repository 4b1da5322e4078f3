package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/**
 * Servers on SimpleDB: {@code quipu simpledb-local} with lagging replicas and one reply in twenty
 * lost, and servers that are killed.
 */
final class SimpleDbIT {
  private static final int CLIENTS = 8;
  private static final int ADDS = 800;
  private static final String COUNTER = "hot";
  private static final Duration ANSWER_MAX = Duration.ofMinutes(5);

  @TempDir Path temporary;

  private final HttpClient client = HttpClient.newHttpClient();

  private QuipuProcess simpleDb() throws IOException {
    return QuipuProcess.simpleDb(
        temporary.resolve("db"), "--lag", "0.5s", "--fault", "reply-dropped=0.05");
  }

  private QuipuProcess serve(QuipuProcess db, String... options) throws IOException {
    List<String> all = new ArrayList<>(List.of("--store", uri(db)));
    all.addAll(List.of(options));
    return QuipuProcess.serve(temporary.resolve("out"), all.toArray(String[]::new));
  }

  private static String uri(QuipuProcess db) {
    return "simpledb://key:secret@us-east-1/one,two?endpoint=" + db.uri();
  }

  /** With the hit log, the default technique there, the count stays exact when a server dies. */
  @Test
  void withIdsCountsAreExactAfterAKill() throws Exception {
    try (QuipuProcess db = simpleDb()) {
      List<QuipuProcess> first = new CopyOnWriteArrayList<>(List.of(serve(db)));
      try (QuipuProcess second = serve(db);
          ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
          int from = i;
          running.add(
              threads.submit(() -> {
                for (int number = from; number < ADDS; number += CLIENTS) {
                  if (number == ADDS / 2) {
                    first.getFirst().close();
                    first.set(0, serve(db));
                  }
                  String id = "request-" + number;
                  boolean toFirst = number % 2 == 0;
                  while (!add(toFirst ? first.getFirst() : second, Optional.of(id))) {
                    // unknown, or its server died: repeat the same request
                  }
                }
                return null;
              }));
        }
        for (Future<?> each : running) {
          each.get();
        }
        assertEquals(ADDS, value(first.getFirst()));
        assertEquals(ADDS, value(second));
        Ran explained = run("explain", COUNTER, "--store", uri(db));
        assertEquals(0, explained.code);
        assertTrue(explained.out.startsWith(COUNTER + " = " + ADDS), explained.out);
        assertTrue(explained.out.contains("hits stored: " + ADDS), explained.out);
      } finally {
        first.getFirst().close();
      }
    }
  }

  /** Nothing is written before the record. */
  @Test
  void theFirstStartOnAnEmptyStoreWarnsOfNoClock() throws Exception {
    try (QuipuProcess db = QuipuProcess.simpleDb(temporary.resolve("db"));
        QuipuProcess server = serve(db)) {
      assertTrue(
          server.said().stream().noneMatch(line -> line.contains("Clock comparison failed")),
          server.said()::toString);
    }
  }

  /** With the version tree, which has no ids, an unknown add is not repeated and may count. */
  @Test
  void aTreeIsDrawn() throws Exception {
    try (QuipuProcess db = simpleDb();
        QuipuProcess first = serve(db, "--technique", "version-tree");
        QuipuProcess second = serve(db, "--technique", "version-tree")) {
      int known = 0;
      int unknown = 0;
      for (int i = 0; i < 40; i++) {
        boolean done = add(i % 2 == 0 ? first : second, Optional.empty());
        known += done ? 1 : 0;
        unknown += done ? 0 : 1;
      }
      long value = value(first);
      assertTrue(known <= value && value <= known + unknown, known + " are known, it is " + value);
      Path svg = temporary.resolve("tree.svg");
      Ran explained = run("explain", COUNTER, "--store", uri(db), "--svg", svg.toString());
      assertEquals(0, explained.code);
      assertTrue(explained.out.startsWith(COUNTER + " = " + value + "\n"), explained.out);
      assertTrue(explained.out.contains("version "), explained.out);
      DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(svg.toFile());
    }
  }

  private record Ran(int code, String out) {}

  private Ran run(String... arguments) throws Exception {
    Path out = Files.createTempFile(temporary, "ran", ".txt");
    Process process = QuipuProcess.run(out, arguments);
    return new Ran(process.waitFor(), Files.readString(out));
  }

  /** Returns whether the add was applied; false if its outcome is unknown. */
  private boolean add(QuipuProcess server, Optional<String> id) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(at(server, "/add"))
            .timeout(ANSWER_MAX)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{\"delta\":1}"));
    id.ifPresent(text -> request.header("Idempotency-Key", "\"" + text + "\""));
    HttpResponse<String> response;
    try {
      response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      return false; // the server was killed
    }
    assertTrue(
        response.statusCode() == 200 || response.statusCode() == 503,
        () -> response.statusCode() + ": " + response.body());
    return response.statusCode() == 200;
  }

  private long value(QuipuProcess server) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(at(server, "")).build();
    HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
    assertEquals(200, response.statusCode(), response.body());
    return JsonMapper.shared().readTree(response.body()).path("value").asLong();
  }

  private static URI at(QuipuProcess server, String path) {
    return server.uri().resolve("/v1/counters/" + COUNTER + path);
  }
}
