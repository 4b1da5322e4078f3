package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.layer.ForwardingDriver;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A bulk has a result for each line, though the store does not respond to some in time. */
final class BulkTimeTest {
  private final CountDownLatch never = new CountDownLatch(1);
  private final MemoryDriver memory = new MemoryDriver();

  /** A store that does not respond to writes of some keys. */
  private final class Stuck extends ForwardingDriver {
    @Override
    protected StoreDriver driver() {
      return memory;
    }

    private void hold(Key key) {
      if (key.partition().contains("stuck")) {
        try {
          never.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }

    @Override
    public WriteResult write(Write write) {
      hold(write.key());
      return super.write(write);
    }

    @Override
    public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
      writes.forEach(write -> hold(write.key()));
      return super.writeAll(writes, token);
    }
  }

  @Test
  void whatTheStoreDoesNotAnswerInTimeIsUnknownAndTheOthersAreApplied() throws Exception {
    HttpOptions options =
        HttpOptions.defaults()
            .at("127.0.0.1", 0, Optional.empty(), false)
            .within(
                10,
                Duration.ofSeconds(60),
                Duration.ofSeconds(60),
                Duration.ofSeconds(60),
                Duration.ofSeconds(5));
    Quipu quipu = Backends.on(new Stuck());
    try (HttpServer server =
        HttpServer.start(options, Services.of(quipu, "test"), Clock.system())) {
      Client client = new Client(server.address());
      String adds = "";
      StringBuilder views = new StringBuilder();
      int together = new ViewCounter(quipu.part(Store.class)).togetherMax();
      for (String name : List.of("a", "stuck", "b")) {
        adds += "{\"name\":\"%s\",\"delta\":1}\n".formatted(name);
        for (int i = 0; i < together; i++) { // a transaction
          views.append(
              "{\"url\":\"http://%s/\",\"time\":\"2026-01-01T00:00:00Z\",\"clientId\":\"%d\"}\n"
                  .formatted(name, i));
        }
      }
      expect(client.postAs("/v1/counters/bulk", "application/x-ndjson", adds), 200, 1);
      expect(
          client.postAs("/v1/views/bulk", "application/x-ndjson", views.toString()), 202, together);
      never.countDown();
    }
  }

  /** Expects three groups of lines, of which the second is unknown. */
  private static void expect(Client.Reply reply, int status, int together) {
    assertEquals(200, reply.status(), reply.body());
    List<JsonNode> lines =
        reply.body().lines().map(JsonMapper.builder().build()::readTree).toList();
    assertEquals(3 * together, lines.size());
    for (int i = 0; i < lines.size(); i++) {
      boolean isStuck = i / together == 1;
      JsonNode line = lines.get(i);
      assertEquals(isStuck ? 503 : status, line.path("status").asInt(), "line " + i);
      assertEquals(isStuck ? "unknown" : "", line.path("outcome").asString(""), "line " + i);
    }
  }
}
