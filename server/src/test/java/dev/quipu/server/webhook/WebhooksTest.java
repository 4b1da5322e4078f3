package dev.quipu.server.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Decimal;
import dev.quipu.QuipuException;
import dev.quipu.backend.CounterThresholds.Direction;
import dev.quipu.backend.CounterThresholds.Threshold;
import dev.quipu.engine.Durability;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Crossings reach a receiver that fails, over kills of the engine. */
@SuppressWarnings("NullAway.Init") // JUnit calls start before each test
final class WebhooksTest {
  private static final int ROUNDS = 6;
  private static final int PER_ROUND_MAX = 500;
  private static final Backoff SHORT = new Backoff(Duration.ofMillis(1), Duration.ofMillis(20));

  @TempDir Path directory;
  private final AtomicReference<Throwable> unexpected = new AtomicReference<>();
  private Receiver receiver;
  private Engine engine;
  private Webhooks webhooks;

  @BeforeEach
  void start() throws IOException {
    receiver = new Receiver(7);
    open();
  }

  private void open() {
    engine =
        Engine.open(
            directory,
            EngineOptions.defaults().withDurability(Durability.NONE).withLog(1 << 16, 1 << 18));
    webhooks =
        Webhooks.start(
            engine.thresholds(),
            AllowedHosts.of(List.of(receiver.host())),
            WebhookSecret.parse(Receiver.SECRET, "test"),
            SHORT,
            Clock.system(),
            unexpected::set);
  }

  /** Stops the engine, which then writes nothing more, and opens it again. */
  private void kill() {
    engine.stop(new IllegalStateException("killed by the test"));
    webhooks.close();
    engine.close();
    open();
  }

  @AfterEach
  void stop() {
    webhooks.close();
    engine.close();
    receiver.close();
    assertEquals(null, unexpected.get());
  }

  private void define(Threshold threshold) {
    webhooks.check(threshold.webhook());
    var unused = engine.thresholds().put(threshold);
    webhooks.defined(threshold.id());
  }

  private Threshold threshold(String prefix, long at, Direction direction) {
    return new Threshold(
        "t-" + direction, true, prefix, new Decimal(at, 0), direction, receiver.address());
  }

  private void await(int messages) throws Exception {
    Progress.await("messages", () -> receiver.taken() >= messages);
  }

  @Test
  void aCrossingArrivesSigned() throws Exception {
    define(threshold("", 10, Direction.UP));
    var unused = engine.add(new Add("c", 12, null));
    await(1);
    assertEquals(List.of("12"), receiver.values("c", "after"));
    assertEquals(List.of("0"), receiver.values("c", "before"));
    assertEquals(List.of("10"), receiver.values("c", "at"));
    assertEquals(List.of("up"), receiver.values("c", "direction"));
    assertEquals(List.of("t-up"), receiver.values("c", "threshold"));
    awaitNoneWaits();
    assertEquals(List.of(), receiver.errors());
  }

  /**
   * Writers bring their counters above 0 and back, each time to a greater value; each that applied
   * must arrive, in this order, though the receiver fails, and the engine is killed.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void nothingIsMissing(long seed) throws Exception {
    Random random = new Random(seed);
    define(threshold("c", 1, Direction.UP));
    List<Writer> writers = List.of(new Writer("c0"), new Writer("c1"), new Writer("d"));
    receiver.failOneOf(20);
    for (int round = 0; round < ROUNDS; round++) {
      receiver.down(round == 3);
      int target = receiver.taken() + random.nextInt(200);
      long least = writers.getFirst().applied() + 100 + random.nextInt(400);
      List<Thread> threads = new ArrayList<>();
      for (Writer each : writers) {
        threads.add(Thread.ofPlatform().start(() -> each.write(engine)));
      }
      Progress.await("adds", () -> writers.getFirst().applied() >= least);
      if (round != 3) {
        Progress.await("messages", () -> receiver.taken() >= target);
      }
      if (random.nextBoolean()) {
        engine.checkpoint();
      }
      engine.stop(new IllegalStateException("killed by the test"));
      for (Thread each : threads) {
        each.join();
      }
      kill();
      writers.forEach(each -> each.resolve(engine));
    }
    receiver.failOneOf(0);
    awaitNoneWaits();
    for (Writer each : writers) {
      List<Long> expected = each.name.equals("d") ? List.of() : each.applied;
      assertEquals(expected, receiver.reached(each.name), each.name);
    }
    assertEquals(List.of(), receiver.errors());
    assertTrue(receiver.requests() > receiver.taken(), "nothing was sent again");
  }

  private void awaitNoneWaits() throws Exception {
    Progress.await(
        "deliveries", () -> engine.thresholds().get("t-up").orElseThrow().waiting() == 0);
  }

  /** Counts on a counter of its own, and knows what applied. */
  private static final class Writer {
    final String name;
    final List<Long> applied = Collections.synchronizedList(new ArrayList<>());
    private long last;

    Writer(String name) {
      this.name = name;
    }

    long applied() {
      return applied.size();
    }

    void write(Engine engine) {
      try {
        for (int i = 0; i < PER_ROUND_MAX; i++) {
          var unusedUp = engine.add(new Add(name, ++last, null));
          applied.add(last);
          var unusedDown = engine.add(new Add(name, -last, null));
        }
      } catch (QuipuException e) {
        // the engine was killed; the outcome is unknown
      }
    }

    /** Finds the outcome of the last add, and brings the counter back. */
    void resolve(Engine engine) {
      long value = engine.read(name).orElseThrow().value();
      if (value > 0) {
        assertEquals(last, value);
        if (applied.getLast() != last) {
          applied.add(last);
        }
        var unusedDown = engine.add(new Add(name, -value, null));
      }
    }
  }

  @Test
  void crossingsOfSeveralThresholdsArriveInTheOrderOfTheirCommits() throws Exception {
    define(threshold("c", 1, Direction.UP));
    define(threshold("", 0, Direction.DOWN));
    receiver.failOneOf(15);
    for (int i = 0; i < 150; i++) {
      var unusedUp = engine.add(new Add("c", i + 1, null));
      var unusedDown = engine.add(new Add("c", -i - 1, null));
    }
    await(300);
    List<Long> expected = new ArrayList<>();
    for (long i = 1; i <= 150; i++) {
      expected.addAll(List.of(i, 0L));
    }
    assertEquals(expected, receiver.reached("c"));
  }

  @Test
  void aHostThatHangsDelaysNoOther() throws Exception {
    try (ServerSocket hanging = new ServerSocket(0, 100, InetAddress.getLoopbackAddress())) {
      String host = "localhost:" + hanging.getLocalPort(); // accepts, and never answers
      webhooks.close();
      webhooks =
          Webhooks.start(
              engine.thresholds(),
              AllowedHosts.of(List.of(host, receiver.host())),
              WebhookSecret.parse(Receiver.SECRET, "test"),
              SHORT,
              Clock.system(),
              unexpected::set);
      for (int i = 0; i < 40; i++) {
        URI webhook = URI.create("http://" + host + "/");
        define(new Threshold("h" + i, true, "h" + i, new Decimal(1, 0), Direction.UP, webhook));
        for (int j = 0; j < 3; j++) {
          var unused = engine.add(new Add("h" + i + "/" + j, 1, null));
        }
      }
      define(threshold("c", 1, Direction.UP));
      for (int i = 0; i < 20; i++) {
        var unused = engine.add(new Add("c" + i, 1, null));
      }
      await(20); // though each request to the other host takes ten seconds
      assertEquals(3, engine.thresholds().get("h39").orElseThrow().waiting());
    }
  }

  @Test
  void aReplacedWebhookIsTriedAtOnce() throws Exception {
    webhooks.close();
    Backoff hour = new Backoff(Duration.ofHours(1), Duration.ofHours(1));
    webhooks =
        Webhooks.start(
            engine.thresholds(),
            AllowedHosts.of(List.of("localhost:1", receiver.host())),
            WebhookSecret.parse(Receiver.SECRET, "test"),
            hour,
            Clock.system(),
            unexpected::set);
    URI nothing = URI.create("http://localhost:1/"); // where nothing listens
    define(new Threshold("t-up", true, "", new Decimal(1, 0), Direction.UP, nothing));
    var unused = engine.add(new Add("c", 1, null));
    Progress.await("attempts", () -> webhooks.failing("t-up").isPresent());
    assertEquals("cannot connect to localhost:1", webhooks.failing("t-up").orElseThrow().reason());
    define(threshold("", 1, Direction.UP));
    await(1);
    Progress.await("success", () -> webhooks.failing("t-up").isEmpty());
  }

  @Test
  void aFailingWebhookIsReportedAndLaterServed() throws Exception {
    receiver.down(true);
    define(threshold("", 1, Direction.UP));
    var unused = engine.add(new Add("c", 1, null));
    Progress.await(
        "attempts", () -> webhooks.failing("t-up").filter(each -> each.attempts() > 2).isPresent());
    assertEquals(
        "the webhook returned status 503", webhooks.failing("t-up").orElseThrow().reason());
    receiver.down(false);
    awaitNoneWaits();
    Progress.await("success", () -> webhooks.failing("t-up").isEmpty());
    assertEquals(List.of("1"), receiver.values("c", "after"));
  }

  @Test
  void aHostThatIsNoLongerAllowedIsSentNothing() throws Exception {
    define(threshold("", 1, Direction.UP));
    webhooks.close();
    AllowedHosts other = AllowedHosts.of(List.of("localhost:1", "localhost"));
    webhooks =
        Webhooks.start(
            engine.thresholds(),
            other,
            WebhookSecret.parse(Receiver.SECRET, "test"),
            SHORT,
            Clock.system(),
            unexpected::set);
    assertThrows(IllegalArgumentException.class, () -> webhooks.check(receiver.address()));
    var unused = engine.add(new Add("c", 1, null));
    Progress.await("attempts", () -> webhooks.failing("t-up").isPresent());
    assertEquals(0, receiver.requests());
  }

  @ParameterizedTest
  @CsvSource({
    "http://a.example/x, true",
    "https://A.example/x, true",
    "https://a.example:443/x, true",
    "https://a.example:8443/x, false",
    "http://b.example/x, false",
    "http://b.example:8080/x, true",
    "http://a.example.evil/x, false",
    "http://evil/a.example, false",
    "'http://[::1]:9000/', true"
  })
  void onlyAllowedHosts(URI webhook, boolean isAllowed) {
    AllowedHosts allowed = AllowedHosts.of(List.of("a.example", "b.example:8080", "[::1]:9000"));
    assertEquals(isAllowed, allowed.allow(webhook));
  }

  @Test
  void wrongOptionsAreExplained() {
    for (String each : List.of("", "http://a", "a/b", "a:0", "a:x", "*")) {
      assertThrows(IllegalArgumentException.class, () -> AllowedHosts.of(List.of(each)), each);
    }
    for (String each : List.of("", "whsec_", "whsec_c2hvcnQ=", "whsec_?", "secret")) {
      IllegalArgumentException wrong =
          assertThrows(
              IllegalArgumentException.class, () -> WebhookSecret.parse(each, "the file"), each);
      assertTrue(String.valueOf(wrong.getMessage()).contains("the file"));
      assertFalse(String.valueOf(wrong.getMessage()).contains("c2hvcnQ"));
    }
  }

  /** The example of the specification of Standard Webhooks. */
  @Test
  void theSignatureIsThatOfTheSpecification() {
    WebhookSecret secret = WebhookSecret.parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "test");
    byte[] body = "{\"test\": 2432232314}".getBytes(StandardCharsets.UTF_8);
    assertEquals(
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body));
  }

  @Test
  void timesBetweenAttemptsDoubleUpToALimit() {
    Backoff backoff = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(5));
    assertEquals(Duration.ofSeconds(1), backoff.after(1, 0));
    assertEquals(Duration.ofSeconds(4), backoff.after(3, 0));
    assertEquals(Duration.ofSeconds(2), backoff.after(3, 1));
    assertEquals(Duration.ofMinutes(5), backoff.after(1_000, 0));
  }
}
