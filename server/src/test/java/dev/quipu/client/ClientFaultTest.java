package dev.quipu.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Counters;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.Quipu;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.http.route.Services;
import dev.quipu.server.net.HostProcess;
import dev.quipu.server.net.Tls;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.HttpProtocol;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.testkit.ConcurrentClients;
import dev.quipu.time.Clock;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Outcomes of calls when connections and servers fail, verified by the ledger of a proxy. */
final class ClientFaultTest {
  private static final Duration SHORT = Duration.ofMillis(1_500);
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Add ADD = new Add("a", 1, RequestId.of("one"));

  private MemoryDriver driver;
  private Quipu local;
  private HttpServer server;
  private FaultProxy proxy;

  @SuppressWarnings("NullAway.Init") // JUnit calls start before each test
  ClientFaultTest() {}

  @BeforeEach
  void start() throws IOException {
    driver = new MemoryDriver();
    local = Backends.on(driver);
    server = serve(Optional.empty());
    proxy =
        FaultProxy.start(
            new HttpProtocol(), server.address().getPort(), Duration.ofSeconds(3), write -> 1);
  }

  private HttpServer serve(Optional<String> token) throws IOException {
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, token, false);
    return HttpServer.start(options, Services.of(local, "memory"), Clock.system());
  }

  @AfterEach
  void stop() {
    proxy.close();
    server.close();
    local.close();
    driver.close();
  }

  private static URI at(int port) {
    return URI.create("http://127.0.0.1:" + port);
  }

  private Quipu client(Duration timeout) {
    return Quipu.builder().server(at(proxy.port())).timeout(timeout).build();
  }

  private long value() {
    return local.counter("a").read().map(reading -> reading.value()).orElse(0L);
  }

  @Test
  void anAddWhoseReplyIsLostIsRepeatedUnderItsId() {
    try (Quipu quipu = client(LONG)) {
      for (WireFault fault :
          List.of(WireFault.REPLY_DROPPED, WireFault.CONNECTION_RESET, WireFault.DUPLICATE)) {
        long before = value();
        proxy.use(FaultPlan.of(fault));
        AddResult.Success own = quipu.counter("a").add(1).orElseThrow();
        assertEquals(fault == WireFault.REPLY_DROPPED, own.isReplayed(), fault::name);
        proxy.use(FaultPlan.of(fault));
        assertTrue(quipu.counter("a").add(1, RequestId.of(fault.name())).isApplied());
        assertEquals(before + 2, value(), fault::name);
        assertEquals(2, proxy.ledger().fired(fault));
      }
    }
  }

  @Test
  void anAddWithoutAReplyUntilTheDeadlineIsUnknown() {
    try (Quipu quipu = client(SHORT)) {
      Counters counters = quipu.counters();
      counters.technique(); // connects
      proxy.use(request -> Optional.of(WireFault.HANG));
      OutcomeUnknownException e =
          assertThrows(OutcomeUnknownException.class, () -> counters.add(ADD));
      assertEquals(Reason.TIMEOUT, e.reason());
      proxy.use(FaultPlan.none());
      assertInstanceOf(AddResult.Replayed.class, counters.add(ADD));
      assertEquals(1, value());
    }
  }

  @Test
  void anUnknownAddStaysUnknownWhenTheServerIsGone() {
    try (Quipu quipu = client(SHORT)) {
      Counters counters = quipu.counters();
      counters.technique();
      proxy.use(request -> {
        proxy.reject();
        return Optional.of(WireFault.CONNECTION_RESET);
      });
      QuipuException e = assertThrows(QuipuException.class, () -> counters.add(ADD));
      assertEquals(Outcome.UNKNOWN, e.outcome());
      // A repeat by the caller is a new call, which was not sent.
      assertThrows(NotAppliedException.class, () -> counters.add(ADD));
      proxy.use(FaultPlan.none());
      proxy.accept();
      assertInstanceOf(AddResult.Applied.class, counters.add(ADD));
      assertEquals(1, value());
    }
  }

  @Test
  void aSetIsNotRepeatedAfterALostReply() {
    try (Quipu quipu = client(LONG)) {
      Counters counters = quipu.counters();
      counters.technique();
      proxy.use(request -> Optional.of(WireFault.REPLY_DROPPED).filter(any -> isPut(request)));
      assertThrows(OutcomeUnknownException.class, () -> counters.set("a", 5, OptionalLong.empty()));
      assertEquals(5, value());
      assertEquals(1, proxy.ledger().fired(WireFault.REPLY_DROPPED));
    }
  }

  private static boolean isPut(Protocol.Request request) {
    return new String(request.bytes(), StandardCharsets.US_ASCII).startsWith("PUT");
  }

  @Test
  void readsAreRepeated() {
    try (Quipu quipu = client(LONG)) {
      assertTrue(quipu.counter("a").add(3).isApplied());
      FaultPlan reset = FaultPlan.of(WireFault.CONNECTION_RESET);
      proxy.use(request -> reset.next(request));
      assertEquals(3, quipu.counters().readAll(List.of("a")).getFirst().orElseThrow().value());
      assertEquals(1, proxy.ledger().fired(WireFault.CONNECTION_RESET));
    }
  }

  @Test
  void aServerThatIsGoneIsReplacedByAnother() throws Exception {
    try (HttpServer other = serve(Optional.empty());
        Quipu quipu =
            Quipu.builder()
                .server(
                    URI.create(
                        "http://127.0.0.1:%d,127.0.0.1:%d"
                            .formatted(proxy.port(), other.address().getPort())))
                .timeout(LONG)
                .build()) {
      ConcurrentClients.run(
          16,
          client -> {
            for (int i = 0; i < 20; i++) {
              assertTrue(quipu.counter("a").add(1).isApplied());
              if (client == 0 && i == 10) {
                proxy.reject();
              }
            }
            return 0;
          });
      assertEquals(320, value());
    }
  }

  @Test
  void concurrentAddsGoTogether() throws Exception {
    try (Quipu quipu = client(LONG)) {
      ConcurrentClients.run(
          100,
          client -> {
            for (int i = 0; i < 10; i++) {
              assertTrue(quipu.counter("a").add(1).isApplied());
            }
            return 0;
          });
      assertEquals(1_000, value());
      long requests = proxy.ledger().writes();
      assertTrue(requests < 500, () -> requests + " requests for 1000 adds");
    }
  }

  @Test
  void tooManyWaitingAddsAreRejected() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        ServerCalls calls =
            new ServerCalls(
                new ClientOptions(
                    List.of(at(silent.getLocalPort())),
                    Optional.empty(),
                    "token",
                    LONG,
                    Optional.empty(),
                    true));
        AddQueue queue = new AddQueue(calls)) {
      List<Add> many = IntStream.range(0, AddQueue.BATCH_ADDS_MAX).mapToObj(i -> ADD).toList();
      NotAppliedException e =
          assertThrows(
              NotAppliedException.class,
              () -> {
                for (int i = 0; i < 2 * AddQueue.WAITING_ADDS_MAX / many.size(); i++) {
                  queue.submit(
                      new PendingAdds(many, new RequestId[many.size()], calls.deadlineNanos()));
                }
              });
      assertEquals(Reason.THROTTLED, e.reason());
      assertTrue(e.getMessage().contains("the limit is 100000"), e::getMessage);
    }
  }

  @Test
  void anInterruptedCallEnds() throws Exception {
    try (Quipu quipu = client(LONG)) {
      quipu.counters().technique();
      CompletableFuture<Thread> waiting = new CompletableFuture<>();
      proxy.use(request -> {
        waiting.join().interrupt();
        return Optional.of(WireFault.HANG);
      });
      CompletableFuture<QuipuException> thrown = new CompletableFuture<>();
      waiting.complete(
          Thread.startVirtualThread(() -> {
            try {
              thrown.completeExceptionally(
                  new AssertionError(quipu.counters().add(ADD).toString()));
            } catch (QuipuException e) {
              thrown.complete(e);
            }
          }));
      assertEquals(Outcome.UNKNOWN, thrown.get().outcome());
    }
  }

  @Test
  void aServerWithATokenNeedsIt() throws Exception {
    String token = "0123456789abcdef";
    try (HttpServer guarded = serve(Optional.of(token))) {
      URI uri = at(guarded.address().getPort());
      try (Quipu quipu = Quipu.builder().server(uri).token(token).build();
          Quipu stranger = Quipu.connect(uri);
          Quipu outdated = Quipu.builder().server(uri).token("fedcba9876543210").build()) {
        assertTrue(quipu.counter("a").add(1).isApplied());
        assertDenied("requires a token", stranger);
        assertDenied("does not accept this token", outdated);
      }
    }
  }

  private static void assertDenied(String why, Quipu quipu) {
    for (Executable call :
        List.<Executable>of(
            () -> quipu.counters().add(ADD),
            () -> quipu.counters().read("a"),
            () -> quipu.counters().set("a", 1, OptionalLong.empty()))) {
      NotAppliedException e = assertThrows(NotAppliedException.class, call);
      assertEquals(Reason.DENIED, e.reason());
      assertTrue(e.getMessage().contains(why), e::getMessage);
      assertTrue(e.getMessage().contains("Builder.token"), e::getMessage);
    }
  }

  @Test
  void aServerWithTlsIsTrustedByItsCertificate(@TempDir Path directory) throws Exception {
    X509Bundle bundle =
        new CertificateBuilder()
            .subject("CN=localhost")
            .addSanDnsName("localhost")
            .setIsCertificateAuthority(true)
            .buildSelfSigned();
    Path certificate = directory.resolve("certificate.pem");
    Path key = directory.resolve("key.pem");
    Files.writeString(certificate, bundle.getCertificatePathPEM());
    Files.writeString(key, bundle.getPrivateKeyPEM());
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    try (HttpServer secure =
        HttpServer.start(
            options,
            Optional.of(Tls.of(certificate, key)),
            Services.of(local, "memory"),
            HostProcess.alone(),
            Clock.system())) {
      URI uri = URI.create("https://localhost:" + secure.address().getPort());
      try (Quipu quipu = Quipu.builder().server(uri).trustedCertificates(certificate).build();
          Quipu stranger = Quipu.connect(uri)) {
        assertTrue(quipu.counter("a").add(1).isApplied());
        NotAppliedException e =
            assertThrows(NotAppliedException.class, () -> stranger.counters().add(ADD));
        assertEquals(Reason.DENIED, e.reason());
        assertTrue(e.getMessage().contains("TLS"), e::getMessage);
      }
    }
  }

  @Test
  void malformedSettingsAreRejected() {
    for (String uri :
        List.of("redis://a", "http:///x", "http://user@a", "http://a/path", "http://a,,b")) {
      Quipu.Builder builder = Quipu.builder().server(URI.create(uri));
      assertThrows(IllegalArgumentException.class, builder::build, uri);
    }
    Quipu.Builder both = Quipu.builder().server(URI.create("http://a")).store("memory:");
    assertThrows(IllegalStateException.class, both::build);
    Quipu.Builder technique = Quipu.builder().server(URI.create("http://a")).technique("x");
    assertThrows(IllegalArgumentException.class, technique::build);
    Quipu.Builder token = Quipu.builder().store("memory:").token("x");
    assertThrows(IllegalStateException.class, token::build);
    for (String text : List.of("", "a b", "a\nb", "é")) {
      Quipu.Builder builder = Quipu.builder().server(at(1)).token(text);
      IllegalArgumentException e = assertThrows(IllegalArgumentException.class, builder::build);
      assertTrue(String.valueOf(e.getMessage()).contains("visible ASCII"), e.getMessage());
    }
  }
}
