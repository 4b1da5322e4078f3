package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpExchange;
import dev.quipu.Quipu;
import dev.quipu.server.http.route.Services;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.HttpProtocol;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.Tool;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests {@code views.js} in Chromium, on pages of another origin than the server, through a proxy
 * that drops requests and replies.
 */
final class BrowserTest {
  private static final Duration DELAY = Duration.ofSeconds(1); // of a fault that is not used

  /** Leaves the page after the first attempt has failed, before the next one. */
  private static final String LEAVING =
      """
      <script>
        const original = window.fetch;
        window.fetch = (...request) => {
          const reply = original(...request);
          reply.catch(() => setTimeout(() => { location = '/next'; }));
          return reply;
        };
      </script>
      """;

  @TempDir Path directory;
  private final Set<String> opened = ConcurrentHashMap.newKeySet(); // pages
  private String program = "";

  @SuppressWarnings("NullAway.Init") // JUnit sets the directory
  BrowserTest() {}

  @BeforeEach
  void find() {
    Optional<String> chromium = Tool.find("chromium");
    assumeTrue(chromium.isPresent(), "no chromium on this machine: ./dev deps installs it");
    program = chromium.orElseThrow();
  }

  /** What a page checks. */
  private interface Checks {
    void run(Visit visit) throws Exception;
  }

  /** An open browser, and the server that counts. */
  private record Visit(Chromium browser, Client client, Queue<String> sent) {
    String views(String path) {
      Client.Reply reply = client.get("/v1/views?url=" + Chromium.SITE + path);
      return reply.status() == 404 ? "0" : reply.text("value");
    }

    /** Returns how many events the server has counted or recognized as repeats. */
    long accepted() {
      return client
          .get("/metrics")
          .body()
          .lines()
          .filter(line -> line.startsWith("quipu_http_requests_seconds_count"))
          .filter(line -> line.contains("\"/v1/views\"") && line.contains("\"202\""))
          .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' '))))
          .sum();
    }

    void await(String what, Progress.Condition condition) throws Exception {
      Progress.await(
          what,
          () -> {
            browser.check();
            return condition.holds();
          });
    }
  }

  /**
   * Opens a page.
   *
   * @param pages head by path; {@code SERVER} is replaced by the address of the proxy
   * @param errors how many events the server answers with 503
   * @param faults of the events posted after them
   */
  private void visit(
      String path, Map<String, String> pages, int errors, FaultPlan faults, Checks checks)
      throws Exception {
    HttpOptions options =
        HttpOptions.defaults()
            .at("127.0.0.1", 0, Optional.empty(), false)
            .forPagesOf(Set.of("http://" + Chromium.SITE));
    FailingViews views = new FailingViews(errors);
    Queue<String> sent = new ConcurrentLinkedQueue<>();
    try (Quipu quipu = Quipu.builder().directory(directory.resolve("data")).build();
        HttpServer server =
            HttpServer.start(
                options,
                Services.of(quipu, "test").counting(views.counter(), Optional.empty()),
                Clock.system());
        FaultProxy proxy =
            FaultProxy.start(new HttpProtocol(), server.address().getPort(), DELAY, write -> 1)) {
      proxy.use(request -> {
        if (request.kind() != Protocol.Kind.WRITE) {
          return Optional.empty();
        }
        sent.add(new String(request.written(), StandardCharsets.UTF_8));
        return sent.size() <= errors ? Optional.empty() : faults.next(request);
      });
      String address = "http://127.0.0.1:" + proxy.port();
      com.sun.net.httpserver.HttpServer site = site(pages, address);
      try (Chromium browser =
          Chromium.open(program, directory, site.getAddress().getPort(), path)) {
        checks.run(new Visit(browser, new Client(server.address()), sent));
      } finally {
        site.stop(0);
      }
    }
  }

  /** Serves pages, and a copy of the script, from another origin than the server that counts. */
  private com.sun.net.httpserver.HttpServer site(Map<String, String> pages, String server)
      throws IOException {
    com.sun.net.httpserver.HttpServer site =
        com.sun.net.httpserver.HttpServer.create(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    site.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    site.createContext(
        "/",
        exchange -> {
          String path = exchange.getRequestURI().getPath();
          String head = pages.get(path);
          opened.add(path);
          if (head == null) {
            reply(exchange, 404, "text/plain", "");
          } else if (path.endsWith(".js")) {
            reply(exchange, 200, "text/javascript", head);
          } else {
            String page = "<!doctype html><title>A page</title>" + head.replace("SERVER", server);
            reply(exchange, 200, "text/html", page);
          }
        });
    site.start();
    return site;
  }

  private static void reply(HttpExchange exchange, int status, String type, String text)
      throws IOException {
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type + "; charset=utf-8");
    exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private static String script(String wait) {
    return "<script src=\"SERVER/views.js\" data-wait=\"" + wait + "\" async></script>";
  }

  private static String source() throws IOException {
    try (var file = Services.class.getResourceAsStream("views.js")) {
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void aViewIsRetriedAfterAnErrorAndLostMessagesAndCountsOnce() throws Exception {
    visit(
        "/article",
        Map.of("/article", script("0.2")),
        1,
        FaultPlan.of(WireFault.CONNECTION_RESET, WireFault.REPLY_DROPPED),
        visit -> {
          visit.await("a repeat", () -> visit.accepted() >= 2);
          assertEquals("1", visit.views("/article"));
          assertEquals(1, Set.copyOf(visit.sent).size(), () -> "events: " + visit.sent);
          assertTrue(visit.sent.size() >= 4, () -> "a 503, two faults, a repeat: " + visit.sent);
        });
  }

  /** The test above would fail if a retry were another event. */
  @Test
  void aScriptWhoseRetriesAreOtherEventsIsDetected() throws Exception {
    String defective = source().replace("body: event", "body: event.replace('Z', attempts + 'Z')");
    String element =
        "<script src=\"/copy.js\" data-origin=\"SERVER\" data-wait=\"0.2\" async></script>";
    visit(
        "/article",
        Map.of("/article", element, "/copy.js", defective),
        0,
        FaultPlan.of(
            WireFault.REPLY_DROPPED, WireFault.REPLY_DROPPED), // one may be retried by Chromium
        visit -> {
          visit.await("a retry", () -> visit.accepted() >= 3);
          assertNotEquals("1", visit.views("/article"));
        });
  }

  @Test
  void aViewThatWaitsForARetryIsSentWhenThePageIsLeft() throws Exception {
    visit(
        "/article",
        Map.of("/article", LEAVING + script("0.2"), "/next", script("0.2")),
        0,
        request ->
            opened.contains("/next") ? Optional.empty() : Optional.of(WireFault.CONNECTION_RESET),
        visit -> {
          visit.await("the next page", () -> visit.views("/next").equals("1"));
          visit.await("the page that was left", () -> visit.views("/article").equals("1"));
          assertEquals(2, Set.copyOf(visit.sent).size(), () -> "events: " + visit.sent);
        });
  }

  @Test
  void aPageThatIsLeftAtOnceIsNotAView() throws Exception {
    String leaving = "<script>onload = () => setTimeout(() => { location = '/next'; });</script>";
    visit(
        "/article",
        Map.of("/article", script("3600") + leaving, "/next", script("0.2")),
        0,
        FaultPlan.none(),
        visit -> {
          visit.await("the next page", () -> visit.views("/next").equals("1"));
          assertEquals("0", visit.views("/article"));
        });
  }
}
