package dev.quipu.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.HoldRequest;
import dev.quipu.Quipu;
import dev.quipu.RequestId;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.presence.Presence;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each meter of an engine moves when the engine does what it measures. */
final class EngineMetersTest {
  private static final String NAME = "secret-name";
  private static final int IDS_IN_MEMORY = 16;

  @TempDir private Path directory;
  private final Meters meters = new Meters();
  private Engine engine;
  private Quipu quipu;

  @BeforeEach
  void open() {
    engine = Engine.open(directory, EngineOptions.defaults().withIdsInMemoryMax(IDS_IN_MEMORY));
    quipu = Backends.on(engine);
    new QuipuMetrics(quipu).bindTo(meters.registry);
  }

  @AfterEach
  void close() {
    quipu.close();
  }

  private long adds(String outcome) {
    return meters.count("quipu.adds", "technique", "engine", "outcome", outcome);
  }

  private void add(int adds) {
    List<Add> all = new ArrayList<>();
    for (int i = 0; i < adds; i++) {
      all.add(new Add(NAME, 1, RequestId.of("id" + i)));
    }
    assertEquals(adds, quipu.counters().addAll(all).size());
  }

  @Test
  void theEngineCountsTheResultsOfAllPorts() {
    add(3);
    add(3);
    RequestId id = RequestId.of("other");
    StringBuilder rejected = new StringBuilder();
    for (Add each :
        List.of(
            new Add(NAME, 1, Bounds.atMost(0), id),
            new Add(NAME, -9, Bounds.atLeast(0), id),
            new Add(NAME, Long.MAX_VALUE, Bounds.none(), id),
            new Add(NAME, 7, RequestId.of("id1")))) {
      rejected.append(quipu.counters().add(each));
    }
    rejected.append(quipu.counters().cancel(NAME, id));
    rejected.append(engine.add(new Add(NAME, 1, id))); // not through the Quipu
    assertTrue(rejected.toString().contains("CANCELED"), rejected.toString());
    assertEquals(3, adds("applied"));
    assertEquals(3, adds("replayed"));
    for (String each :
        List.of(
            "conflict",
            "rejected_ceiling",
            "rejected_floor",
            "rejected_overflow",
            "rejected_canceled")) {
      assertEquals(1, adds(each), each);
    }
    assertEquals(2, meters.count("quipu.calls", "call", "add_all"));
    meters.requireNoTag(NAME);
  }

  @Test
  void commitsAndTheirSyncsAreMeasured() {
    add(10);
    assertEquals(1, meters.count("quipu.engine.commits"));
    assertEquals(1, meters.count("quipu.engine.syncs"));
    assertEquals(10, meters.registry.get("quipu.engine.commit.size").summary().totalAmount());
    double written = meters.count("quipu.engine.log.written");
    assertTrue(written > 10 * 20, "bytes: " + written);
    assertEquals(written, meters.gauge("quipu.engine.log.replay"));
    assertTrue(meters.gauge("quipu.engine.log.size") >= written);
  }

  @Test
  void checkpointsAndSealsAreMeasured() {
    add(2 * IDS_IN_MEMORY);
    assertEquals(2 * IDS_IN_MEMORY, meters.gauge("quipu.engine.ids"));
    assertEquals(0, meters.gauge("quipu.engine.snapshot.size"));
    engine.checkpoint();
    assertEquals(1, meters.count("quipu.engine.checkpoints"));
    assertTrue(meters.count("quipu.engine.seals") >= 1);
    assertTrue(meters.gauge("quipu.engine.snapshot.size") > 0);
    assertEquals(0, meters.gauge("quipu.engine.log.replay"));
    assertEquals(0, meters.gauge("quipu.engine.memory.ids"));
    assertEquals(IDS_IN_MEMORY, meters.gauge("quipu.engine.memory.ids.max"));
    assertTrue(meters.gauge("quipu.engine.id.files") >= 1);
  }

  @Test
  void contentAndBudgetsAreMeasured() {
    assertEquals(0, meters.gauge("quipu.memory.used", "budget", "counters"));
    add(1);
    assertEquals(1, meters.gauge("quipu.engine.counters"));
    assertEquals(1, meters.gauge("quipu.engine.memory.ids"));
    double used = meters.gauge("quipu.memory.used", "budget", "counters");
    assertTrue(used > NAME.length() && used < meters.gauge("quipu.memory.max"), "used: " + used);
    quipu.counters().delete(NAME);
    assertEquals(0, meters.gauge("quipu.engine.counters"));
    assertEquals(1, meters.gauge("quipu.engine.tombstones"));
    assertEquals(1, meters.gauge("quipu.engine.running"));
    engine.stop(new IllegalStateException("stopped by the test"));
    assertEquals(0, meters.gauge("quipu.engine.running"));
  }

  @Test
  void transactionsAndHoldsAreMeasured() throws Exception {
    assertTrue(quipu.transaction(RequestId.of("t")).add("a", -1).add("b", 1).commit() != null);
    assertEquals(1, meters.count("quipu.engine.transactions"));
    var unused =
        quipu.hold(RequestId.of("h")).add("a", -1, Bounds.none()).place(HoldRequest.TTL_MIN);
    assertEquals(1, meters.gauge("quipu.engine.holds"));
    assertEquals(0, meters.count("quipu.engine.holds.expired"));
    while (meters.gauge("quipu.engine.holds") > 0) {
      Thread.sleep(10);
    }
    assertEquals(1, meters.count("quipu.engine.holds.expired"));
  }

  @Test
  void theStoreOfAnEngineIsMeasured() {
    assertTrue(meters.gauge("quipu.engine.disk.free") > 0);
    assertEquals(0, meters.gauge("quipu.engine.items"));
    quipu.part(Presence.class).seen("room", "user");
    assertTrue(meters.gauge("quipu.engine.items") > 0);
    assertTrue(meters.count("quipu.store.calls", "operation", "write", "outcome", "success") > 0);
  }
}
