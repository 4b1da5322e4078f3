package dev.quipu.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Counters;
import dev.quipu.ItemResult;
import dev.quipu.Quipu;
import dev.quipu.RequestId;
import dev.quipu.testservers.PostgresServer;
import dev.quipu.testservers.RedisServer;
import io.micrometer.core.instrument.search.MeterNotFoundException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The meters of drivers on real stores. */
final class DriverMetersTest {
  private static final String NAME = "secret-name";
  private static final int CALLERS = 40;
  private static final int ADDS = 5;

  private final Meters meters = new Meters();

  @Test
  void poolAndFoldingOfPostgresAreMeasured() throws Exception {
    try (PostgresServer server = PostgresServer.start();
        Quipu quipu =
            Quipu.builder()
                .store(
                    "postgresql://postgres@127.0.0.1:%d/postgres?connections=4"
                        .formatted(server.port()))
                .build()) {
      new QuipuMetrics(quipu).bindTo(meters.registry);
      assertEquals(4, meters.gauge("quipu.store.connections.max", "store", "postgresql"));
      addConcurrently(quipu.counters());
      long adds = meters.count("quipu.store.folded.adds");
      long writes = meters.count("quipu.store.folded.writes");
      assertTrue(adds >= CALLERS * ADDS && writes > 0 && writes < adds, adds + " in " + writes);
      assertEquals(0, meters.gauge("quipu.store.connections", "state", "in_use"));
      assertTrue(meters.gauge("quipu.store.connections", "state", "idle") >= 1);
      assertEquals(0, meters.gauge("quipu.store.waiting"));
      meters.requireNoTag(NAME);
    }
  }

  private static void addConcurrently(Counters counters) throws Exception {
    CountDownLatch begin = new CountDownLatch(1);
    List<Future<List<ItemResult>>> results = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < CALLERS; i++) {
        List<Add> adds = new ArrayList<>();
        for (int j = 0; j < ADDS; j++) {
          adds.add(new Add(NAME, 1, RequestId.of(i + "/" + j)));
        }
        results.add(
            threads.submit(() -> {
              begin.await();
              return counters.addAll(adds);
            }));
      }
      begin.countDown();
      for (Future<List<ItemResult>> each : results) {
        for (ItemResult result : each.get()) {
          assertTrue(result.result().isApplied());
        }
      }
    }
    assertEquals(CALLERS * ADDS, counters.read(NAME).orElseThrow().value());
  }

  /** The driver has one connection for all calls. */
  @Test
  void redisIsMeasuredWithoutAPool() {
    try (RedisServer server = RedisServer.startDurable();
        Quipu quipu = Quipu.builder().store("redis://127.0.0.1:" + server.port()).build()) {
      new QuipuMetrics(quipu).bindTo(meters.registry);
      RequestId id = RequestId.of("1");
      assertTrue(quipu.counters().add(new Add(NAME, 1, id)).isApplied());
      assertTrue(quipu.counters().add(new Add(NAME, 1, id)).isApplied());
      assertEquals(1, meters.count("quipu.adds", "store", "redis", "outcome", "applied"));
      assertEquals(1, meters.count("quipu.adds", "store", "redis", "outcome", "replayed"));
      assertTrue(
          meters.count("quipu.store.calls", "operation", "write", "outcome", "success") >= 1);
      assertThrows(MeterNotFoundException.class, () -> meters.gauge("quipu.store.waiting"));
      assertTrue(meters.count("quipu.store.folded.adds") >= 2);
      meters.requireNoTag(NAME);
    }
  }
}
