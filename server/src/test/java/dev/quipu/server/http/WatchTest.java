package dev.quipu.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.server.net.HostProcess;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import java.io.BufferedReader;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What clients of a stream know is what the counters have. */
@SuppressWarnings("NullAway.Init") // JUnit calls start before each test
final class WatchTest {
  private static final long SEED = 91;
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  @TempDir Path directory;
  private Quipu quipu;
  private HostProcess host;
  private HttpServer server;
  private int watchers; // every other one is sent a gzip stream

  @BeforeEach
  void start() throws IOException {
    quipu = Backends.on(Engine.open(directory, EngineOptions.defaults()));
    host = HostProcess.alone();
    server = start(quipu);
  }

  private HttpServer start(Quipu counted) throws IOException {
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    return HttpServer.start(
        options, Optional.empty(), Services.of(counted, "engine:"), host, Clock.system());
  }

  @AfterEach
  void stop() {
    server.close();
    quipu.close();
  }

  private static void await(BooleanSupplier condition) {
    assertTimeoutPreemptively(
        Progress.STALL_MAX,
        () -> {
          while (!condition.getAsBoolean()) {
            Thread.sleep(5);
          }
        });
  }

  /** Reads a stream line by line, and applies its events to a map. */
  private final class Watcher implements AutoCloseable {
    final String prefix;
    private final boolean isGzip;
    private final InputStream in;
    private final Map<String, String> known = new TreeMap<>();
    final List<String> types = new ArrayList<>();
    volatile String lastId;
    volatile boolean isComplete;
    volatile boolean isEnded;

    Watcher(String prefix, String lastId) {
      this.prefix = prefix;
      this.lastId = lastId;
      HttpRequest.Builder request =
          new Client(server.address()).request("/v1/watch?prefix=" + prefix);
      if (!lastId.isEmpty()) {
        request.header("Last-Event-ID", lastId);
      }
      isGzip = ++watchers % 2 == 0;
      if (isGzip) {
        request.header("Accept-Encoding", "gzip");
      }
      HttpResponse<InputStream> response =
          HTTP.sendAsync(request.build(), HttpResponse.BodyHandlers.ofInputStream()).join();
      assertEquals(200, response.statusCode());
      assertEquals("text/event-stream", response.headers().firstValue("Content-Type").orElse(""));
      assertEquals(
          isGzip ? "gzip" : "", response.headers().firstValue("Content-Encoding").orElse(""));
      this.in = response.body();
      Thread.ofVirtual().start(this::read);
    }

    private void read() {
      try {
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(isGzip ? unzipped() : in, UTF_8));
        String type = "";
        String id = "";
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          if (line.startsWith("event: ")) {
            type = line.substring(7);
            id = "";
          } else if (line.startsWith("id: ")) {
            id = line.substring(4);
          } else if (line.startsWith("data: ")) {
            apply(type, JsonMapper.shared().readTree(line.substring(6)));
            lastId = id.isEmpty() ? lastId : id;
          }
        }
      } catch (IOException e) {
        // closed
      }
      isEnded = true;
    }

    private InputStream unzipped() throws IOException {
      return new FilterInputStream(new GZIPInputStream(in)) {
        @Override
        public int available() {
          return 0; // otherwise a reader waits for more before it returns a line
        }
      };
    }

    private synchronized void apply(String type, JsonNode data) {
      types.add(type);
      switch (type) {
        case "reset" -> known.clear();
        case "complete" -> {
          assertEquals(known.size(), data.path("counters").asInt());
          isComplete = true;
        }
        default -> {
          for (JsonNode each : data) {
            String name = each.path("name").asString();
            if (each.has("value")) {
              known.put(name, each.path("value").asString());
            } else {
              known.remove(name);
            }
          }
        }
      }
    }

    synchronized Map<String, String> known() {
      return Map.copyOf(known);
    }

    @Override
    public void close() throws IOException {
      in.close();
      await(() -> isEnded);
    }
  }

  private void add(String name, long delta) {
    var unused = quipu.counter(name).add(delta);
  }

  @Test
  void allCountersComeFirstAndThenTheirChanges() throws IOException {
    for (int i = 0; i < 2_500; i++) {
      add("views/" + i, 1 + i);
    }
    add("other", 1);
    try (Watcher watcher = new Watcher("views/", "")) {
      await(() -> watcher.isComplete);
      assertEquals(2_500, watcher.known().size());
      assertEquals(List.of("reset", "counters", "counters", "counters", "complete"), watcher.types);
      add("views/7", 1);
      add("views/new", -3);
      add("other", 1);
      quipu.counter("views/8").delete();
      var unusedScale = quipu.counter("views/<script>").fixScale(2);
      add("views/<script>", 150);
      await(() -> "1.50".equals(watcher.known().get("views/<script>")));
      Map<String, String> known = watcher.known();
      assertEquals("9", known.get("views/7"));
      assertEquals("-3", known.get("views/new"));
      assertFalse(known.containsKey("views/8"));
      assertFalse(known.containsKey("other"));
      assertEquals(2_501, known.size());
    }
  }

  @Test
  void aClientThatComesBackIsSentWhatItMissed() throws IOException {
    add("a", 1);
    add("b", 1);
    String id;
    try (Watcher watcher = new Watcher("", "")) {
      await(() -> watcher.isComplete);
      add("a", 1);
      await(() -> "2".equals(watcher.known().get("a")));
      id = watcher.lastId;
    }
    add("b", 5);
    quipu.counter("a").delete();
    add("c", 9);
    try (Watcher again = new Watcher("", id)) {
      await(() -> again.known().equals(Map.of("b", "6", "c", "9")));
      assertFalse(again.types.contains("reset"));
      assertNotEquals(id, again.lastId);
    }
    for (String unknown : List.of("00000000-1", id.substring(0, 9) + "999999", "x", "1-1")) {
      try (Watcher fresh = new Watcher("", unknown)) {
        await(() -> fresh.types.contains("complete"));
        assertEquals(Map.of("b", "6", "c", "9"), fresh.known());
      }
    }
  }

  @Test
  void aClientThatMissedTooMuchIsSentAllCounters() throws IOException {
    add("w/first", 1);
    String id;
    try (Watcher watcher = new Watcher("w/", "")) {
      await(() -> watcher.isComplete);
      add("w/first", 1);
      await(() -> "2".equals(watcher.known().get("w/first")));
      id = watcher.lastId;
    }
    try (Watcher last = new Watcher("w/last", "")) {
      await(() -> last.isComplete);
      for (int first = 0; first <= 50_000; first += 1_000) {
        List<Add> adds = new ArrayList<>();
        for (int i = first; i < first + 1_000; i++) {
          adds.add(new Add("w/" + i, 1, null));
        }
        var unused = quipu.counters().addAll(adds);
      }
      add("w/last", 1);
      await(() -> "1".equals(last.known().get("w/last"))); // the server has read all changes
    }
    try (Watcher again = new Watcher("w/", id)) {
      await(() -> again.isComplete);
      assertTrue(again.types.contains("reset"));
      assertEquals(51_002, again.known().size());
    }
  }

  /** Writers over all ports; members of hashes and texts are not counters. */
  @Test
  void afterManyChangesEachClientKnowsTheCountersOfItsPrefix() throws Exception {
    AtomicBoolean isOver = new AtomicBoolean();
    List<Thread> writers = new ArrayList<>();
    for (int writer = 0; writer < 4; writer++) {
      Random random = new Random(SEED + writer);
      writers.add(
          Thread.ofVirtual()
              .start(() -> {
                while (!isOver.get()) {
                  String name = "p" + random.nextInt(3) + "/" + random.nextInt(300);
                  switch (random.nextInt(20)) {
                    case 0 -> quipu.counter(name).delete();
                    case 1 -> quipu.counter(name).set(random.nextLong());
                    default -> add(name, 1);
                  }
                }
              }));
    }
    List<Watcher> watchers = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      watchers.add(new Watcher(i % 4 == 3 ? "" : "p" + i % 4 + "/", ""));
      if (i % 8 == 7) { // one that leaves
        watchers.removeLast().close();
      }
      Thread.sleep(20);
    }
    for (Watcher each : watchers) {
      await(() -> each.isComplete);
    }
    isOver.set(true);
    for (Thread each : writers) {
      each.join();
    }
    Map<String, String> all = new TreeMap<>();
    String after = "";
    for (Optional<String> next = Optional.of(""); next.isPresent(); ) {
      var page = quipu.counters().list("", after, 1_000);
      page.counters().forEach(each -> all.put(each.name(), Long.toString(each.reading().value())));
      next = page.resumeAfter();
      after = next.orElse("");
    }
    for (Watcher each : watchers) {
      Map<String, String> expected = new TreeMap<>(all);
      expected.keySet().removeIf(name -> !name.startsWith(each.prefix));
      await(() -> each.known().equals(expected));
      each.close();
    }
    await(() -> host.budget().usedBytes() == 0);
  }

  @Test
  void aRemovedCounterWhoseNameIsUsedAgainIsKnown() throws IOException {
    try (Watcher watcher = new Watcher("", "")) {
      await(() -> watcher.isComplete);
      for (int i = 0; i < 200; i++) {
        add("a" + i % 7, 1);
        quipu.counter("a" + i % 7).delete();
      }
      add("a3", 4);
      add("end", 1);
      await(() -> watcher.known().containsKey("end"));
      await(() -> watcher.known().equals(Map.of("a3", "4", "end", "1")));
    }
  }

  @Test
  void aServerThatStopsEndsItsStreams() throws IOException {
    Watcher watcher = new Watcher("", "");
    await(() -> watcher.isComplete);
    server.close();
    await(() -> watcher.isEnded);
  }

  @Test
  void aWrongRequestIsAnError() throws IOException {
    Client client = new Client(server.address());
    assertEquals(400, client.get("/v1/watch?prefx=a").status());
    assertEquals(400, client.get("/v1/watch?prefix=" + "a".repeat(513)).status());
    assertEquals(405, client.post("/v1/watch", "{}").status());
    Client.Reply head = client.send(client.request("/v1/watch").HEAD());
    assertEquals(200, head.status());
    Client.Reply gzip =
        client.send(client.request("/v1/watch").header("Accept-Encoding", "gzip").HEAD());
    assertEquals(Optional.empty(), gzip.headers().firstValue("Content-Length"));
    try (HttpServer other = start(Backends.on(new MemoryDriver()))) {
      Client.Reply reply = new Client(other.address()).get("/v1/watch");
      assertEquals(501, reply.status());
      assertTrue(reply.text("detail").contains("/v1/counters/read"), reply.body());
    }
  }

  /** A client that does not read holds one event; the others are served, and it is cut off. */
  @Test
  void aClientThatDoesNotReadDoesNotDelayOthers() throws IOException {
    for (int i = 0; i < 30_000; i++) {
      add("long-name-of-a-counter/" + "x".repeat(200) + i, 1);
    }
    List<Socket> silent = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      Socket socket = new Socket();
      socket.setReceiveBufferSize(4_096);
      socket.connect(server.address());
      socket
          .getOutputStream()
          .write("GET /v1/watch HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(UTF_8));
      silent.add(socket);
    }
    try (Watcher watcher = new Watcher("x", "")) {
      await(() -> watcher.isComplete);
      add("x1", 1);
      await(() -> watcher.known().containsKey("x1"));
      assertTrue(host.budget().usedBytes() < 20 * (1 << 20), "" + host.budget().usedBytes());
    }
    for (Socket each : silent) {
      each.close();
    }
    await(() -> host.budget().usedBytes() == 0);
  }
}
