package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.testkit.pace.Progress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The clients in {@code clients/}, in their languages, against a server behind faulty links. */
final class ClientsIT {
  private static final long SEED = Long.getLong("seed", 20_261_125L);
  private static final double LOST = 0.2;
  private static final String LONG = ClientScripts.LONG;
  private static final String SHORT = ClientScripts.SHORT;
  private static final Map<String, String> HTML = Map.of("Content-Type", "text/html");
  private static final Gateway.Reply BAD_GATEWAY = new Gateway.Reply(502, HTML, "<h1>Bad Gateway");

  /** 300 calls, of which 30 are batches of ten adds, and 16 concurrently. */
  private static final List<String> MANY = List.of("many", "likes", "300", "16");

  private static final long ADDS = 570;

  @SuppressWarnings("NullAway.Init") // set before all tests
  private static ClientScripts scripts;

  @TempDir Path temporary;

  @SuppressWarnings("NullAway.Init") // JUnit sets the directory
  ClientsIT() {}

  /** Compiles the TypeScript client, which must be free of type errors. */
  @BeforeAll
  static void compile() throws IOException, InterruptedException {
    scripts = ClientScripts.compile();
  }

  @Test
  void thePythonClientHasStrictTypes() throws Exception {
    List<String> command =
        List.of(
            ClientScripts.tool("mypy"),
            "--strict",
            "--python-version",
            "3.9",
            "quipu.py",
            "calls.py");
    try (ToolProcess process = ToolProcess.start(scripts.directory(), command)) {
      process.await(0);
    }
  }

  private QuipuProcess serve(int port, String... options) throws IOException {
    List<String> all = new ArrayList<>(List.of(options));
    all.addAll(List.of("--data", temporary.resolve("data").toString()));
    return QuipuProcess.serveAt(port, temporary.resolve("out"), all.toArray(String[]::new));
  }

  /** Returns the count after many adds, of which a part of the replies is lost. */
  private String counted(ClientLanguage language, Path client) throws Exception {
    try (QuipuProcess server = serve(0);
        FaultProxy proxy = ClientScripts.proxy(server)) {
      proxy.use(FaultPlan.atRandom(SEED, LOST, WireFault.REPLY_DROPPED, write -> true));
      List<String> lines =
          scripts.run(
              language,
              client,
              ClientScripts.url(proxy.port()),
              ClientScripts.NO_TOKEN,
              LONG,
              MANY);
      long lost = proxy.ledger().fired(WireFault.REPLY_DROPPED);
      System.out.printf("ClientsIT: %s: %s, %d replies lost%n", language, lines, lost);
      assertTrue(lost > 0, "no reply was lost");
      assertTrue(lines.getLast().startsWith("applied " + ADDS), lines.toString());
      return scripts
          .run(language, ClientScripts.url(server.uri().getPort()), LONG, "read", "likes")
          .getLast();
    }
  }

  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void eachAddCountsOnceThoughRepliesAreLost(ClientLanguage language) throws Exception {
    assertEquals(Long.toString(ADDS), counted(language, scripts.directory()));
  }

  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void aClientWithANewIdForEachAttemptIsDetected(ClientLanguage language) throws Exception {
    Path defective = Files.createDirectory(temporary.resolve("defective"));
    for (String file : List.of("calls.py", "calls.js", "quipu.py", "quipu.js", "package.json")) {
      Files.copy(scripts.directory().resolve(file), defective.resolve(file));
    }
    Path file = defective.resolve(language.file);
    String correct = Files.readString(file);
    String changed = correct.replace(language.headers, language.headersWithNewId);
    assertNotEquals(correct, changed);
    Files.writeString(file, changed);
    assertNotEquals(Long.toString(ADDS), counted(language, defective));
  }

  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void aRequestIsUnknownWhenTheServerDiesAndCountsOnceAfterwards(ClientLanguage language)
      throws Exception {
    List<String> call = List.of("add", "seats", "2", "order-1");
    QuipuProcess server = serve(0);
    int port = server.uri().getPort();
    try (FaultProxy proxy = ClientScripts.proxy(server)) {
      proxy.use(request -> Optional.of(WireFault.REPLY_DROPPED));
      try (ToolProcess process =
          scripts.start(
              language,
              scripts.directory(),
              ClientScripts.url(proxy.port()),
              ClientScripts.NO_TOKEN,
              SHORT,
              call)) {
        Progress.await("a lost reply", () -> proxy.ledger().fired(WireFault.REPLY_DROPPED) > 0);
        server.close();
        String line = process.await(0).getLast();
        assertTrue(line.startsWith("unknown unreachable order-1 | seats: "), line);
      }
    } finally {
      server.close();
    }
    try (QuipuProcess again = serve(port)) {
      String url = ClientScripts.url(again.uri().getPort());
      assertEquals(
          List.of("applied 2 2 true"),
          scripts.run(language, url, LONG, call.toArray(String[]::new)));
    }
  }

  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void aRejectedAddIsNotRepeated(ClientLanguage language) throws Exception {
    AtomicInteger requests = new AtomicInteger();
    try (QuipuProcess server = serve(0);
        FaultProxy proxy = ClientScripts.proxy(server)) {
      proxy.use(request -> {
        requests.incrementAndGet();
        return Optional.empty();
      });
      List<String> lines =
          scripts.run(
              language, ClientScripts.url(proxy.port()), LONG, "add", "seats", "-1", "order-2");
      String expected =
          "rejected bound-reached 0 | seats: not applied: bound-reached: -1 cannot be";
      assertTrue(lines.getLast().startsWith(expected), lines.toString());
      assertEquals(1, requests.get());
    }
  }

  /** A set has no request id. */
  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void anUnknownSetIsNotRepeated(ClientLanguage language) throws Exception {
    AtomicInteger requests = new AtomicInteger();
    try (QuipuProcess server = serve(0);
        FaultProxy proxy = ClientScripts.proxy(server)) {
      proxy.use(request -> {
        requests.incrementAndGet();
        return Optional.of(WireFault.REPLY_DROPPED);
      });
      List<String> lines =
          scripts.run(language, ClientScripts.url(proxy.port()), LONG, "set", "seats", "5");
      assertTrue(lines.getLast().startsWith("unknown unreachable "), lines.toString());
      assertEquals(1, requests.get());
    }
  }

  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void aWrongTokenIsReportedAndNotShown(ClientLanguage language) throws Exception {
    Path file = Files.writeString(temporary.resolve("token"), "the-right-token-of-it");
    List<String> call = List.of("add", "likes", "1", "a-1");
    try (QuipuProcess server = serve(0, "--token-file", file.toString())) {
      String url = ClientScripts.url(server.uri().getPort());
      String wrong = "a-wrong-token-of-mine";
      List<String> lines = scripts.run(language, scripts.directory(), url, wrong, LONG, call);
      String expected =
          "not-applied unauthorized - | likes: not applied: unauthorized: the server does not accept";
      assertTrue(lines.getLast().startsWith(expected), lines.toString());
      assertFalse(lines.toString().contains(wrong), lines.toString());
      assertEquals(
          List.of("applied 1 1 false"),
          scripts.run(language, scripts.directory(), url, "the-right-token-of-it", LONG, call));
    }
  }

  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void anAddThatWasNeverSentIsNotApplied(ClientLanguage language) throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    List<String> lines =
        scripts.run(language, ClientScripts.url(port), SHORT, "add", "likes", "1", "a-1");
    assertTrue(lines.getLast().startsWith("not-applied unreachable - | "), lines.toString());
  }

  /** Runs an add through a gateway that answers the first requests itself. */
  private List<String> throughGateway(
      ClientLanguage language,
      String millis,
      String delta,
      List<Gateway.Reply> first,
      List<Long> nanos)
      throws Exception {
    try (QuipuProcess server = serve(0);
        Gateway gateway = new Gateway(server.uri(), first)) {
      List<String> lines =
          scripts.run(language, gateway.url(), millis, "add", "seats", delta, "order-3");
      assertEquals(Set.of("\"order-3\""), Set.copyOf(gateway.ids()));
      nanos.addAll(gateway.nanos());
      return lines;
    }
  }

  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void temporaryErrorsOfAGatewayAreRepeatedUnderTheSameId(ClientLanguage language)
      throws Exception {
    Map<String, String> after = Map.of("Content-Type", "text/plain", "Retry-After", "1");
    List<Gateway.Reply> first =
        List.of(
            BAD_GATEWAY,
            new Gateway.Reply(429, after, "slower"),
            new Gateway.Reply(503, Map.of(), ""),
            new Gateway.Reply(200, Map.of(), "{\"added\":\"1\""));
    List<Long> nanos = new ArrayList<>();
    assertEquals(List.of("applied 1 1 false"), throughGateway(language, LONG, "1", first, nanos));
    assertEquals(first.size() + 1, nanos.size());
    assertTrue(nanos.get(2) - nanos.get(1) >= Duration.ofSeconds(1).toNanos(), nanos.toString());
  }

  /** The attempt that the gateway lost may still be within bounds when it arrives. */
  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void aRejectionAfterALostAttemptIsUnknown(ClientLanguage language) throws Exception {
    List<String> lines =
        throughGateway(language, LONG, "-1", List.of(BAD_GATEWAY), new ArrayList<>());
    assertTrue(lines.getLast().startsWith("unknown http-502 order-3 | "), lines.toString());
  }

  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void aRedirectIsNotFollowed(ClientLanguage language) throws Exception {
    Gateway.Reply redirect =
        new Gateway.Reply(307, Map.of("Location", "http://127.0.0.1:1/elsewhere"), "");
    List<Long> nanos = new ArrayList<>();
    List<String> lines = throughGateway(language, LONG, "1", List.of(redirect), nanos);
    assertTrue(lines.getLast().startsWith("not-applied http-307 - | "), lines.toString());
    assertEquals(1, nanos.size());
  }

  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void aResponseAboveTheLimitIsNotRead(ClientLanguage language) throws Exception {
    List<Gateway.Reply> replies =
        List.of(
            new Gateway.Reply(200, Map.of(), " ".repeat((16 << 20) + 1)),
            new Gateway.Reply(400, Map.of(), ""));
    List<String> lines = throughGateway(language, LONG, "1", replies, new ArrayList<>());
    assertTrue(lines.getLast().startsWith("unknown unreachable order-3 | "), lines.toString());
    assertTrue(lines.getLast().contains("longer than 16777216 bytes"), lines.toString());
  }

  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void allCallsOfTheClient(ClientLanguage language) throws Exception {
    try (QuipuProcess server = serve(0)) {
      String url = ClientScripts.url(server.uri().getPort());
      List<String> lines =
          scripts.run(language, url, LONG, "tour", "a/b é").stream()
              .map(line -> line.replaceFirst(" \\|.*", ""))
              .toList();
      assertEquals(
          List.of(
              "undefined",
              "applied 9223372036854775807 9223372036854775807 false",
              "applied 9223372036854775807 9223372036854775807 true",
              "rejected request-id-reused -",
              "rejected overflow 9223372036854775807",
              "rejected bound-reached 9223372036854775807",
              "applied 9223372036854775807",
              "not-seen",
              "canceled",
              "rejected request-canceled 9223372036854775807",
              "set",
              "rejected value-mismatch -9223372036854775808",
              "none, -9223372036854775808 -9223372036854775808 -9223372036854775808",
              "deleted",
              "undefined",
              "applied 2 2 false",
              "rejected bound-reached 2",
              "not-applied bad-request -",
              "applied 2 2 true",
              "invalid",
              "invalid",
              "invalid",
              "invalid"),
          lines);
    }
  }
}
