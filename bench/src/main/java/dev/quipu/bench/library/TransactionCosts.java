package dev.quipu.bench.library;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.HoldRequest;
import dev.quipu.HoldResult;
import dev.quipu.ItemResult;
import dev.quipu.RequestId;
import dev.quipu.Settlement;
import dev.quipu.TransactionResult;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.TransactionOperation;
import dev.quipu.testservers.DataDirectory;
import dev.quipu.time.Clock;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Transactions over two counters and holds on the engine, compared with single adds under ids, in
 * alternating turns on one engine; and the heap of an open hold.
 */
public final class TransactionCosts {
  private static final List<Integer> IN_FLIGHT = List.of(1, 16, 64, 1_024);
  private static final int COUNTERS = 10_000;
  private static final int TURNS = 7;
  private static final long TURN_NANOS = 1_000_000_000;
  private static final int HOLDS = 1_000_000;
  private static final Bounds BOUNDS = Bounds.atMost(1L << 60);

  private final Engine engine;
  private long sequence;

  private TransactionCosts(Engine engine) {
    this.engine = engine;
  }

  private interface Group {
    /** Runs a group of calls; returns how many counters it changed. */
    int run(int calls);
  }

  /** Returns the rows of the table, and a line about memory. */
  public static String measure() throws Exception {
    Path directory = Files.createTempDirectory(Path.of(System.getProperty("bench.dir", ".")), "tx");
    StringBuilder rows = new StringBuilder();
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      TransactionCosts costs = new TransactionCosts(engine);
      for (int inFlight : IN_FLIGHT) {
        rows.append(costs.row(inFlight));
      }
      rows.append(costs.memory());
    } finally {
      DataDirectory.delete(directory);
    }
    return rows.toString();
  }

  private String row(int inFlight) {
    List<Group> groups = List.of(this::adds, this::transactions, this::holds);
    List<List<Double>> rates = new ArrayList<>();
    groups.forEach(group -> rates.add(new ArrayList<>()));
    for (int turn = -1; turn < TURNS; turn++) { // the first one warms up
      for (int i = 0; i < groups.size(); i++) {
        double rate = rate(groups.get(i), inFlight);
        if (turn >= 0) {
          rates.get(i).add(rate);
        }
      }
    }
    double[] medians = rates.stream().mapToDouble(StoreOverhead::median).toArray();
    return String.format(
        Locale.ROOT,
        "| %,d | %,.0f | %,.0f | %.2f | %,.0f |%n",
        inFlight,
        medians[0],
        medians[1],
        medians[1] / medians[0],
        medians[2]);
  }

  private static double rate(Group group, int inFlight) {
    long start = Clock.system().nanoTime();
    long end = start;
    long done = 0;
    while (end - start < TURN_NANOS) {
      done += group.run(inFlight);
      end = Clock.system().nanoTime();
    }
    return done * 1e9 / (end - start);
  }

  private RequestId nextId() {
    long number = sequence++;
    return RequestId.of(number * 0x9E3779B97F4A7C15L, number);
  }

  private static String counter(RequestId id, int which) {
    return "counter/" + Long.remainderUnsigned(id.high() + which * 4_999L, COUNTERS);
  }

  private int adds(int calls) {
    List<Add> adds = new ArrayList<>(calls);
    for (int i = 0; i < calls; i++) {
      RequestId id = nextId();
      adds.add(new Add(counter(id, 0), 1, BOUNDS, id));
    }
    for (ItemResult result : engine.addAll(adds)) {
      var unused = result.result().orElseThrow();
    }
    return calls;
  }

  private int transactions(int calls) {
    List<TransactionOperation<TransactionResult>> operations = new ArrayList<>(calls);
    for (int i = 0; i < calls; i++) {
      RequestId id = nextId();
      operations.add(
          TransactionOperation.commit(
              id,
              List.of(
                  new Add(counter(id, 0), -1, null), new Add(counter(id, 1), 1, BOUNDS, null))));
    }
    engine.run(operations);
    operations.forEach(each -> {
      var unused = each.result().orElseThrow();
    });
    return 2 * calls;
  }

  private int holds(int calls) {
    List<RequestId> ids = place(calls);
    List<TransactionOperation<HoldResult>> operations = new ArrayList<>(calls);
    ids.forEach(id -> operations.add(TransactionOperation.settle(id, Settlement.each(1))));
    engine.run(operations);
    operations.forEach(each -> {
      var unused = each.result().orElseThrow();
    });
    return calls;
  }

  private List<RequestId> place(int calls) {
    List<RequestId> ids = new ArrayList<>(calls);
    List<TransactionOperation<HoldResult>> operations = new ArrayList<>(calls);
    for (int i = 0; i < calls; i++) {
      RequestId id = nextId();
      ids.add(id);
      operations.add(
          TransactionOperation.place(
              new HoldRequest(
                  id, List.of(new Add(counter(id, 0), 2, BOUNDS, null)), Duration.ofDays(1))));
    }
    engine.run(operations);
    operations.forEach(each -> {
      var unused = each.result().orElseThrow();
    });
    return ids;
  }

  private String memory() {
    long before = heapBytes();
    for (int i = 0; i < HOLDS; i += 1_000) {
      var unused = place(1_000);
    }
    return "%nHeap of an open hold on one counter: %,d bytes, measured with %,d holds.%n"
        .formatted((heapBytes() - before) / HOLDS, HOLDS);
  }

  private static long heapBytes() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
