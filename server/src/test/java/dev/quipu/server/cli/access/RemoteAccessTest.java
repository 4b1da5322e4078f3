package dev.quipu.server.cli.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.Quipu;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.SetResult;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.http.route.Services;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewEvent;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Outcomes of responses from servers and proxies, and of missing responses. */
final class RemoteAccessTest {
  private static final Add ADD = new Add("a", 1, RequestId.of("one"));

  /** Replies to each request with the same bytes, or with none, and disconnects. */
  private static final class Stranger implements AutoCloseable {
    private static final int LINGER_MILLIS = 1_000;

    private final ServerSocket socket = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    private final String answer;
    private final int answersMax;

    Stranger(String answer) throws IOException {
      this(answer, Integer.MAX_VALUE);
    }

    /** Replies to the first requests, and never to the others. */
    Stranger(String answer, int answersMax) throws IOException {
      this.answer = answer;
      this.answersMax = answersMax;
      Thread.ofVirtual().start(this::run);
    }

    URI uri() {
      return URI.create("http://127.0.0.1:" + socket.getLocalPort());
    }

    private void run() {
      for (int answers = 0; answers < answersMax && !socket.isClosed(); answers++) {
        try (Socket client = socket.accept()) {
          InputStream in = client.getInputStream();
          in.read(new byte[65_536]);
          client.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
          client.shutdownOutput();
          client.setSoTimeout(LINGER_MILLIS);
          in.skip(Long.MAX_VALUE); // what is unread at the end would reset the connection
        } catch (IOException closed) {
          // the next connection, or the end
        }
      }
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  private static String reply(String status, String body) {
    return "HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
        .formatted(status, body.length(), body);
  }

  /** Repeats a request that may have been applied, but not for long. */
  private static RemoteAccess remote(URI server) {
    return remote(server, Duration.ofSeconds(2));
  }

  private static RemoteAccess remote(URI server, Duration timeout) {
    return new RemoteAccess(server, Optional.empty(), Optional.empty(), timeout);
  }

  /** Returns the failure of a call that had time for an attempt, however slow the machine is. */
  private static QuipuException failure(String answer, boolean write) throws IOException {
    QuipuException failure = failure(answer, write, Duration.ofSeconds(1));
    for (int s = 2; failure.reason() == Reason.TIMEOUT && s <= 64; s *= 2) {
      failure = failure(answer, write, Duration.ofSeconds(s));
    }
    return failure;
  }

  private static QuipuException failure(String answer, boolean write, Duration timeout)
      throws IOException {
    try (Stranger server = new Stranger(answer);
        RemoteAccess access = remote(server.uri(), timeout)) {
      return assertThrows(
          QuipuException.class,
          () -> {
            if (write) {
              access.counters().add(ADD);
            } else {
              access.counters().read("a");
            }
          });
    }
  }

  @Test
  void distinctNonAsciiIdsStayDistinct() throws Exception {
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    try (MemoryDriver driver = new MemoryDriver();
        Quipu quipu = Backends.on(driver);
        HttpServer server = HttpServer.start(options, Services.of(quipu, "test"), Clock.system());
        RemoteAccess access =
            new RemoteAccess(
                URI.create("http://127.0.0.1:" + server.address().getPort()), Optional.empty())) {
      List<String> ids = List.of("é", "ü", "ключ", "\"quoted\\", "?", "0".repeat(32));
      for (String id : ids) {
        Add add = new Add("a", 1, RequestId.of(id));
        assertTrue(access.counters().add(add) instanceof AddResult.Applied, id);
        assertTrue(access.counters().add(add) instanceof AddResult.Replayed, id);
        // The same id, sent over HTTP, locally or in bulk, is the same request.
        assertTrue(quipu.counters().add(add) instanceof AddResult.Replayed, id);
        assertTrue(
            access.counters().addAll(List.of(add)).getFirst() instanceof AddResult.Replayed, id);
        assertTrue(
            access.counters().outcome("a", RequestId.of(id)) instanceof RequestOutcome.Applied, id);
      }
      assertEquals(ids.size(), access.counters().read("a").orElseThrow().value());
    }
  }

  @ParameterizedTest
  @CsvSource({
    // A write without a response from Quipu may have been applied.
    "'', true, UNKNOWN, UNAVAILABLE",
    "'', false, NOT_APPLIED, UNAVAILABLE",
    "502 Bad Gateway, true, UNKNOWN, UNAVAILABLE",
    "504 Gateway Timeout, false, NOT_APPLIED, UNAVAILABLE",
    "500 Internal Server Error, true, UNKNOWN, UNAVAILABLE",
    "200 OK, true, UNKNOWN, UNAVAILABLE",
    "200 OK, false, NOT_APPLIED, UNAVAILABLE",
    // Rejected before anything was applied.
    "401 Unauthorized, true, NOT_APPLIED, DENIED",
    "404 Not Found, true, NOT_APPLIED, UNAVAILABLE",
    "429 Too Many Requests, true, NOT_APPLIED, THROTTLED",
  })
  void responsesOfOtherServersAreNotTrusted(
      String status, boolean write, Outcome outcome, Reason reason) throws Exception {
    String answer = status.isEmpty() ? "" : reply(status, "<html>");
    QuipuException failure = failure(answer, write);
    assertEquals(outcome, failure.outcome());
    assertEquals(reason, failure.reason());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anAttemptThatTheDeadlineEndsDoesNotHideTheReason(boolean isAdd) throws Exception {
    Reason reason = Reason.TIMEOUT;
    // On a slow machine the first attempt may take all the time.
    for (int i = 0; i < 20 && reason == Reason.TIMEOUT; i++) {
      try (Stranger server = new Stranger(reply("502 Bad Gateway", "<html>"), 1);
          RemoteAccess access = remote(server.uri(), Duration.ofSeconds(1))) {
        QuipuException failure =
            assertThrows(
                OutcomeUnknownException.class,
                () -> {
                  if (isAdd) {
                    access.counters().add(ADD);
                  } else {
                    access.holds().release(RequestId.of("one"));
                  }
                });
        reason = failure.reason();
      }
    }
    assertEquals(Reason.UNAVAILABLE, reason);
  }

  @Test
  void aStatedOutcomeIsTrusted() throws Exception {
    String unknown = "{\"detail\":\"d\",\"outcome\":\"unknown\"}";
    String notApplied = "{\"detail\":\"d\",\"outcome\":\"not-applied\"}";
    String damaged = "{\"type\":\"/problems/store-damaged\",\"outcome\":\"not-applied\"}";
    assertEquals(Outcome.UNKNOWN, failure(reply("503 X", unknown), true).outcome());
    assertEquals(Outcome.NOT_APPLIED, failure(reply("503 X", notApplied), true).outcome());
    assertEquals(Reason.FULL, failure(reply("507 X", notApplied), true).reason());
    assertEquals(Reason.CORRUPT, failure(reply("500 X", damaged), true).reason());
  }

  @Test
  void aResponseWithoutItsNumbersIsExplained() throws Exception {
    assertEquals(Outcome.UNKNOWN, failure(reply("200 OK", "{}"), true).outcome());
    QuipuException read = failure(reply("200 OK", "{}"), false);
    assertEquals(Outcome.NOT_APPLIED, read.outcome());
    String message = String.valueOf(read.getMessage());
    assertTrue(message.contains("no number value; is it a Quipu server?"), message);
  }

  @Test
  void aValueMismatchIsAResult() throws Exception {
    String mismatch = "{\"type\":\"/problems/value-mismatch\",\"status\":409,\"value\":\"4\"}";
    try (Stranger server = new Stranger(reply("409 Conflict", mismatch));
        RemoteAccess access = remote(server.uri())) {
      assertEquals(
          new SetResult.Mismatch(OptionalLong.of(4)),
          access.counters().set("a", 7, OptionalLong.of(3)));
      assertThrows(QuipuException.class, () -> access.counters().delete("a"));
    }
    String unsupported = "{\"type\":\"/problems/unsupported\",\"outcome\":\"not-applied\"}";
    try (Stranger server = new Stranger(reply("501 Not Implemented", unsupported));
        RemoteAccess access = remote(server.uri())) {
      assertThrows(
          UnsupportedOperationException.class,
          () -> access.counters().set("a", 7, OptionalLong.empty()));
      assertThrows(UnsupportedOperationException.class, () -> access.counters().delete("a"));
    }
  }

  @Test
  void aReadOfSeveralCountersMustReturnEach() throws Exception {
    String body =
        "{\"counters\":[{\"name\":\"a\",\"value\":\"1\",\"low\":\"1\",\"high\":\"1\"},{\"name\":\"b\"}]}";
    try (Stranger server = new Stranger(reply("200 OK", body));
        RemoteAccess access = remote(server.uri())) {
      assertEquals(
          List.of(Optional.of(Reading.exact(1)), Optional.empty()),
          access.counters().readAll(List.of("a", "b")));
      QuipuException failure =
          assertThrows(QuipuException.class, () -> access.counters().readAll(List.of("a")));
      assertEquals(Outcome.NOT_APPLIED, failure.outcome());
    }
  }

  @Test
  void tlsToAPortWithoutItIsExplained() throws Exception {
    try (Stranger server = new Stranger(reply("400 Bad Request", ""));
        RemoteAccess access = remote(URI.create("https://127.0.0.1:" + server.uri().getPort()))) {
      QuipuException failure = assertThrows(QuipuException.class, () -> access.counters().add(ADD));
      assertEquals(Outcome.NOT_APPLIED, failure.outcome());
      String message = String.valueOf(failure.getMessage());
      assertTrue(message.contains("use http:// instead of https://"), message);
    }
  }

  @Test
  void aBulkResponseMustHaveALineForEach() throws Exception {
    String line = "{\"status\":202,\"counted\":true}\n";
    ViewEvent event = new ViewEvent("/", Instant.EPOCH, "c");
    try (Stranger server = new Stranger(reply("200 OK", line));
        RemoteAccess access = remote(server.uri())) {
      assertEquals(1, access.addViews(List.of(event)));
      QuipuException failure =
          assertThrows(QuipuException.class, () -> access.addViews(List.of(event, event)));
      assertEquals(Outcome.UNKNOWN, failure.outcome());
    }
  }

  @Test
  void anUnknownOutcomeStaysUnknownUntilARepeatSucceeds() {
    QuipuException lost = new OutcomeUnknownException(Reason.UNAVAILABLE, "lost", null);
    QuipuException gone = new NotAppliedException(Reason.UNAVAILABLE, "gone");
    QuipuException full = new NotAppliedException(Reason.FULL, "full");
    assertEquals(Outcome.NOT_APPLIED, repeated(List.of(gone)).outcome());
    assertEquals(Outcome.UNKNOWN, repeated(List.of(lost, gone, gone, gone, gone)).outcome());
    assertEquals(Outcome.UNKNOWN, repeated(List.of(lost, full)).outcome());
    assertEquals(Outcome.UNKNOWN, repeated(List.of(lost, lost, lost, lost, lost)).outcome());

    Deque<QuipuException> failures = new ArrayDeque<>(List.of(lost, gone, lost));
    ManualClock clock = new ManualClock(0);
    assertEquals("done", new Attempts(clock).repeat(() -> next(failures)));
    long millis = clock.nanoTime() / 1_000_000; // of 100, 200 and 400 ms half to all
    assertTrue(350 <= millis && millis <= 700, () -> millis + " ms");
  }

  private static QuipuException repeated(List<QuipuException> failures) {
    Deque<QuipuException> left = new ArrayDeque<>(failures);
    QuipuException thrown =
        assertThrows(
            QuipuException.class, () -> new Attempts(new ManualClock(0)).repeat(() -> next(left)));
    assertTrue(left.isEmpty());
    return thrown;
  }

  private static String next(Deque<QuipuException> failures) {
    if (!failures.isEmpty()) {
      throw failures.removeFirst();
    }
    return "done";
  }
}
