package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.cli.access.RemoteAccess;
import dev.quipu.server.http.route.Services;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewAggregates;
import dev.quipu.view.ViewAggregates.Aggregate;
import dev.quipu.view.ViewAggregates.StoredView;
import java.net.URI;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Aggregates over HTTP, and as the command line reads them. */
final class AggregatesTest {
  private static final LocalDate DAY = LocalDate.parse("2026-11-24");

  @Test
  void viewsSumAndAverageAreReadByPageSiteAndDay() throws Exception {
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    try (Quipu quipu = Backends.on(new MemoryDriver());
        HttpServer server =
            HttpServer.start(options, Services.of(quipu, "memory:"), Clock.system());
        RemoteAccess access =
            new RemoteAccess(
                URI.create("http://127.0.0.1:" + server.address().getPort()), Optional.empty())) {
      quipu
          .part(ViewAggregates.class)
          .add(
              List.of(
                  new StoredView("1", "a.example/x", DAY, Optional.of(10L)),
                  new StoredView("2", "a.example/x", DAY, Optional.of(5L)),
                  new StoredView("3", "a.example/y", DAY.plusDays(1), Optional.empty())));
      Client client = new Client(server.address());
      assertEquals(
          "{\"url\":\"a.example/x\",\"views\":\"2\",\"values\":\"2\",\"sum\":\"15\",\"average\":7.5}",
          client.get("/v1/views/aggregates?url=a.example/x").body());
      assertEquals(
          "{\"site\":\"a.example\",\"day\":\"2026-11-25\",\"views\":\"1\",\"values\":\"0\",\"sum\":\"0\"}",
          client.get("/v1/views/aggregates?site=a.example&day=2026-11-25").body());
      for (String wrong : List.of("", "?site=a.example&day=today", "?url=a&day=2026-11-25")) {
        assertEquals(400, client.get("/v1/views/aggregates" + wrong).status(), wrong);
      }
      assertEquals(404, client.get("/v1/views/aggregates?url=b").status());
      assertEquals(Optional.of(new Aggregate(2, 2, 15)), access.aggregate("a.example/x"));
      assertEquals(
          Optional.of(new Aggregate(3, 2, 15)), access.aggregate("a.example", Optional.empty()));
      assertEquals(
          Optional.of(new Aggregate(2, 2, 15)), access.aggregate("a.example", Optional.of(DAY)));
      assertTrue(access.aggregate("b").isEmpty());
    }
  }
}
