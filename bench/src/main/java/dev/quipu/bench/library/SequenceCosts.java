package dev.quipu.bench.library;

import dev.quipu.layer.Store;
import dev.quipu.sequence.Revision;
import dev.quipu.sequence.RevisionLog;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.store.Condition;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.Write;
import dev.quipu.testservers.PostgresServer;
import dev.quipu.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;

/**
 * What a number and a live count cost when a series has 1,000 to 1,000,000 records, on PostgreSQL.
 * Each call is made by new objects, as of a process that has just started and remembers no number.
 */
public final class SequenceCosts {
  private static final List<Integer> SIZES = List.of(1_000, 10_000, 100_000, 1_000_000);
  private static final int WARM_UPS = 200;
  private static final int CALLS = 300;
  private static final int TURNS = 3;
  private static final String SERIES = "series";
  private static final String PAYLOAD = "{\"customer\":4711,\"cents\":129900}";

  private final Store store;
  private final StringBuilder rows = new StringBuilder();
  private long records;
  private long revisions;

  private SequenceCosts(Store store) {
    this.store = store;
  }

  /** Returns the rows of the table. */
  public static String measure() throws Exception {
    try (PostgresServer server = PostgresServer.start();
        StoreDriver driver =
            StoreProvider.open(
                "postgresql://postgres@127.0.0.1:%d/postgres?connections=2"
                    .formatted(server.port()))) {
      SequenceCosts costs = new SequenceCosts(new Store(driver, Clock.system()));
      for (int size : SIZES) {
        costs.measure(size);
      }
      return costs.rows.toString();
    }
  }

  private void measure(int size) {
    records = fill("sequence/", records, size, number -> Map.of("id", new Field.Text("" + number)));
    revisions =
        fill(
            "revisions/",
            revisions,
            size,
            number ->
                Map.of(
                    "entity", new Field.Text("entity " + number),
                    "kind", new Field.Text("insert"),
                    "count", new Field.Number(number)));
    String row =
        String.format(
            Locale.ROOT,
            "| %,d | %,.0f | %,.0f | %,.0f | %,.0f | %,.0f |%n",
            size,
            median(this::last),
            median(this::add),
            median(this::count),
            median(this::insert),
            nanosOf(this::countByScan) / 1e6);
    System.out.print(row);
    rows.append(row);
  }

  /** Stores the records that many calls would leave, in batches. */
  private long fill(String prefix, long from, long until, LongFunction<Map<String, Field>> fields) {
    int most = Math.min(500, store.profile().batchItemsMax());
    List<Write> batch = new ArrayList<>();
    for (long number = from + 1; number <= until; number++) {
      Map<String, Field> all = new HashMap<>(fields.apply(number));
      all.put("payload", new Field.Text(PAYLOAD));
      all.put("at", new Field.Number(store.clock().epochMillis()));
      all.put("call", new Field.Text("filled"));
      Key key = new Key(prefix + SERIES, "n%019d".formatted(number));
      batch.add(new Write.Put(key, all, new Condition.Absent()));
      if (batch.size() == most || number == until) {
        store.writeAll(batch, null);
        batch.clear();
      }
    }
    return until;
  }

  private void last() {
    require(records, new SequenceOfRecords(store).last(SERIES));
  }

  private void add() {
    require(++records, new SequenceOfRecords(store).add(SERIES, PAYLOAD).number());
  }

  private void count() {
    require(revisions, new RevisionLog(store).count(SERIES));
  }

  private void insert() {
    revisions++;
    RevisionLog log = new RevisionLog(store);
    String entity = "entity " + revisions;
    require(revisions, log.write(SERIES, entity, Revision.Kind.INSERT, PAYLOAD).count());
  }

  private void countByScan() {
    AtomicLong found = new AtomicLong();
    store.scanAll(Scan.all("revisions/" + SERIES), items -> found.addAndGet(items.size()));
    require(revisions, found.get());
  }

  private static void require(long expected, long found) {
    if (expected != found) {
      throw new IllegalStateException("expected %d, found %d".formatted(expected, found));
    }
  }

  /** Returns the lowest median of the turns, in microseconds. */
  private static double median(Runnable call) {
    for (int i = 0; i < WARM_UPS; i++) {
      call.run();
    }
    double lowest = Double.MAX_VALUE;
    for (int turn = 0; turn < TURNS; turn++) {
      List<Double> times = new ArrayList<>();
      for (int i = 0; i < CALLS; i++) {
        times.add(nanosOf(call) / 1e3);
      }
      lowest = Math.min(lowest, StoreOverhead.median(times));
    }
    return lowest;
  }

  private static double nanosOf(Runnable call) {
    long start = Clock.system().nanoTime();
    call.run();
    return Clock.system().nanoTime() - start;
  }
}
