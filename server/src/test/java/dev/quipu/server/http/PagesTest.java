package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.ingest.StoredQueue;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.simulation.driver.Fault;
import dev.quipu.simulation.driver.FaultingDriver;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewOptions;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what pages embed and send: views through a queue, badges, the script, and origins. */
final class PagesTest {
  private static final String VIEW =
      """
      {"url":"https://blog.example/a","time":"2022-03-28T13:17:23+00:00","clientId":"%s"}\
      """;
  private static final HttpOptions OPTIONS =
      HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);

  @TempDir Path directory;

  @SuppressWarnings("NullAway.Init") // JUnit sets the directory
  PagesTest() {}

  /** A test on a server. */
  private interface Questions {
    void ask(Client client) throws Exception;
  }

  private void serve(HttpOptions options, Services services, Questions questions) throws Exception {
    try (HttpServer server = HttpServer.start(options, services, Clock.system())) {
      questions.ask(new Client(server.address()));
    }
  }

  private void serve(HttpOptions options, Questions questions) throws Exception {
    try (Quipu quipu = Quipu.builder().directory(directory).build()) {
      serve(options, Services.of(quipu, "test"), questions);
    }
  }

  @Test
  void theViewsOfAPeriodAreReturnedInPages() throws Exception {
    serve(
        OPTIONS,
        client -> {
          for (int i = 0; i < 4; i++) {
            String time = "2022-03-28T13:17:0" + i + "+02:00";
            String view =
                "{\"url\":\"/a\",\"time\":\"" + time + "\",\"clientId\":\"c\",\"value\":7}";
            assertEquals(202, client.post("/v1/views", view).status());
          }
          String path =
              "/v1/views/events?url=/a&from=2022-03-28T11:17:01Z&until=2022-03-28T11:17:04Z&limit=2";
          Client.Reply first = client.get(path);
          assertTrue(
              first
                  .body()
                  .startsWith(
                      "{\"events\":[{\"url\":\"/a\",\"identity\":\"2022-03-28T11:17:01.000000000Z#CID#c\","
                          + "\"time\":\"2022-03-28T11:17:01Z\",\"clientId\":\"c\",\"value\":\"7\"},"),
              first.body());
          assertFalse(first.body().contains("11:17:03"), first.body());
          Client.Reply next = client.get(path + "&cursor=" + first.text("cursor"));
          assertTrue(next.body().contains("\"time\":\"2022-03-28T11:17:03Z\""), next.body());
          assertFalse(next.body().contains("cursor"), next.body());
          assertEquals("{\"events\":[]}", client.get("/v1/views/events?url=/b").body());
          for (String wrong : List.of("&limit=0", "&limit=1001", "&limit=x", "&cursor=eA", "&x=")) {
            assertEquals(400, client.get("/v1/views/events?url=/a" + wrong).status(), wrong);
          }
          for (String route : List.of("/v1/views", "/v1/views/events")) {
            Client.Reply reply =
                client.get(route + "?url=/a&from=2022-03-29T00:00:00Z&until=2022-03-28T00:00:00Z");
            assertEquals(400, reply.status());
            assertTrue(
                reply
                    .body()
                    .contains(
                        "from is 2022-03-29T00:00:00Z, which is after until, 2022-03-28T00:00:00Z"),
                reply.body());
          }
        });
  }

  @Test
  void aBadgeCountsItsHitsAndForbidsCaching() throws Exception {
    serve(
        OPTIONS,
        client -> {
          Client.Reply first = client.get("/hit/my/repo.svg");
          assertEquals(200, first.status());
          assertTrue(first.body().contains(">1</text>"), first.body());
          assertEquals(
              "image/svg+xml; charset=utf-8", first.headers().firstValue("Content-Type").get());
          String cached = first.headers().firstValue("Cache-Control").get();
          assertTrue(cached.contains("no-store") && cached.contains("max-age=0"), cached);
          assertFalse(first.headers().firstValue("ETag").isPresent());
          client.send(
              client
                  .request("/hit/my/repo.svg")
                  .method("HEAD", HttpRequest.BodyPublishers.noBody()));
          assertTrue(client.get("/hit/my/repo.svg").body().contains(">2</text>"));
          Client.Reply shield = client.get("/hit/my/repo.json?label=views");
          assertEquals(
              "{\"schemaVersion\":1,\"label\":\"views\",\"message\":\"2\",\"color\":\"blue\"}",
              shield.body());
          assertEquals("2", client.get("/hit/my/repo.json").text("message"), "it counts nothing");
          assertEquals("0", client.get("/hit/never.json").text("message"));
          assertEquals("2", client.get("/v1/counters/hit/my/repo").text("value"));
        });
  }

  @Test
  void theLabelOfABadgeIsEscapedAndLimited() throws Exception {
    serve(
        OPTIONS,
        client -> {
          String svg = client.get("/hit/a.svg?label=%3Cscript%3E%22%26%00").body();
          assertTrue(svg.contains("&lt;script&gt;&quot;&amp;</text>"), svg);
          assertFalse(svg.contains("<script"), svg);
          assertEquals(400, client.get("/hit/a.svg?label=" + "x".repeat(65)).status());
          assertEquals(400, client.get("/hit/a.svg?colour=red").status());
          assertEquals(400, client.get("/hit/" + "x".repeat(513) + ".svg").status());
        });
  }

  @Test
  void theScriptIsServed() throws Exception {
    serve(
        OPTIONS,
        client -> {
          Client.Reply script = client.get("/views.js");
          assertEquals(200, script.status());
          assertTrue(
              script.headers().firstValue("Content-Type").get().startsWith("text/javascript"));
        });
  }

  @Test
  void pagesOfAllowedOriginsMaySendViewsAndNothingElse() throws Exception {
    HttpOptions options =
        OPTIONS
            .at("127.0.0.1", 0, Optional.of("a-token-of-some-length"), false)
            .forPagesOf(Set.of("https://blog.example"));
    String[] known = {"Origin", "https://blog.example"};
    String[] other = {"Origin", "https://evil.example"};
    serve(
        options,
        client -> {
          Client.Reply sent = client.post("/v1/views", VIEW.formatted("a"), known);
          assertEquals(202, sent.status());
          assertEquals(
              "https://blog.example",
              sent.headers().firstValue("Access-Control-Allow-Origin").get());
          assertEquals("Origin", sent.headers().firstValue("Vary").get());
          Client.Reply rejected = client.post("/v1/views", "x".repeat(2 << 20), known);
          assertEquals(413, rejected.status()); // before the body is read
          assertEquals(
              "https://blog.example",
              rejected.headers().firstValue("Access-Control-Allow-Origin").get());
          assertEquals(
              "Retry-After", rejected.headers().firstValue("Access-Control-Expose-Headers").get());
          assertEquals(403, client.post("/v1/views", VIEW.formatted("b"), other).status());
          assertEquals(401, client.post("/v1/counters/a/add", "{\"delta\":1}", known).status());
          assertEquals(200, client.get("/hit/a.svg").status());
          assertEquals(401, client.get("/v1/views?url=a").status());
          Client.Reply asked = options(client, "/v1/views", known);
          assertEquals(204, asked.status());
          assertTrue(
              asked.headers().firstValue("Access-Control-Allow-Methods").get().contains("POST"));
          assertEquals(
              "Content-Type", asked.headers().firstValue("Access-Control-Allow-Headers").get());
          assertTrue(
              options(client, "/v1/views", other)
                  .headers()
                  .firstValue("Access-Control-Allow-Origin")
                  .isEmpty());
          assertTrue(
              options(client, "/v1/counters/a/add", known)
                  .headers()
                  .firstValue("Access-Control-Allow-Origin")
                  .isEmpty());
        });
  }

  private static Client.Reply options(Client client, String path, String... headers) {
    return client.send(
        client
            .request(path)
            .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
            .headers(headers));
  }

  @Test
  void viewsAreCountedForTheirSiteAndDayIfConfigured() throws Exception {
    try (Quipu quipu = Quipu.builder().directory(directory).build()) {
      ViewCounter views =
          new ViewCounter(
              quipu.part(Store.class),
              ViewOptions.EXACT.counting(ViewOptions.Counted.SITE, ViewOptions.Counted.DAY));
      serve(
          OPTIONS,
          Services.of(quipu, "test").counting(views, Optional.empty()),
          client -> {
            for (String name : List.of("a", "b", "a")) {
              assertEquals(202, client.post("/v1/views", VIEW.formatted(name)).status());
            }
            assertEquals("2", client.get("/v1/views?site=blog.example").text("value"));
            Client.Reply day = client.get("/v1/views?site=blog.example&day=2022-03-28");
            assertEquals("2", day.text("value"));
            assertEquals(404, client.get("/v1/views?site=blog.example&day=2022-03-29").status());
            assertEquals(400, client.get("/v1/views?site=blog.example&day=today").status());
            assertEquals(400, client.get("/v1/views?site=a&url=b").status());
            assertEquals(400, client.get("/v1/views").status());
          });
    }
  }

  @Test
  void aQueueAcceptsViewsWhileTheStoreIsUnreachableAndEachCountsOnce() throws Exception {
    FaultingDriver away =
        new FaultingDriver(
            new MemoryDriver(),
            Randomness.seeded(1),
            1,
            List.of(Fault.THROTTLED, Fault.LOST_REQUEST, Fault.LOST_REPLY),
            () -> {});
    RetryPolicy once =
        new RetryPolicy(1, Duration.ofNanos(1), Duration.ofNanos(2), Duration.ofDays(1));
    ViewCounter views =
        new ViewCounter(new Store(away, Clock.system(), Randomness.seeded(2), once));
    try (Quipu quipu = Quipu.builder().directory(directory).build();
        StoredQueue queue = new StoredQueue(quipu.part(Store.class), views, () -> {})) {
      serve(
          OPTIONS,
          Services.of(quipu, "test").counting(views, Optional.of(queue)),
          client -> {
            for (int i = 0; i < 300; i++) {
              String body = VIEW.formatted("client " + i % 250);
              assertEquals(202, client.post("/v1/views", body).status());
            }
            away.heal();
            String page = "/v1/views?url=https://blog.example/a";
            Progress.await("250 views", () -> client.get(page).text("value").equals("250"));
          });
    }
  }
}
