package dev.quipu.appengine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.store.Condition;
import dev.quipu.store.Consistency;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.RetryPolicy;
import dev.quipu.store.Scan;
import dev.quipu.store.Store;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import dev.quipu.verify.drill.LinePlot;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * What writers cost each other who number records: without a counter, each record a group, and by a
 * counter entity that is in one entity group with the records.
 */
final class SequenceContentionTest {
  private static final boolean WRITES = Boolean.getBoolean("quipu.docs.write");
  private static final Path DOCS = Path.of("../../docs/reference");
  private static final List<Integer> WRITERS =
      WRITES ? List.of(1, 2, 4, 8, 16, 32) : List.of(1, 32);
  private static final int RECORDS = WRITES ? 320 : 64; // of all writers together
  private static final String SERIES = "s";

  /** The times that the source gives, ten times as fast. */
  private static final Map<String, Duration> TIMES =
      Map.of(
          "RunQuery",
          Duration.ofMillis(62),
          "Get",
          Duration.ofMillis(3),
          "Commit",
          Duration.ofMillis(25));

  private static final RetryPolicy PATIENT =
      new RetryPolicy(1_000, Duration.ofMillis(5), Duration.ofMillis(200), Duration.ofMinutes(10));

  private static final String HEAD =
      """
      # Numbering records on App Engine: without a counter, and with one

      Records that so many writers number 1, 2, 3 at once, each writer a process of its own:

      - **without a counter**: `SequenceOfRecords`, each record an entity group. A writer whose
        number is taken goes up by one.
      - **with a counter**: a counter entity and the records in one entity group, changed in one
        transaction. A writer whom another came between begins again.

      Retries are transactions for a record beyond the first; both ways wait alike after a
      transaction that was refused. Measured on Google's in-process stubs, whose calls take a tenth
      of the time that the source gives: query 62 ms, get 3 ms, commit 25 ms. The limit of one write
      a second to a group, which the stubs do not have, is not in the numbers: in the service it
      holds for the whole series with a counter, and for one record without.

      ![Retries a record, by writers](sequences.svg)

      Made by a test (SequenceContentionTest) in `./dev docs`; times vary from run to run.

      | writers | retries, without | with a counter | records a second, without | with |
      |---|---|---|---|---|
      """;

  private record Measured(double retries, double recordsPerSecond) {}

  /** Numbers one record. */
  private interface Writer {
    void next();
  }

  /** Makes a writer, as a process of its own. */
  private interface Way {
    Writer open(Store store);
  }

  @Test
  void withoutACounterWritersGoOnSideBySide() throws Exception {
    StringBuilder page = new StringBuilder(HEAD);
    List<Double> without = new ArrayList<>();
    List<Double> with = new ArrayList<>();
    for (int writers : WRITERS) {
      Measured records = measure(writers, true);
      Measured counter = measure(writers, false);
      without.add(records.retries);
      with.add(counter.retries);
      String row =
          String.format(
              Locale.ROOT,
              "| %d | %.1f | %.1f | %.0f | %.0f |%n",
              writers,
              records.retries,
              counter.retries,
              records.recordsPerSecond,
              counter.recordsPerSecond);
      System.out.print("SequenceContentionTest: " + row);
      page.append(row);
    }
    assertEquals(0, without.getFirst());
    assertEquals(0, with.getFirst());
    assertTrue(with.getLast() > 0 && without.getLast() > 0, "nobody met, so this run is void");
    if (WRITES) {
      Files.writeString(DOCS.resolve("sequences.md"), page);
      List<String> names = List.of("without a counter", "with a counter in one entity group");
      List<String> places = WRITERS.stream().map(each -> each + " writers").toList();
      Files.writeString(
          DOCS.resolve("sequences.svg"), LinePlot.svg(names, places, List.of(without, with)));
    }
    assertTrue(Files.readString(DOCS.resolve("sequences.md")).startsWith(HEAD), "run ./dev docs");
  }

  private static Measured measure(int writers, boolean withoutCounter) throws Exception {
    OneAtATime calls = Stubs.startCalls();
    AppEngineDriver driver =
        withoutCounter
            ? AppEngineDriver.withItemsAsGroups(Stubs.datastore())
            : AppEngineDriver.withPartitionsAsGroups(Stubs.datastore());
    Way way = withoutCounter ? SequenceContentionTest::records : SequenceContentionTest::counter;
    calls.take(TIMES);
    long start = Clock.system().nanoTime();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < writers; i++) {
        running.add(
            executor.submit(() -> {
              Store store = new Store(driver, Clock.system(), Randomness.secure(), PATIENT);
              Writer writer = way.open(store);
              for (int record = 0; record < RECORDS / writers; record++) {
                writer.next();
              }
            }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
    double seconds = (Clock.system().nanoTime() - start) / 1e9;
    calls.take(Map.of());
    double transactions = calls.calls("BeginTransaction");
    check(new Store(driver, Clock.system()), withoutCounter);
    return new Measured(transactions / RECORDS - 1, RECORDS / seconds);
  }

  private static void check(Store store, boolean withoutCounter) {
    long last =
        withoutCounter
            ? new SequenceOfRecords(store).last(SERIES)
            : store.count(new Scan(SERIES, "n", Optional.of("o"), false, 1, Consistency.STRONG));
    assertEquals(RECORDS, last);
  }

  private static Writer records(Store store) {
    SequenceOfRecords sequence = new SequenceOfRecords(store);
    return () -> sequence.add(SERIES, "");
  }

  private static Writer counter(Store store) {
    Key key = new Key(SERIES, "counter");
    return () -> {
      while (true) {
        Optional<Item> found = store.get(key, Consistency.STRONG);
        long number = found.map(item -> item.number(Item.VALUE)).orElse(0L) + 1;
        Write count =
            new Write.Put(
                key,
                Map.of(Item.VALUE, new Field.Number(number)),
                Optional.empty(),
                Condition.unchanged(found));
        Write record =
            new Write.Put(
                new Key(SERIES, "n%019d".formatted(number)),
                Map.of(),
                Optional.empty(),
                new Condition.Absent());
        if (store.writeAll(List.of(count, record), null) instanceof WriteResult.Applied) {
          return;
        }
      }
    };
  }
}
