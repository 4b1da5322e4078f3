package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Decimal;
import dev.quipu.HoldReading;
import dev.quipu.HoldRequest;
import dev.quipu.Quipu;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.Settlement;
import dev.quipu.TransactionResult;
import dev.quipu.backend.Backends;
import dev.quipu.backend.CounterThresholds.Direction;
import dev.quipu.backend.CounterThresholds.Threshold;
import dev.quipu.engine.backup.Backup;
import dev.quipu.engine.backup.BackupFiles;
import dev.quipu.layer.Store;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Directories that versions with each format have written, and their backups, are opened by this
 * version with all that they contain. A directory of a new format is written by {@code main}, and
 * is then never changed.
 */
final class FormatsTest {
  private static final EngineOptions OPTIONS =
      EngineOptions.defaults()
          .withLog(1 << 16, 1 << 17)
          .withIdsInMemoryMax(64)
          .withWindow(EngineOptions.WINDOW_MAX);
  private static final int IDS = 3_000;
  private static final int COUNTERS = 7;
  private static final int MANY = 100; // so that a snapshot refers to a file of counters
  private static final int INVOICES = 3;
  private static final String LONG_NAME = "ü/名前/" + "n".repeat(200);
  private static final Add REJECTED =
      new Add("stock", -1, Bounds.atLeast(0), RequestId.of("rejected"));

  private static final List<Add> TRANSFER =
      List.of(new Add("budget/a", -700, null), new Add("budget/b", 7, null));
  private static final List<RequestId> HOLDS =
      List.of(RequestId.of("an open hold"), RequestId.of("a settled hold"));

  @TempDir Path temporary;

  /** Writes {@code formats/N.zip}: a data directory that was killed, and a backup of it. */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    Path work = Files.createTempDirectory("format");
    Path data = work.resolve("data");
    Engine engine = Engine.open(data, OPTIONS); // never closed, as if it were killed
    for (int i = 0; i < MANY; i++) {
      var unusedResult = engine.add(new Add("many/" + i, i + 1, null));
    }
    for (int i = 0; i < IDS; i++) {
      var unusedResult = engine.add(identified(i));
    }
    engine.checkpoint();
    var unusedChange = engine.add(new Add("many/1", 41, null));
    engine.delete("many/2");
    engine.checkpoint(); // which refers to the file of the first one
    var unusedLeast = engine.add(new Add("least", Long.MIN_VALUE, null));
    var unusedName = engine.add(new Add(LONG_NAME, 3, null));
    var unusedRejected = engine.add(REJECTED);
    var unusedDeleted = engine.add(new Add("deleted", 9, null));
    engine.delete("deleted");
    for (int i = 0; i < INVOICES; i++) {
      var unusedNumber = invoices(engine).add("invoices", "order-" + i, RequestId.of("order-" + i));
    }
    useTransactions(engine);
    useThresholds(engine);
    try (Backup backup = Backup.open(data, work.resolve("backup"))) {
      var unusedStatus = backup.run();
    }
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(Path.of(arguments[0])));
        Stream<Path> files = Files.walk(work)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        zip.putNextEntry(new ZipEntry(work.relativize(file).toString()));
        Files.copy(file, zip);
      }
    }
    Runtime.getRuntime().halt(0);
  }

  private static void useTransactions(Engine engine) {
    var unusedScale = Quipu.on(Backends.backend(engine)).counter("budget/a").fixScale(2);
    var unusedMoved = engine.transactions().commit(RequestId.of("transfer"), TRANSFER);
    for (RequestId id : HOLDS) {
      var unusedHold = engine.holds().place(hold(id));
    }
    var unusedSettled = engine.holds().settle(HOLDS.get(1), Settlement.each(-3));
  }

  private static HoldRequest hold(RequestId id) {
    return new HoldRequest(
        id,
        List.of(new Add("budget/a", -5, Bounds.atLeast(-900), null)),
        Duration.ofDays(366),
        HoldRequest.Late.APPLY,
        HoldRequest.Excess.ALLOW);
  }

  private static void useThresholds(Engine engine) {
    URI webhook = URI.create("http://localhost/hook");
    var unused =
        engine
            .thresholds()
            .put(
                new Threshold(
                    "t", true, "crossed", new Decimal(35, 1), Direction.UP, webhook)); // 3.5
    var unusedCrossing = engine.add(new Add("crossed/1", 4, null));
  }

  private static void expectThresholds(Engine engine) {
    assertEquals(
        List.of("crossed/1 0 4"),
        engine.thresholds().waiting("t", 0, 10).stream()
            .map(each -> each.counter() + " " + each.before() + " " + each.after())
            .toList());
  }

  private static void expectMany(Engine engine) {
    for (int i = 0; i < MANY; i++) {
      Optional<Long> value = engine.read("many/" + i).map(Reading::value);
      long expected = i == 1 ? 43 : i + 1;
      assertEquals(i == 2 ? Optional.empty() : Optional.of(expected), value);
    }
  }

  private static void expectTransactions(Engine engine) {
    var moved = engine.transactions().commit(RequestId.of("transfer"), TRANSFER).orElseThrow();
    assertTrue(moved.isReplayed());
    assertEquals(new TransactionResult.Added("budget/a", -700, -700, 2), moved.adds().getFirst());
    for (RequestId id : HOLDS) {
      var placed = engine.holds().place(hold(id)).orElseThrow();
      assertTrue(placed.isReplayed());
      assertEquals(
          id.equals(HOLDS.getFirst()) ? HoldReading.State.OPEN : HoldReading.State.SETTLED,
          placed.hold().state());
    }
    assertEquals(-5, engine.holds().balance("budget/a").orElseThrow().held());
    Reading reading = engine.read("budget/a").orElseThrow();
    assertEquals(-708, reading.value());
    assertEquals(2, reading.scale());
  }

  private static SequenceOfRecords invoices(Engine engine) {
    return new SequenceOfRecords(new Store(engine.driver(), Clock.system()));
  }

  private static Add identified(int i) {
    return new Add("c" + i % COUNTERS, i + 1, RequestId.of("id-" + i));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 6, 7, 8, 9})
  void itsDirectoryAndItsBackupAreComplete(int format) throws IOException {
    unzip("/formats/%d.zip".formatted(format));
    BackupFiles.Report report = BackupFiles.check(temporary.resolve("backup"));
    assertTrue(report.sound(), () -> report.lines().toString());
    var unusedPosition =
        BackupFiles.restore(temporary.resolve("backup"), temporary.resolve("restored"));
    for (String each : List.of("restored", "data")) {
      expectAll(temporary.resolve(each), format);
      String first = Files.readAllLines(temporary.resolve(each).resolve("format")).getFirst();
      assertEquals("quipu-engine 9", first);
    }
  }

  @Test
  void thePageStatesTheFormats() throws IOException {
    String page = Files.readString(Path.of("../docs/reference/compatibility.md"));
    assertTrue(page.contains("formats 2 to 8, and marks such a directory as 9"));
  }

  private void expectAll(Path data, int format) {
    try (Engine engine = Engine.open(data, OPTIONS)) {
      if (format >= 3) {
        expectTransactions(engine);
      }
      if (format >= 7) {
        expectThresholds(engine);
      }
      if (format >= 8) {
        expectMany(engine);
      }
      for (int c = 0; c < COUNTERS; c++) {
        int counter = c;
        long sum =
            IntStream.range(0, IDS).filter(i -> i % COUNTERS == counter).map(i -> i + 1).sum();
        assertEquals(sum, engine.read("c" + c).orElseThrow().value());
      }
      for (int i = 0; i < IDS; i++) {
        assertInstanceOf(AddResult.Replayed.class, engine.add(identified(i)), "id-" + i);
      }
      assertEquals(Long.MIN_VALUE, engine.read("least").orElseThrow().value());
      assertEquals(3, engine.read(LONG_NAME).orElseThrow().value());
      assertEquals(Optional.empty(), engine.read("deleted"));
      assertInstanceOf(AddResult.Rejected.class, engine.add(REJECTED));
      for (int i = 0; i < INVOICES; i++) {
        assertEquals(
            new SequenceOfRecords.Numbered(i + 1, true),
            invoices(engine).add("invoices", "order-" + i, RequestId.of("order-" + i)));
      }
    }
  }

  private void unzip(String name) throws IOException {
    try (InputStream in = Objects.requireNonNull(FormatsTest.class.getResourceAsStream(name));
        ZipInputStream zip = new ZipInputStream(in)) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        Path file = temporary.resolve(entry.getName());
        Files.createDirectories(file.getParent());
        try (OutputStream out = Files.newOutputStream(file)) {
          zip.transferTo(out);
        }
      }
    }
  }
}
