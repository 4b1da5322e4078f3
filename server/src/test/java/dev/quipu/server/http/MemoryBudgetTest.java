package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.server.net.HostProcess;
import dev.quipu.server.net.MemoryBudget;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A server with a small memory budget for its clients, and with failing handlers. */
@SuppressWarnings("NullAway.Init") // each test starts its server
final class MemoryBudgetTest {
  private static final String BULK = "/v1/counters/bulk";
  private static final String NDJSON = "application/x-ndjson";

  private final Quipu quipu = Backends.on(new MemoryDriver());
  private final AtomicReference<Throwable> reported = new AtomicReference<>();
  private MemoryBudget budget;
  private HttpServer server;
  private static final String ADD =
      "POST /v1/counters/b/add HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
          + "Content-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"delta\":1}";

  private Client client;
  private Supplier<ViewCounter> views = () -> quipu.part(ViewCounter.class);

  private void start(long budgetBytes, int requestsMax) throws IOException {
    budget = new MemoryBudget(budgetBytes);
    Services plain = Services.of(quipu, "memory:");
    Services services =
        new Services(
            quipu,
            () -> views.get(),
            plain.queue(),
            plain.display(),
            plain.presence(),
            "memory:",
            () -> "none",
            Optional.empty(),
            Optional.empty());
    HttpOptions options =
        HttpOptions.defaults()
            .at("127.0.0.1", 0, Optional.empty(), false)
            .withRequestsMax(requestsMax)
            .within(
                1_000,
                Duration.ofSeconds(1),
                Duration.ofSeconds(1),
                Duration.ofSeconds(60),
                Duration.ofSeconds(15));
    HostProcess host = new HostProcess(budget, reported::set, Optional::empty, Map.of(), List.of());
    server = HttpServer.start(options, Optional.empty(), services, host, Clock.system());
    client = new Client(server.address());
  }

  @AfterEach
  void everythingReservedIsReturned() throws Exception {
    for (int i = 0; i < 1_000 && budget.usedBytes() != 0; i++) {
      Thread.sleep(10);
    }
    long left = budget.usedBytes();
    server.close();
    quipu.close();
    assertEquals(0, left);
  }

  private static String lines(int count) {
    return "{\"name\":\"a\",\"delta\":1}\n".repeat(count);
  }

  @Test
  void aBulkAboveTheBudgetIsRejectedAndNotApplied() throws Exception {
    start(1 << 20, 100);
    Client.Reply reply = client.postAs(BULK, NDJSON, lines(10_000));
    assertEquals(507, reply.status(), reply.body());
    assertEquals("/problems/memory-full", reply.text("type"));
    assertEquals("not-applied", reply.text("outcome"));
    assertEquals(Optional.of("1"), reply.headers().firstValue("Retry-After"));
    assertEquals(404, client.get("/v1/counters/a").status());
    String large = "{\"name\":\"a\",\"delta\":1" + " ".repeat(40_000) + "}\n";
    assertEquals(507, client.postAs(BULK, NDJSON, large.repeat(50)).status());
    assertEquals(200, client.postAs(BULK, NDJSON, lines(100)).status());
    assertEquals(200, client.get("/problems/memory-full").status());
  }

  @Test
  void ofManyConcurrentBulksThatEachFitSomeAreServed() throws Exception {
    start(20 << 20, 100);
    String body = ("{\"name\":\"a\",\"delta\":1" + " ".repeat(600) + "}\n").repeat(9_000);
    List<CompletableFuture<Client.Reply>> bulks = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      bulks.add(CompletableFuture.supplyAsync(() -> client.postAs(BULK, NDJSON, body)));
    }
    long served = bulks.stream().filter(each -> each.join().status() == 200).count();
    assertTrue(bulks.stream().allMatch(each -> List.of(200, 507).contains(each.join().status())));
    assertTrue(served > 0, "none was served");
    assertEquals(Long.toString(9_000 * served), client.get("/v1/counters/a").text("value"));
  }

  @Test
  void smallAddsContinueWhenTheBudgetIsUsedUp() throws Exception {
    start(1 << 20, 100);
    assertTrue(budget.tryReserve(budget.limitBytes()));
    assertEquals(507, client.get("/v1/counters?limit=10").status());
    for (int i = 0; i < 20; i++) {
      assertEquals(200, client.add("a", "{\"delta\":1}").status());
    }
    assertEquals("20", client.get("/v1/counters/a").text("value"));
    budget.release(budget.limitBytes());
  }

  /** A client sends requests, and reads none of the small replies. */
  @Test
  void aSmallReplyThatIsNotReadIsReservedAfterASecond() throws Exception {
    start(1 << 20, 100);
    byte[] requests =
        "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
            .repeat(1_000)
            .getBytes(StandardCharsets.US_ASCII);
    try (Socket socket = client.connect()) {
      CompletableFuture<Void> sending =
          CompletableFuture.runAsync(() -> {
            try {
              while (true) {
                socket.getOutputStream().write(requests);
              }
            } catch (IOException e) { // the server has closed the connection
              return;
            }
          });
      Progress.await("reserved", () -> budget.usedBytes() > Connection.RECEIVE_BYTES_MAX);
      sending.join(); // until the client was late
    }
  }

  @Test
  void aHeaderIsReservedUntilItsBodyIsComplete() throws Exception {
    start(1 << 20, 100);
    String head =
        "POST /v1/counters/a/add?%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000\r\n"
            .formatted("q".repeat(8_000));
    String fields = "field: %s\r\n".formatted("v".repeat(100)).repeat(90);
    List<Socket> waiting = new ArrayList<>();
    while (budget.usedBytes() < 100_000 && waiting.size() < 500) { // each waits for a second
      waiting.add(client.connect());
      waiting
          .getLast()
          .getOutputStream()
          .write((head + fields + "\r\n").getBytes(StandardCharsets.US_ASCII));
    }
    assertTrue(waiting.size() < 500, "nothing was counted");
    assertTrue(budget.usedBytes() <= budget.limitBytes());
    assertEquals(200, client.add("a", "{\"delta\":1}").status());
    for (Socket each : waiting) {
      each.close();
    }
  }

  @Test
  void aClientThatExpects100ContinueIsRejectedBeforeItSends() throws Exception {
    start(1 << 20, 100);
    String head =
        "POST /v1/counters/bulk HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
            + "Content-Length: 5000000\r\nExpect: 100-continue\r\n\r\n";
    try (Socket socket = client.connect()) {
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      assertTrue(Client.read(socket).startsWith("HTTP/1.1 507 "));
    }
  }

  @Test
  void incompleteRequestsHoldNoMoreThanTheBudgetAndTimeOut() throws Exception {
    start(100 << 10, 100);
    List<Socket> half = new ArrayList<>();
    String head = "POST /v1/counters/a/add HTTP/1.1\r\nHost: localhost\r\n";
    String body = head + "Content-Type: application/json\r\nContent-Length: 4000\r\n\r\n{";
    for (int i = 0; i < 100; i++) {
      half.add(client.connect());
      String begun = i % 2 == 0 ? head : body;
      half.getLast().getOutputStream().write(begun.getBytes(StandardCharsets.US_ASCII));
      assertTrue(budget.usedBytes() <= budget.limitBytes());
      // On a connection of its own: the server closes one that it kept for a second.
      assertTrue(client.raw(ADD).startsWith("HTTP/1.1 200 "));
    }
    // Bytes that trickle in do not extend the deadline.
    for (Socket each : half) {
      trickle(each);
    }
    assertEquals("100", client.get("/v1/counters/b").text("value"));
    assertEquals(404, client.get("/v1/counters/a").status());
  }

  private static void trickle(Socket socket) throws InterruptedException {
    try (socket) {
      for (int i = 0; i < 300; i++) {
        socket.getOutputStream().write('x');
        Thread.sleep(20);
      }
    } catch (IOException closed) {
      return;
    }
    throw new AssertionError("the connection was not closed within 6 s, with a limit of 1 s");
  }

  @Test
  void requestsAboveTheLimitAreRejectedAtOnce() throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch leave = new CountDownLatch(1);
    views =
        () -> {
          entered.countDown();
          await(leave);
          return quipu.part(ViewCounter.class);
        };
    start(1 << 20, 1);
    CompletableFuture<Client.Reply> first =
        CompletableFuture.supplyAsync(() -> client.get("/v1/views?url=/x"));
    await(entered);
    Client.Reply second = client.add("a", "{\"delta\":1}");
    assertEquals(503, second.status());
    assertEquals("/problems/overloaded", second.text("type"));
    assertEquals("not-applied", second.text("outcome"));
    assertEquals(Optional.of("1"), second.headers().firstValue("Retry-After"));
    leave.countDown();
    assertEquals(404, first.join().status());
    assertEquals(200, client.add("a", "{\"delta\":1}").status());
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void anOutOfMemoryErrorInAHandlerIsReportedAndHasAResponse() throws Exception {
    views =
        () -> {
          throw new OutOfMemoryError("on purpose");
        };
    start(1 << 20, 100);
    Client.Reply reply = client.get("/v1/views?url=/x");
    assertEquals(503, reply.status());
    assertEquals("unknown", reply.text("outcome"));
    assertTrue(String.valueOf(reported.get()).contains("on purpose"));
  }

  @Test
  void theResponseToAHandlerExceptionHasTheErrorIdOfTheLog() throws Exception {
    views =
        () -> {
          throw new IllegalStateException("a secret of the payload");
        };
    start(1 << 20, 100);
    Client.Reply reply = client.get("/v1/views?url=/x");
    assertEquals(500, reply.status());
    assertEquals("Internal Server Error", reply.text("title"));
    assertTrue(
        reply.text("detail").matches("see the server log, error id [0-9a-f]{16}"), reply.body());
    assertFalse(reply.body().contains("secret"), reply.body());
    assertEquals(null, reported.get());
  }

  @Test
  void aRequestWithTooManyHeadersIsRejected() throws Exception {
    start(1 << 20, 100);
    String answer =
        client.raw("GET /livez HTTP/1.1\r\nHost: localhost\r\n" + "a: b\r\n".repeat(200) + "\r\n");
    assertTrue(answer.startsWith("HTTP/1.1 431 "), answer);
  }
}
