package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.RequestId;
import dev.quipu.engine.backup.Backup;
import dev.quipu.engine.backup.BackupFiles;
import dev.quipu.layer.Store;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;
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
  private static final int INVOICES = 3;
  private static final String LONG_NAME = "ü/名前/" + "n".repeat(200);
  private static final Add REJECTED =
      new Add("stock", -1, Bounds.atLeast(0), RequestId.of("rejected"));

  @TempDir Path temporary;

  /** Writes {@code formats/N.zip}: a data directory that was killed, and a backup of it. */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    Path work = Files.createTempDirectory("format");
    Path data = work.resolve("data");
    Engine engine = Engine.open(data, OPTIONS); // never closed, as if it were killed
    for (int i = 0; i < IDS; i++) {
      var unusedResult = engine.add(identified(i));
    }
    Thread.sleep(2_000); // until there is a snapshot
    var unusedLeast = engine.add(new Add("least", Long.MIN_VALUE, null));
    var unusedName = engine.add(new Add(LONG_NAME, 3, null));
    var unusedRejected = engine.add(REJECTED);
    var unusedDeleted = engine.add(new Add("deleted", 9, null));
    engine.delete("deleted");
    for (int i = 0; i < INVOICES; i++) {
      var unusedNumber = invoices(engine).add("invoices", "order-" + i, RequestId.of("order-" + i));
    }
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

  private static SequenceOfRecords invoices(Engine engine) {
    return new SequenceOfRecords(new Store(engine.driver(), Clock.system()));
  }

  private static Add identified(int i) {
    return new Add("c" + i % COUNTERS, i + 1, RequestId.of("id-" + i));
  }

  @ParameterizedTest
  @ValueSource(ints = 2)
  void itsDirectoryAndItsBackupAreComplete(int format) throws IOException {
    unzip("/formats/%d.zip".formatted(format));
    BackupFiles.Report report = BackupFiles.check(temporary.resolve("backup"));
    assertTrue(report.sound(), () -> report.lines().toString());
    var unusedPosition =
        BackupFiles.restore(temporary.resolve("backup"), temporary.resolve("restored"));
    expectAll(temporary.resolve("restored"));
    expectAll(temporary.resolve("data"));
  }

  private void expectAll(Path data) {
    try (Engine engine = Engine.open(data, OPTIONS)) {
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
