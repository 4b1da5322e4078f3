package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.HoldRequest;
import dev.quipu.HoldRequest.Excess;
import dev.quipu.HoldRequest.Late;
import dev.quipu.HoldResult;
import dev.quipu.Holds;
import dev.quipu.NotAppliedException;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.ScaleRules;
import dev.quipu.Settlement;
import dev.quipu.engine.transfer.DirectoryExport;
import dev.quipu.engine.transfer.DirectoryImport;
import dev.quipu.engine.transfer.Entry;
import dev.quipu.simulation.time.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Exports and imports of complete directories, compared to a ledger of what was counted. */
final class TransferTest {
  private static final int COUNTERS = 50;
  private static final long SEED = 20261128;

  @TempDir Path directory;

  private Path original() {
    return directory.resolve("original");
  }

  private static List<Entry> export(Path data) {
    List<Entry> entries = new ArrayList<>();
    long count = DirectoryExport.read(data, entries::add);
    assertEquals(entries.size() - 2, count);
    return entries;
  }

  private static void importAll(Path data, List<Entry> entries) throws IOException {
    try (DirectoryImport target = DirectoryImport.begin(data)) {
      entries.forEach(target::add);
      assertEquals(entries.size() - 2, target.end());
    }
  }

  /** Counts with ids that fill several files, and returns the sums. */
  private Map<String, Long> count(EngineOptions options, int adds) {
    Map<String, Long> sums = new HashMap<>();
    Random random = new Random(SEED);
    try (Engine engine = Engine.open(original(), options)) {
      for (int i = 0; i < adds; i++) {
        String name = "counter-" + random.nextInt(COUNTERS);
        long delta = random.nextLong(1, 1_000);
        engine.add(new Add(name, delta, RequestId.of("request-" + i)));
        sums.merge(name, delta, Long::sum);
      }
      engine.cancel("counter-0", RequestId.of("canceled"));
      engine.add(new Add("removed", 5, RequestId.of("of a removed counter")));
      engine.delete("removed");
    }
    return sums;
  }

  private static void assertSame(Map<String, Long> sums, int adds, Path data) {
    Random random = new Random(SEED);
    try (Engine engine = Engine.open(data, EngineOptions.defaults())) {
      for (int i = 0; i < adds; i++) { // repeats of all requests change nothing
        String name = "counter-" + random.nextInt(COUNTERS);
        long delta = random.nextLong(1, 1_000);
        AddResult result = engine.add(new Add(name, delta, RequestId.of("request-" + i)));
        assertInstanceOf(AddResult.Replayed.class, result);
      }
      sums.forEach(
          (name, sum) -> assertEquals(Optional.of(Reading.exact(sum)), engine.read(name), name));
      assertEquals(
          new RequestOutcome.Canceled(), engine.outcome("counter-0", RequestId.of("canceled")));
      assertEquals(Optional.empty(), engine.read("removed"));
      assertInstanceOf(
          AddResult.Replayed.class,
          engine.add(new Add("removed", 5, RequestId.of("of a removed counter"))));
      assertEquals(sums.size(), engine.statistics().counters());
      engine.add(new Add("counter-0", 1, RequestId.of("a new one")));
      long before = sums.getOrDefault("counter-0", 0L);
      assertEquals(Optional.of(Reading.exact(before + 1)), engine.read("counter-0"));
    }
  }

  @Test
  void transactionsAndHoldsAreTheSame() throws IOException {
    ManualClock clock = new ManualClock(1_800_000_000_000L);
    ScaleRules rules = ScaleRules.parse(List.of("a=2", "c=3", "removed=1"));
    EngineOptions options = EngineOptions.defaults().withClock(clock).withScales(rules);
    Duration ttl = Duration.ofMinutes(1);
    List<Add> adds = List.of(new Add("a", -5, Bounds.atLeast(-9), null), new Add("b", 5, null));
    List<RequestId> ids =
        Stream.of("open", "settled", "released", "expired", "late", "void")
            .map(RequestId::of)
            .toList();
    RequestId transaction = RequestId.of("transaction");
    RequestId canceled = RequestId.of("canceled");
    List<Object> before = new ArrayList<>();
    List<Object> after = new ArrayList<>();
    try (Engine engine = Engine.open(original(), options)) {
      Holds holds = engine.holds();
      var unusedApplied = engine.transactions().commit(transaction, adds);
      engine.transactions().cancel(canceled);
      for (RequestId id : ids.subList(1, 6)) {
        Late late = id.equals(ids.get(4)) ? Late.APPLY : Late.REJECT;
        String counter = id.equals(ids.get(5)) ? "removed" : "c";
        var unusedHold =
            holds.place(
                new HoldRequest(id, List.of(new Add(counter, -3, null)), ttl, late, Excess.ALLOW));
      }
      TestOperation.run(engine, access -> access.remove("removed"));
      var unusedExtended = holds.extend(ids.get(5), Duration.ofDays(2));
      var unusedSettled = holds.settle(ids.get(1), Settlement.each(-1));
      var unusedReleased = holds.release(ids.get(2));
      clock.advance(ttl);
      engine.sweep();
      var unusedOpen = holds.place(new HoldRequest(ids.get(0), adds, Duration.ofDays(1)));
      read(engine, ids, transaction, canceled, before);
    }
    Path copy = directory.resolve("copy");
    importAll(copy, export(original()));
    try (Engine engine = Engine.open(copy, options)) {
      read(engine, ids, transaction, canceled, after);
      assertEquals(before, after);
      var late = engine.holds().settle(ids.get(4), Settlement.each(-2));
      assertTrue(assertInstanceOf(HoldResult.Done.class, late).hold().isLate());
      clock.advance(Duration.ofDays(2));
      engine.sweep();
      assertEquals(Optional.of(Reading.exact(-5, 2)), engine.read("a"));
      assertEquals(Optional.of(Reading.exact(-3, 3)), engine.read("c"));
      assertEquals(Optional.empty(), engine.read("removed"));
    }
  }

  private static void read(
      Engine engine,
      List<RequestId> ids,
      RequestId transaction,
      RequestId canceled,
      List<Object> results) {
    ids.forEach(id -> results.add(engine.holds().find(id)));
    results.add(engine.transactions().outcome(transaction));
    results.add(engine.transactions().outcome(canceled));
    for (String name : List.of("a", "b", "c")) {
      results.add(engine.holds().balance(name));
      results.add(engine.holds().list(name, null, 10));
    }
  }

  @Test
  void countersAndRequestIdsAreTheSame() throws IOException {
    EngineOptions options = EngineOptions.defaults().withIdsInMemoryMax(100);
    int adds = 2_000;
    Map<String, Long> sums = count(options, adds);
    List<Entry> entries = export(original());
    assertEquals(adds + 2, entries.stream().filter(Entry.Request.class::isInstance).count());
    Path copy = directory.resolve("copy");
    importAll(copy, entries);
    assertTrue(Inspection.check(copy).sound());
    assertSame(sums, adds, copy);
    assertSame(sums, adds, original());
  }

  @Test
  void anExportOfAnImportIsTheSame() throws IOException {
    count(EngineOptions.defaults(), 500);
    List<Entry> entries = export(original());
    importAll(directory.resolve("copy"), entries);
    assertEquals(sorted(entries), sorted(export(directory.resolve("copy"))));
  }

  private static List<String> sorted(List<Entry> entries) {
    return entries.stream().map(Entry::toString).sorted().toList();
  }

  @Test
  void anIncompleteImportLeavesNoDirectory() throws IOException {
    count(EngineOptions.defaults(), 10);
    List<Entry> entries = export(original());
    Path copy = directory.resolve("copy");
    for (List<Entry> wrong :
        List.of(
            entries.subList(0, entries.size() - 1), // no end
            Stream.concat(entries.stream().limit(3), Stream.of(entries.getLast())).toList(),
            entries.subList(1, entries.size()), // no head
            Stream.concat(entries.stream(), Stream.of(entries.get(1))).toList(),
            with(entries, 0, new Entry.Head(-1, 1, 1)),
            with(entries, 0, new Entry.Head(1, Long.MAX_VALUE, 1)),
            with(entries, 1, new Entry.Number("", 5, 0)),
            with(entries, entries.size() - 2, entries.get(entries.size() - 3)))) {
      assertThrows(IllegalArgumentException.class, () -> importAll(copy, wrong));
      assertFalse(Files.exists(copy));
    }
    importAll(copy, entries);
    assertThrows(NotAppliedException.class, () -> DirectoryImport.begin(copy));
  }

  /** A forgotten id that is used again is in two generations; only the newer one counts. */
  @Test
  void anIdThatWasUsedAgainIsExportedOnce() throws IOException {
    Duration window = Duration.ofHours(1);
    ManualClock clock = new ManualClock(1_800_000_000_000L);
    EngineOptions options = EngineOptions.defaults().withWindow(window).withClock(clock);
    try (Engine engine = Engine.open(original(), options)) {
      engine.add(new Add("a", 1, RequestId.of("again")));
      clock.advance(window.multipliedBy(2));
      engine.add(new Add("a", 2, RequestId.of("other"))); // begins another generation
      engine.add(new Add("a", 4, RequestId.of("again")));
    }
    List<Entry> entries = export(original());
    assertEquals(2, entries.stream().filter(Entry.Request.class::isInstance).count());
    Path copy = directory.resolve("copy");
    importAll(copy, entries);
    try (Engine engine = Engine.open(copy, EngineOptions.defaults())) {
      assertEquals(Optional.of(Reading.exact(7)), engine.read("a"));
      assertEquals(4, engine.add(new Add("a", 4, RequestId.of("again"))).orElseThrow().added());
      assertEquals(Optional.of(Reading.exact(7)), engine.read("a"));
    }
  }

  private static List<Entry> with(List<Entry> entries, int at, Entry other) {
    List<Entry> changed = new ArrayList<>(entries);
    changed.set(at, other);
    return changed;
  }

  /** After a kill, no engine opens what the import has written so far. */
  @Test
  void anInterruptedImportIsRejected() throws IOException {
    count(EngineOptions.defaults(), 10);
    Path copy = directory.resolve("copy");
    Path killed = Files.createDirectory(directory.resolve("killed"));
    try (DirectoryImport target = DirectoryImport.begin(copy)) {
      export(original()).forEach(target::add);
      try (Stream<Path> files = Files.list(copy)) {
        for (Path each : files.toList()) {
          Files.copy(each, killed.resolve(each.getFileName()));
        }
      }
    }
    NotAppliedException why =
        assertThrows(
            NotAppliedException.class, () -> Engine.open(killed, EngineOptions.defaults()));
    assertTrue(
        String.valueOf(why.getMessage()).contains("it contains import-is-incomplete"),
        why::getMessage);
  }

  @Test
  void aDirectoryInUseOrWithoutCountersIsRejected() {
    assertThrows(NotAppliedException.class, () -> export(directory));
    assertFalse(Files.exists(directory.resolve("lock")));
    try (Engine engine = Engine.open(original(), EngineOptions.defaults())) {
      engine.add(new Add("a", 1, null));
      assertThrows(NotAppliedException.class, () -> export(original()));
    }
  }
}
