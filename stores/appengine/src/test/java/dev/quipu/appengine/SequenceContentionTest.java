package dev.quipu.appengine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.google.appengine.api.datastore.DatastoreService;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.simulation.drill.LinePlot;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Contention of writers that number records: without a counter, with each record as a group, and
 * with a counter entity in one entity group with the records.
 */
final class SequenceContentionTest {
  private static final boolean WRITES = Boolean.getBoolean("quipu.docs.write");
  private static final Path DOCS = Path.of("../../docs/reference");
  private static final List<Integer> WRITERS =
      WRITES ? List.of(1, 2, 4, 8, 16, 32) : List.of(1, 32);
  private static final int RECORDS = WRITES ? 320 : 64; // of all writers together
  private static final String SERIES = "s";

  /** The latencies of the source, divided by ten. */
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

      Records that several writers, each a separate process, number 1, 2, 3 concurrently:

      - **without a counter**: `SequenceOfRecords`, each record an entity group. A writer whose
        number is in use goes up by one.
      - **with a counter**: a counter entity and the records in one entity group, changed in one
        transaction. On a conflict, a writer retries.

      Retries are transactions for a record after the first; both ways wait equally after a rejected
      transaction. Measured on Google's in-process stubs, whose calls take a tenth of the time that
      the source states: query 62 ms, get 3 ms, commit 25 ms. The stubs lack the limit of one write
      per second per group; in the service it applies to the whole series with a counter, and to one
      record without.

      ![Retries a record, by writers](sequences.svg)

      Made by a test (SequenceContentionTest) in `./dev docs`; times vary from run to run.

      | writers | retries, without | with a counter | records a second, without | with |
      |---|---|---|---|---|
      """;

  private record Measured(double retries, double recordsPerSecond) {}

  /** Numbers a record; returns the number. */
  private interface Writer {
    long next();
  }

  /** Creates a writer, as a separate process. */
  private interface Way {
    Writer open(Store store);
  }

  @Test
  void eachRecordHasItsNumberAndRetriesAreBounded() throws Exception {
    StringBuilder page = new StringBuilder(HEAD);
    List<Double> without = new ArrayList<>();
    List<Double> with = new ArrayList<>();
    for (int writers : WRITERS) {
      Measured records =
          measure(writers, AppEngineDriver::withItemsAsGroups, SequenceContentionTest::records);
      checkRecords();
      Measured counter =
          measure(
              writers, AppEngineDriver::withPartitionsAsGroups, SequenceContentionTest::counter);
      checkRetries(writers, records.retries, counter.retries);
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
    if (WRITES) {
      Files.writeString(DOCS.resolve("sequences.md"), page);
      List<String> names = List.of("without a counter", "with a counter in one entity group");
      List<String> places = WRITERS.stream().map(each -> each + " writers").toList();
      Files.writeString(
          DOCS.resolve("sequences.svg"), LinePlot.svg(names, places, List.of(without, with)));
    }
  }

  /** Checks that exactly the records of the last run exist. */
  private static void checkRecords() {
    AppEngineDriver driver = AppEngineDriver.withItemsAsGroups(Stubs.datastore());
    SequenceOfRecords sequence = new SequenceOfRecords(new Store(driver, Clock.system()));
    assertEquals(RECORDS, sequence.last(SERIES));
    for (long number = 1; number <= RECORDS; number++) {
      assertTrue(sequence.find(SERIES, number).isPresent(), "record " + number + " is missing");
    }
  }

  /**
   * A single writer never retries. Without a counter, a writer loses a number to each other writer
   * at most twice: once by a conflict, and once when it finds the number in use; and some retry.
   */
  private static void checkRetries(int writers, double without, double with) {
    String retries = "%d writers: %s without, %s with".formatted(writers, without, with);
    assertTrue(without <= 2 * (writers - 1), retries);
    if (writers == 1) {
      assertEquals(0, with, retries);
    } else {
      assertTrue(without > 0 && with > 0, "no contention, so this run is void: " + retries);
    }
  }

  @Test
  void thePageMatchesARun() throws Exception {
    assumeFalse(WRITES, "the page is being written");
    String page = Files.readString(DOCS.resolve("sequences.md"));
    assertTrue(page.startsWith(HEAD), "run ./dev docs");
    List<String> rows = page.substring(HEAD.length()).lines().toList();
    assertEquals(6, rows.size());
    for (String row : rows) {
      String[] cells = row.split(" *\\| *", -1);
      checkRetries(
          Integer.parseInt(cells[1]), Double.parseDouble(cells[2]), Double.parseDouble(cells[3]));
    }
  }

  @Test
  void aWriterThatStartsAtTheFirstNumberIsDetected() throws Exception {
    Measured fromOne =
        measure(
            1,
            AppEngineDriver::withItemsAsGroups,
            store ->
                () -> {
                  for (long number = 1; ; number++) {
                    if (store.write(record(number)) instanceof WriteResult.Applied) {
                      return number;
                    }
                  }
                });
    assertThrows(AssertionError.class, () -> checkRetries(1, fromOne.retries, 0));
  }

  @Test
  void writersThatCountSeparatelyAreDetected() {
    Way own =
        store -> {
          AtomicLong number = new AtomicLong();
          return () -> {
            store.write(record(number.incrementAndGet()));
            return number.get();
          };
        };
    assertThrows(AssertionError.class, () -> measure(2, AppEngineDriver::withItemsAsGroups, own));
  }

  /** Numbers all records by several writers, and checks that each number is used once. */
  private static Measured measure(
      int writers, Function<DatastoreService, AppEngineDriver> opener, Way way) throws Exception {
    OneAtATime calls = Stubs.startCalls();
    AppEngineDriver driver = opener.apply(Stubs.datastore());
    calls.take(writers == 1 && !WRITES ? Map.of() : TIMES);
    Set<Long> numbers = new ConcurrentSkipListSet<>();
    long start = Clock.system().nanoTime();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < writers; i++) {
        running.add(
            executor.submit(() -> {
              Store store = new Store(driver, Clock.system(), Randomness.secure(), PATIENT);
              Writer writer = way.open(store);
              for (int record = 0; record < RECORDS / writers; record++) {
                numbers.add(writer.next());
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
    Set<Long> all = LongStream.rangeClosed(1, RECORDS).boxed().collect(Collectors.toSet());
    assertEquals(all, Set.copyOf(numbers));
    return new Measured(transactions / RECORDS - 1, RECORDS / seconds);
  }

  private static Writer records(Store store) {
    SequenceOfRecords sequence = new SequenceOfRecords(store);
    return () -> sequence.add(SERIES, "").number();
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
        if (store.writeAll(List.of(count, record(number)), null) instanceof WriteResult.Applied) {
          return number;
        }
      }
    };
  }

  private static Write record(long number) {
    Key key = new Key(SERIES, "n%019d".formatted(number));
    return new Write.Put(key, Map.of(), Optional.empty(), new Condition.Absent());
  }
}
