package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.testkit.pace.Progress;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.time.Randomness;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The packaged server, killed under load and within an import. */
final class ServerIT {
  private static final int KILLS = 5;
  private static final int CLIENTS = 8;
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  @TempDir Path temporary;

  private QuipuProcess serve() throws IOException {
    return QuipuProcess.serve(
        temporary.resolve("out"), "--data", temporary.resolve("data").toString());
  }

  @Test
  void everyAcknowledgedRequestCountsOnceOverKillsAndRepeats() throws Exception {
    RandomGenerator random = Randomness.seeded(Long.getLong("seed", 20_261_121L));
    long requests = 0;
    Soak.Rounds kills = Soak.rounds(KILLS);
    while (kills.next()) {
      // Requests in flight when the previous server died are repeated with the same ids.
      requests = load(serve(), requests, 50 + random.nextInt(200));
    }
    QuipuProcess server = serve();
    requests = load(server, requests, Long.MAX_VALUE);
    assertEquals(Long.toString(requests), value(server.uri()));
    server.process().toHandle().destroy(); // SIGTERM
    assertEquals(0, server.process().waitFor());
    assertTrue(requests > 100, "only " + requests + " requests");
    System.out.printf("ServerIT: %d kills, %d requests%n", kills.begun(), requests);
  }

  /**
   * Adds 1 with the ids from {@code next} on, from several clients, and kills the server after a
   * number of acknowledgements, or stops after a few hundred. Returns the first unacknowledged id.
   */
  private static long load(QuipuProcess server, long next, long lives) throws Exception {
    int span = 400;
    boolean[] acknowledged = new boolean[span];
    try (HttpClient client = HttpClient.newHttpClient();
        ExecutorService executor = Executors.newFixedThreadPool(CLIENTS)) {
      List<Future<?>> running = new ArrayList<>();
      AtomicLong count = new AtomicLong();
      for (int i = 0; i < span; i++) {
        int offset = i;
        running.add(
            executor.submit(() -> {
              acknowledged[offset] = add(client, server.uri(), next + offset);
              if (acknowledged[offset] && count.incrementAndGet() == lives) {
                server.process().toHandle().destroyForcibly();
              }
            }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
    if (lives < span) {
      server.process().waitFor();
    } else if (lives != Long.MAX_VALUE) {
      server.process().toHandle().destroyForcibly();
      server.process().waitFor();
    }
    int done = 0;
    while (done < span && acknowledged[done]) {
      done++;
    }
    return next + done;
  }

  private static boolean add(HttpClient client, URI server, long number) {
    HttpRequest request =
        HttpRequest.newBuilder(server.resolve("/v1/counters/loaded/add"))
            .timeout(Duration.ofMinutes(5))
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", "\"request-" + number + "\"")
            .POST(HttpRequest.BodyPublishers.ofString("{\"delta\":1}"))
            .build();
    try {
      HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
      assertEquals(200, response.statusCode(), response.body());
      return true;
    } catch (IOException e) {
      return false; // the server is dead: repeated at the next one
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static String value(URI server) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request = HttpRequest.newBuilder(server.resolve("/v1/counters/loaded")).build();
      HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
      return MAPPER.readTree(response.body()).path("value").asString();
    }
  }

  @Test
  void viewsAreExactAfterAKilledAndRepeatedImport() throws Exception {
    Path log = temporary.resolve("access.log");
    writeLog(log, 60_000);
    String data = temporary.resolve("data").toString();
    Path out = temporary.resolve("import.out");
    String[] arguments = {
      "import", "--json", "--data", data, "--format", "combined-log", log.toString()
    };
    // It reads half of the log and waits for the rest, so it is running and has counted.
    Process killed =
        QuipuProcess.run(out, "import", "--json", "--data", data, "--format", "combined-log", "-");
    try (OutputStream in = killed.getOutputStream()) {
      byte[] whole = Files.readAllBytes(log);
      in.write(whole, 0, whole.length / 2);
      in.flush();
      Path segment = temporary.resolve("data/log/0000000000000001.log");
      Progress.await("frames", () -> !killed.isAlive() || hasFrames(segment));
      killed.toHandle().destroyForcibly();
      killed.waitFor();
    }
    assertEquals("", Files.readString(out), "it ended before it was killed");
    for (int i = 0; i < 2; i++) {
      assertEquals(0, QuipuProcess.run(out, arguments).waitFor());
    }
    List<JsonNode> said = Files.readAllLines(out).stream().map(MAPPER::readTree).toList();
    assertTrue(said.get(0).path("before").asLong() > 0, "the killed import counted nothing");
    assertEquals(0, said.get(1).path("counted").asLong());

    QuipuProcess server = serve();
    try (HttpClient client = HttpClient.newHttpClient()) {
      for (String line : truth(log)) {
        String[] parts = line.strip().split(" ", 2);
        HttpRequest request =
            HttpRequest.newBuilder(server.uri().resolve("/v1/views?url=" + parts[1])).build();
        String body = client.send(request, HttpResponse.BodyHandlers.ofString()).body();
        assertEquals(parts[0], MAPPER.readTree(body).path("value").asString(), parts[1]);
      }
    } finally {
      server.process().toHandle().destroy();
      server.process().waitFor();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"INT", "HUP"})
  void aSignalStopsAServerWithStatus0(String signal) throws Exception {
    assertEquals(0, statusAfter(signal));
  }

  /** Sends the signal as soon as the server is ready, and checks that it closed its directory. */
  private int statusAfter(String signal) throws Exception {
    QuipuProcess server = serve();
    long pid = server.process().pid();
    assertEquals(0, new ProcessBuilder("kill", "-" + signal, "" + pid).start().waitFor());
    int status = server.process().waitFor();
    String data = temporary.resolve("data").toString();
    Path out = temporary.resolve("check");
    assertEquals(0, QuipuProcess.run(out, "check", "--data", data).waitFor());
    return status;
  }

  @Test
  void anImportStopsGracefully() throws Exception {
    Path log = temporary.resolve("access.log");
    writeLog(log, 20_000);
    String data = temporary.resolve("data").toString();
    Path out = temporary.resolve("import.out");
    Process stopped =
        QuipuProcess.run(out, "import", "--data", data, "--format", "combined-log", "-");
    try (OutputStream in = stopped.getOutputStream()) {
      in.write(Files.readAllBytes(log));
      in.flush();
      Path segment = temporary.resolve("data/log/0000000000000001.log");
      Progress.await("frames", () -> !stopped.isAlive() || hasFrames(segment));
      stopped.toHandle().destroy(); // SIGTERM; it notices at the next line
      while (!stopped.waitFor(10, TimeUnit.MILLISECONDS)) {
        in.write('\n');
        in.flush();
      }
    } catch (IOException itHangsUp) {
      // expected
    }
    assertEquals(143, stopped.waitFor());
    assertEquals("", Files.readString(out), "it ended before it was stopped");
    String said = new String(stopped.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(said.contains("stopped; when the cause is gone, run it again: "), said);
    assertEquals(0, QuipuProcess.run(out, "check", "--data", data).waitFor());
  }

  @Test
  void aShardedServerKeepsTheFloorAndShowsOneCounter() throws Exception {
    try (QuipuProcess server =
        QuipuProcess.serve(
            temporary.resolve("out"), "--store", "memory:", "--shards", "8", "--floor", "0")) {
      List<String> target = List.of("--server", server.uri().toString());
      assertEquals(0, add(target, "3", "in"));
      for (int i = 0; i < 3; i++) {
        assertEquals(0, add(target, "-1", "out" + i));
        assertEquals(0, add(target, "-1", "out" + i)); // once, by its id
      }
      assertEquals(3, add(target, "-1", "one too many"));
      assertEquals(2, add(target, "1", "other bounds", "--ceiling", "5"));
      Path listed = temporary.resolve("listed");
      assertEquals(0, QuipuProcess.run(listed, "list", target.get(0), target.get(1)).waitFor());
      assertEquals("0\tstock", Files.readString(listed).strip());
    }
  }

  private int add(List<String> target, String delta, String id, String... more) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("add", "stock", delta, "--id", id));
    arguments.addAll(target);
    arguments.addAll(List.of(more));
    return QuipuProcess.run(temporary.resolve("said"), arguments.toArray(String[]::new)).waitFor();
  }

  @Test
  void anExportToAFullDiskFails() throws Exception {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.exists(full), "there is no /dev/full");
    String data = temporary.resolve("data").toString();
    assertEquals(
        0, QuipuProcess.run(temporary.resolve("out"), "add", "a", "1", "--data", data).waitFor());
    assertEquals(1, QuipuProcess.run(full, "export", "--data", data).waitFor());
  }

  /** Returns whether the preallocated log has grown well beyond its first group. */
  private static boolean hasFrames(Path segment) throws IOException {
    if (!Files.exists(segment)) {
      return false;
    }
    try (InputStream in = Files.newInputStream(segment)) {
      in.skipNBytes(100_000);
      for (byte each : in.readNBytes(50_000)) {
        if (each != 0) {
          return true;
        }
      }
      return false;
    }
  }

  /** Writes an access log with many duplicates of page, time and client. */
  private static void writeLog(Path log, int lines) throws IOException {
    RandomGenerator random = Randomness.seeded(7);
    try (var out = Files.newBufferedWriter(log)) {
      for (int i = 0; i < lines; i++) {
        out.write(
            "10.0.0.%d - - [17/May/2015:10:%02d:%02d +0000] \"GET /page/%d HTTP/1.1\" 200 1 \"-\" \"-\"%n"
                .formatted(
                    random.nextInt(20), random.nextInt(60), random.nextInt(60), random.nextInt(7)));
      }
    }
  }

  /** Computes the views per page independently: lines of count and page. */
  private static List<String> truth(Path log) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                "sh",
                "-c",
                "awk '{print $7, $4, $1}' \"$1\" | sort -u | awk '{print $1}' | sort | uniq -c",
                "sh",
                log.toString())
            .start();
    List<String> lines =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
            .lines()
            .toList();
    assertEquals(0, process.waitFor());
    assertEquals(7, lines.size());
    return lines;
  }
}
