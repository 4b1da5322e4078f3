package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.server.webhook.Receiver;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Randomness;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Counters of a server cross a threshold while the server is killed and the receiver fails: each
 * crossing arrives, under one id, and those of a counter in order.
 */
final class ThresholdIT {
  private static final int CROSSINGS = Integer.getInteger("thresholds.crossings", 20_000);
  private static final int KILLS = Integer.getInteger("thresholds.kills", 4);
  private static final int COUNTERS = 50;

  /** One threshold may have more waiting crossings than that, in this heap. */
  private static final int WAITING = 100_000;

  private static final String HEAP = "512m";

  /** About as often the receiver fails: each time, deliveries pause. */
  private static final int FAILURES = 200;

  /** Adds of a request: an even number, up and down. */
  private static final int ADDS = 1_000;

  @TempDir Path directory;

  private final long seed = Long.getLong("seed", 20_261_129L);
  private final RandomGenerator random = Randomness.seeded(seed);
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** The running server, which {@link #kill} replaces. */
  @SuppressWarnings("NullAway.Init")
  private volatile QuipuProcess server;

  private final Semaphore ended = new Semaphore(0);

  @Test
  void noCrossingIsMissing() throws Exception {
    try (Receiver receiver = new Receiver(seed)) {
      start(0, receiver);
      try {
        define(receiver);
        receiver.failOneOf(CROSSINGS / FAILURES);
        Thread adding = Thread.ofPlatform().start(() -> addAll(receiver));
        for (int kill = 1; kill <= KILLS; kill++) {
          long taken = (long) CROSSINGS * kill / (KILLS + 1);
          await(receiver, taken);
          receiver.down(random.nextBoolean());
          kill(receiver);
          receiver.down(false);
        }
        receiver.failOneOf(0);
        await(receiver, CROSSINGS);
        adding.join();
        assertTrue(ended.tryAcquire(), "the adds failed");
        check(receiver);
      } finally {
        server.close();
      }
    }
  }

  private static void await(Receiver receiver, long taken) throws InterruptedException {
    Progress watched = new Progress("crossings", receiver::taken);
    while (receiver.taken() < taken) {
      watched.check();
      Thread.sleep(10);
    }
  }

  private void check(Receiver receiver) throws Exception {
    Progress.await(
        "the last record", () -> get("/v1/thresholds/t").contains("\"waiting\":0,\"missed\":0"));
    for (int i = 0; i < COUNTERS; i++) {
      assertEquals(
          LongStream.rangeClosed(1, CROSSINGS / COUNTERS).boxed().toList(),
          receiver.reached("c" + i),
          "c" + i + ", seed " + seed);
    }
    assertEquals(CROSSINGS, receiver.taken());
    System.out.printf(
        "%d crossings, %d kills, %d requests%n", receiver.taken(), KILLS, receiver.requests());
  }

  private void start(int port, Receiver receiver) throws IOException {
    server =
        QuipuProcess.serveAt(
            port,
            Map.of("QUIPU_WEBHOOK_SECRET", Receiver.SECRET, QuipuProcess.HEAP, HEAP),
            directory.resolve("out"),
            "--data",
            directory.resolve("data").toString(),
            "--durability",
            "none", // a killed process loses nothing
            "--webhook-allow",
            receiver.host());
  }

  private void kill(Receiver receiver) throws IOException {
    int port = server.uri().getPort();
    server.close();
    start(port, receiver);
  }

  private void define(Receiver receiver) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(server.uri().resolve("/v1/thresholds/t"))
            .header("Content-Type", "application/json")
            .PUT(
                BodyPublishers.ofString(
                    """
                    {"prefix":"c","at":1,"direction":"up","webhook":"%s"}\
                    """
                        .formatted(receiver.address())))
            .build();
    HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
    assertEquals(201, response.statusCode(), response.body());
  }

  private String get(String path) throws IOException, InterruptedException {
    return client
        .send(HttpRequest.newBuilder(server.uri().resolve(path)).build(), BodyHandlers.ofString())
        .body();
  }

  /** Brings each counter to 1 and back, to 2 and back, and so on, each add under an id. */
  private void addAll(Receiver receiver) {
    try {
      StringBuilder lines = new StringBuilder();
      int adds = 0;
      for (int value = 1; value <= CROSSINGS / COUNTERS; value++) {
        for (int i = 0; i < COUNTERS; i++) {
          for (int sign : new int[] {1, -1}) {
            lines.append(
                """
                {"name":"c%d","delta":%d,"id":"%d-%d-%d"}
                """
                    .formatted(i, sign * value, i, value, sign));
          }
          adds += 2;
          if (adds % ADDS == 0 || (value == CROSSINGS / COUNTERS && i == COUNTERS - 1)) {
            send(lines.toString());
            lines.setLength(0);
            await(receiver, adds / 2 - WAITING); // otherwise crossings would be missed
          }
        }
      }
      ended.release();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Sends adds until their results are known. */
  private void send(String lines) throws IOException, InterruptedException {
    while (true) {
      URI uri = server.uri().resolve("/v1/counters/bulk");
      HttpRequest request =
          HttpRequest.newBuilder(uri)
              .header("Content-Type", "application/x-ndjson")
              .POST(BodyPublishers.ofString(lines))
              .build();
      try {
        HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
        long applied =
            response.body().lines().filter(each -> each.startsWith("{\"status\":200,")).count();
        if (applied == lines.lines().count()) {
          return;
        }
      } catch (IOException e) {
        // the server was killed: the outcome is unknown, and the same request finds it out
      }
      Thread.sleep(20);
    }
  }
}
