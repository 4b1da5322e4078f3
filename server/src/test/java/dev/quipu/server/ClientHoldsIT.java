package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.testkit.pace.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Decimals, transactions and holds of the clients in {@code clients/}. */
final class ClientHoldsIT {
  private static final long SEED = Long.getLong("seed", 20_261_128L);
  private static final double LOST = 0.2;
  private static final String LONG = ClientScripts.LONG;
  private static final Gateway.Reply BAD_GATEWAY =
      new Gateway.Reply(502, Map.of("Content-Type", "text/html"), "<h1>Bad Gateway");

  @SuppressWarnings("NullAway.Init") // set before all tests
  private static ClientScripts scripts;

  @TempDir Path temporary;

  @SuppressWarnings("NullAway.Init") // JUnit sets the directory
  ClientHoldsIT() {}

  @BeforeAll
  static void compile() throws IOException, InterruptedException {
    scripts = ClientScripts.compile();
  }

  private QuipuProcess serve(int port) throws IOException {
    String data = temporary.resolve("data").toString();
    return QuipuProcess.serveAt(port, temporary.resolve("out"), "--data", data);
  }

  /** Returns what a script prints, without the messages. */
  private static List<String> run(ClientLanguage language, QuipuProcess server, String... call)
      throws Exception {
    return scripts.run(language, ClientScripts.url(server.uri().getPort()), LONG, call).stream()
        .map(line -> line.replaceFirst(" \\|.*", ""))
        .toList();
  }

  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void decimalsAreExact(ClientLanguage language) throws Exception {
    try (QuipuProcess server = serve(0)) {
      assertEquals(
          List.of(
              "set",
              "applied 20.50 20.50 false",
              "applied 20.50 20.50 true",
              "rejected request-id-reused -",
              "rejected scale-fixed -",
              "applied -0.25 20.25 false",
              "applied 1.00 21.25 false",
              "rejected bound-reached 21.25",
              "not-applied bad-request -",
              "applied 0.75 22.00 false",
              "applied 3 3 false",
              "rejected bound-reached 22.00",
              "22.00 22.00 22.00, 3 3 3",
              "set",
              "rejected value-mismatch 5.50",
              "applied 20.50",
              "invalid",
              "invalid",
              "invalid",
              "invalid",
              "invalid"),
          run(language, server, "decimals", "c"));
    }
  }

  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void allCallsOnHoldsAndTransactions(ClientLanguage language) throws Exception {
    try (QuipuProcess server = serve(0)) {
      assertEquals(
          List.of(
              "set",
              "set",
              "set",
              "open -3.50 - false",
              "open -3.50 - true",
              "rejected request-id-reused -",
              "rejected bound-reached 6.50 a/b é",
              "open -3.50 - false",
              "open -3.50 - false",
              "none",
              "open -3.50 - false",
              "rejected hold-exceeded - a/b é",
              "settled -3.50 -1.25 false",
              "settled -3.50 -1.25 true",
              "rejected hold-closed - settled",
              "rejected hold-closed - settled",
              "not-applied hold-not-found -",
              "open -1.00 -, -2 - false",
              "settled -1.00 0.00, -2 -3 false",
              "open -1.00 - false",
              "released -1.00 - false",
              "released -1.00 - true",
              "a/b é applied -0.75 8.00 false, a/b éi applied 3 5 false",
              "a/b é applied -0.75 8.00 true, a/b éi applied 3 5 true",
              "rejected bound-reached 8.00 a/b é",
              "applied a/b é applied -0.75 8.00 true, a/b éi applied 3 5 true",
              "held settled -1.00 0.00, -2 -3 false",
              "not-seen",
              "canceled",
              "rejected request-canceled -",
              "not-applied bad-request -",
              "invalid",
              "invalid"),
          run(language, server, "holds", "a/b é"));
    }
  }

  /**
   * Of 300 calls, 100 keep 0.01 of a hold, 100 release theirs, and 100 are transactions of -0.01
   * and 1.
   */
  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void eachStepCountsOnceThoughRepliesAreLost(ClientLanguage language) throws Exception {
    try (QuipuProcess server = serve(0);
        FaultProxy proxy = ClientScripts.proxy(server)) {
      proxy.use(FaultPlan.atRandom(SEED, LOST, WireFault.REPLY_DROPPED, write -> true));
      run(language, server, "cycles", "spent", "0", "1"); // sets the scale, which is not repeated
      String url = ClientScripts.url(proxy.port());
      List<String> lines = scripts.run(language, url, LONG, "cycles", "spent", "300", "16");
      long lost = proxy.ledger().fired(WireFault.REPLY_DROPPED);
      System.out.printf("ClientHoldsIT: %s: %s, %d replies lost%n", language, lines, lost);
      assertTrue(lost > 0, "no reply was lost");
      assertEquals(List.of("done 300"), lines);
      assertEquals(List.of("-2.00"), run(language, server, "read", "spent"));
      assertEquals(List.of("100"), run(language, server, "read", "spenti"));
      assertEquals(List.of("0"), run(language, server, "open", "spent"));
    }
  }

  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void theOpenHoldsAreMoreThanAPage(ClientLanguage language) throws Exception {
    try (QuipuProcess server = serve(0)) {
      assertEquals(List.of("2100"), run(language, server, "openings", "seats", "2100", "16"));
    }
  }

  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void aSettlementIsUnknownWhenTheServerDiesAndKeptOnceAfterwards(ClientLanguage language)
      throws Exception {
    QuipuProcess server = serve(0);
    int port = server.uri().getPort();
    try (FaultProxy proxy = ClientScripts.proxy(server)) {
      run(language, server, "set", "seats", "10");
      assertEquals(
          List.of("open -5 - false"), run(language, server, "hold", "seats", "-5", "order-1"));
      proxy.use(request -> Optional.of(WireFault.REPLY_DROPPED));
      List<String> settle = List.of("settle", "order-1", "-2");
      try (ToolProcess process =
          scripts.start(
              language,
              scripts.directory(),
              ClientScripts.url(proxy.port()),
              ClientScripts.NO_TOKEN,
              ClientScripts.SHORT,
              settle)) {
        Progress.await("a lost reply", () -> proxy.ledger().fired(WireFault.REPLY_DROPPED) > 0);
        server.close();
        String line = process.await(0).getLast();
        assertTrue(line.startsWith("unknown unreachable order-1 | order-1: "), line);
      }
    } finally {
      server.close();
    }
    try (QuipuProcess again = serve(port)) {
      assertEquals(List.of("settled -5 -2 true"), run(language, again, "settle", "order-1", "-2"));
      assertEquals(List.of("8"), run(language, again, "read", "seats"));
    }
  }

  /** Runs a call through a gateway that fails once, and returns the outcome. */
  private static String afterALostAttempt(
      ClientLanguage language, QuipuProcess server, String... call) throws Exception {
    try (Gateway gateway = new Gateway(server.uri(), List.of(BAD_GATEWAY))) {
      List<String> lines = new ArrayList<>(scripts.run(language, gateway.url(), LONG, call));
      return lines.getLast().replaceFirst(" \\|.*", "");
    }
  }

  /** A hold that the gateway lost may still be within bounds when it arrives. */
  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void aHoldThatIsRejectedAfterALostAttemptIsUnknown(ClientLanguage language) throws Exception {
    try (QuipuProcess server = serve(0)) {
      assertEquals(
          "unknown http-502 order-3",
          afterALostAttempt(language, server, "hold", "seats", "-1", "order-3"));
    }
  }

  /** The lost attempt meets the same hold when it arrives, and that has ended in another way. */
  @ParameterizedTest
  @EnumSource(ClientLanguage.class)
  void aSettlementThatCanNeverApplyIsNotUnknown(ClientLanguage language) throws Exception {
    try (QuipuProcess server = serve(0)) {
      run(language, server, "set", "seats", "10");
      run(language, server, "hold", "seats", "-5", "order-4");
      assertEquals(
          "rejected hold-exceeded - seats",
          afterALostAttempt(language, server, "settle", "order-4", "-6"));
      run(language, server, "settle", "order-4", "-1");
      assertEquals(
          "rejected hold-closed - settled",
          afterALostAttempt(language, server, "settle", "order-4", "-2"));
      assertEquals(List.of("9"), run(language, server, "read", "seats"));
    }
  }
}
