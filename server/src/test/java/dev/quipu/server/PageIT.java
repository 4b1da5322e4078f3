package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.history.HistoryRules;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.http.route.Services;
import dev.quipu.server.webhook.AllowedHosts;
import dev.quipu.server.webhook.Backoff;
import dev.quipu.server.webhook.WebhookSecret;
import dev.quipu.server.webhook.Webhooks;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.technique.MarkerItem;
import dev.quipu.testservers.Tool;
import dev.quipu.time.Clock;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** The page for a browser: built from its sources, and driven in Chromium. */
final class PageIT {
  private static final Path WEB = Path.of("web");
  private static final Path BUILT = Path.of("src/main/resources/dev/quipu/server/http/route/page");
  private static final String RULES = "views/*=minute:2d,hour:90d,day:5y";
  private static final int GZIPPED_BYTES_MAX = 80 << 10;
  private static final String TOKEN = "token-of-the-page-test";
  private static final String READ_TOKEN = "token-that-only-reads";

  @TempDir Path directory;

  @SuppressWarnings("NullAway.Init") // JUnit sets the directory
  PageIT() {}

  @BeforeAll
  static void install() throws Exception {
    assumeTrue(Tool.find("npm").isPresent(), "no npm on this machine: ./dev deps installs it");
    run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund");
  }

  /** Runs a program in the directory of the sources; returns its output. */
  private static String run(String... command) throws Exception {
    return run(Map.of(), command);
  }

  private static String run(Map<String, String> environment, String... command) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(command).directory(WEB.toFile()).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), String.join(" ", command) + "\n" + output);
    return output;
  }

  private static Map<String, String> files(Path root) throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(root)) {
      for (Path each : all.filter(Files::isRegularFile).toList()) {
        files.put(root.relativize(each).toString(), Files.readString(each));
      }
    }
    return files;
  }

  @Test
  void theCheckedInPageIsThatOfItsSources() throws Exception {
    Path out = directory.resolve("out").toAbsolutePath();
    var unused = run("npx", "vite", "build", "--outDir", out.toString());
    assertEquals(files(out), files(BUILT), "run ./dev page");
    int bytes = 0;
    for (String each : files(BUILT).values()) {
      ByteArrayOutputStream gzipped = new ByteArrayOutputStream();
      try (GZIPOutputStream gzip = new GZIPOutputStream(gzipped)) {
        gzip.write(each.getBytes(StandardCharsets.UTF_8));
      }
      bytes += gzipped.size();
    }
    assertTrue(bytes <= GZIPPED_BYTES_MAX, bytes + " bytes");
  }

  /** Begins the past three days ago, and counts 7 two hours ago. */
  private void countTwoHoursAgo() {
    Duration days = Duration.ofDays(3);
    ManualClock past = new ManualClock(Clock.system().epochMillis() - days.toMillis());
    EngineOptions options =
        EngineOptions.defaults().withClock(past).withHistory(HistoryRules.parse(RULES));
    try (Engine engine = Engine.open(directory, options)) {
      past.advance(days.minus(Duration.ofHours(2)));
      var unused = engine.add(new Add("views/past", 7, null));
    }
  }

  /** Counts in shards, within bounds. */
  private static Quipu inShards() {
    ShardOptions options = ShardOptions.fixed(4).within(Bounds.between(0, 10));
    return Backends.on(
        new MemoryDriver(), store -> new Sharded(store, new MarkerItem(store), options));
  }

  /** Returns options that require a token. */
  private static HttpOptions guarded() {
    return HttpOptions.defaults()
        .at("127.0.0.1", 0, Optional.of(TOKEN), false)
        .readableWith(Optional.of(READ_TOKEN));
  }

  private static String url(HttpServer server) {
    return "http://127.0.0.1:" + server.address().getPort();
  }

  @Test
  void itWorksInABrowser() throws Exception {
    Optional<String> chromium = Tool.find("chromium");
    assumeTrue(chromium.isPresent(), "no chromium on this machine: ./dev deps installs it");
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    countTwoHoursAgo();
    Engine engine = Engine.open(directory, EngineOptions.defaults());
    try (Quipu quipu = Backends.on(engine);
        Quipu sharded = inShards();
        Webhooks webhooks =
            Webhooks.start(
                engine.thresholds(),
                AllowedHosts.of(List.of("127.0.0.1:1")), // where nothing listens
                WebhookSecret.parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "test"),
                Backoff.DEFAULT,
                Clock.system(),
                error -> {});
        HttpServer server =
            HttpServer.start(
                options,
                Services.of(quipu, "engine:").sending(Optional.of(webhooks)),
                Clock.system());
        HttpServer other =
            HttpServer.start(options, Services.of(sharded, "memory:"), Clock.system());
        Quipu secret = Backends.on(new MemoryDriver());
        HttpServer guarded =
            HttpServer.start(guarded(), Services.of(secret, "memory:"), Clock.system())) {
      LoggerFactory.getLogger("dev.quipu")
          .atWarn()
          .addKeyValue("reason", "none")
          .log("a <b>test</b>");
      String output =
          run(
              Map.of(
                  "BOUNDED",
                  url(other),
                  "GUARDED",
                  url(guarded),
                  "TOKEN",
                  TOKEN,
                  "READ_TOKEN",
                  READ_TOKEN),
              "node",
              "test/pages.mjs",
              url(server),
              chromium.orElseThrow());
      System.out.print(output);
      assertTrue(output.contains("passed: "), output);
    }
  }
}
