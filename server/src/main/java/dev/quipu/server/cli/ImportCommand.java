package dev.quipu.server.cli;

import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.input.BoundedLines;
import dev.quipu.server.cli.input.CombinedLog;
import dev.quipu.server.cli.input.CounterLine;
import dev.quipu.server.cli.input.LineIds;
import dev.quipu.server.cli.input.Stopping;
import dev.quipu.server.cli.input.ViewFilter;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.cli.output.Terminal;
import dev.quipu.server.cli.store.DirectoryTransfer;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewEvent;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** Imports a file. */
@Command(
    name = "import",
    description = "Import a file. Each line counts exactly once, even if the import is repeated.",
    footer = {
      "",
      "Formats:",
      "  combined-log  a web server's access log: exact unique views per URL;",
      "                a view is URL, time and client address. By default, views",
      "                are successful GET requests that are not from bots",
      "  ndjson        {\"name\",\"delta\",\"id\"} on each line, or the output of export.",
      "                A line without an id is identified by its text, the number of",
      "                lines before it with the same text, and --source: a file can",
      "                be imported again, also after lines were added to it, within",
      "                the store's window of request ids. Specify a --source for",
      "                files that may have the same lines",
      "  directory     the output of export --all: creates the directory --data,",
      "                or nothing if the file is incomplete",
      "",
      "Example:",
      "  quipu import --data quipu-data --format combined-log access.log"
    })
final class ImportCommand extends AccessCommand {
  private static final byte[] GZIP_MAGIC = {0x1f, (byte) 0x8b};
  private static final int BATCH = 1_000;

  /** Batches that are on their way while the next is read. */
  private static final int SENDING_MAX = 4;

  private static final int REPORTED_MAX = 10;
  private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int LINE_LENGTH = 80;
  private static final String SOURCE = "[A-Za-z0-9._-]{0,64}";

  /** The format of a file. */
  enum Format {
    COMBINED_LOG,
    NDJSON,
    DIRECTORY
  }

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      required = true,
      converter = FormatConverter.class,
      description = "combined-log, ndjson or directory.")
  private Format format = Format.COMBINED_LOG;

  @Mixin private final ViewFilter filter = new ViewFilter();

  @Option(
      names = "--source",
      paramLabel = "NAME",
      description = "The source of lines without an id, for ndjson (default: none).")
  private String source = "";

  @Parameters(
      paramLabel = "FILE",
      description = "The file, which may be gzipped; - for standard input.")
  private Path file = Path.of("-");

  private long read;
  private long counted;
  private long before;
  private long skipped;
  private long ignored;
  private long filtered;
  private LineIds ids = new LineIds("");
  private final Clock clock = Clock.system();
  private long notedNanos = clock.nanoTime();
  private final Deque<Sending> sending = new ArrayDeque<>();
  private ImportBatch batch = new ImportBatch();

  /** A batch on its way. */
  private record Sending(ImportBatch batch, Future<?> end) {}

  @Override
  public Integer call() {
    boolean isAccessLog = format == Format.COMBINED_LOG;
    filter.check(isAccessLog);
    if (format != Format.NDJSON && !source.isEmpty()) {
      throw new IllegalArgumentException("--source requires --format ndjson");
    }
    if (!source.matches(SOURCE)) {
      throw new IllegalArgumentException(
          "--source is '%s'; use up to 64 letters, digits, and . _ -".formatted(source));
    }
    if (format == Format.DIRECTORY) {
      return importDirectory(target.requireDirectory("--format directory", "use a new directory"));
    }
    ids = new LineIds(source);
    boolean endless = file.toString().equals("-"); // its next line may never arrive
    try (Stopping stopping = new Stopping(Duration.ofSeconds(endless ? 1 : 10))) {
      boolean done = false;
      try {
        done = count(stopping);
      } catch (IOException e) {
        output.note("cannot read %s: %s".formatted(file, why(e)));
      } finally {
        if (!done && read > 0) {
          output.note("stopped; when the cause is gone, run it again: " + summary());
        }
      }
      if (!done) {
        return ExitCode.FAILED;
      }
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("lines", read);
      members.put("counted", counted);
      members.put("before", before);
      members.put("skipped", skipped);
      members.put("filtered", filtered);
      output.print(summary(), members);
      return skipped == 0 ? ExitCode.OK : ExitCode.SKIPPED;
    }
  }

  private int importDirectory(Path directory) {
    try (InputStream in = open()) {
      long entries = DirectoryTransfer.importAll(in, directory);
      output.print(
          "%s: %d entries imported".formatted(directory, entries),
          Output.members("directory", directory.toString(), "entries", entries));
      return ExitCode.OK;
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot read %s: %s".formatted(file, why(e)), e);
    }
  }

  /** Counts until the end of the file; returns false if it was stopped before. */
  private boolean count(Stopping stopping) throws IOException {
    try (InputStream in = open();
        Access access = target.open();
        ExecutorService senders = Executors.newVirtualThreadPerTaskExecutor();
        ProgressBar bar = bar()) {
      BoundedLines lines =
          new BoundedLines(
              new BufferedReader(
                  new InputStreamReader(
                      in,
                      StandardCharsets.UTF_8
                          .newDecoder()
                          .onMalformedInput(CodingErrorAction.REPLACE))));
      try {
        while (lines.next() && !stopping.isRequested()) {
          read++;
          take(lines);
          bar.stepBy(lines.length() + 1);
          if (batch.size() >= BATCH) {
            send(access, senders);
            awaitSent(SENDING_MAX - 1);
          }
        }
        if (stopping.isRequested()) {
          return false; // lines that were not sent are read again next time
        }
        send(access, senders);
        awaitSent(0);
        return true;
      } finally {
        drain();
      }
    }
  }

  /** Awaits all batches after a failure, which is thrown afterwards, for the summary. */
  private void drain() throws IOException {
    while (!sending.isEmpty()) {
      try {
        awaitSent(sending.size() - 1);
      } catch (RuntimeException e) {
        // the first failure says why
      }
    }
  }

  private void send(Access access, ExecutorService senders) {
    ImportBatch full = batch;
    batch = new ImportBatch();
    sending.addLast(new Sending(full, senders.submit(() -> full.send(access, target.attempts()))));
  }

  /** Waits until at most this number of batches are on their way; throws if one has failed. */
  private void awaitSent(int most) throws IOException {
    while (sending.size() > most) {
      Sending first = sending.removeFirst();
      try {
        first.end.get();
      } catch (ExecutionException e) {
        if (e.getCause() instanceof RuntimeException why) {
          throw why;
        }
        throw new IllegalStateException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted");
      } finally {
        counted += first.batch.counted();
        before += first.batch.before();
        first.batch.skipped().forEach(each -> skip(each.line(), each.why()));
      }
    }
  }

  private static String why(IOException e) {
    return e instanceof NoSuchFileException ? "no such file" : String.valueOf(e.getMessage());
  }

  private String summary() {
    return "%d %s read, %d counted now, %d counted before, %d skipped%s%s"
        .formatted(
            read,
            read == 1 ? "line" : "lines",
            counted,
            before,
            skipped,
            filtered == 0 ? "" : ", %d filtered (no views)".formatted(filtered),
            ignored == 0 ? "" : ", %d ignored (blank or 0)".formatted(ignored));
  }

  private void take(BoundedLines lines) {
    try {
      String line = lines.line();
      switch (format) {
        case COMBINED_LOG -> {
          Optional<ViewEvent> view = filter.view(CombinedLog.parse(line));
          view.ifPresentOrElse(batch::add, () -> filtered++);
        }
        case NDJSON -> {
          Optional<CounterLine.Line> parsed = CounterLine.parse(line, ids::next);
          parsed.ifPresentOrElse(each -> batch.add(read, each), () -> ignored++);
        }
        case DIRECTORY -> throw new IllegalStateException("not read line by line");
      }
    } catch (IllegalArgumentException e) {
      skip(read, String.valueOf(e.getMessage()));
    }
  }

  private void skip(long line, String why) {
    if (++skipped <= REPORTED_MAX) {
      output.note("line %d skipped: %s".formatted(line, why));
    }
  }

  private InputStream open() throws IOException {
    InputStream raw = file.toString().equals("-") ? System.in : Files.newInputStream(file);
    InputStream in = new BufferedInputStream(raw);
    try {
      in.mark(GZIP_MAGIC.length);
      boolean isGzip = Arrays.equals(in.readNBytes(GZIP_MAGIC.length), GZIP_MAGIC);
      in.reset();
      return isGzip || file.toString().endsWith(".gz") ? new GZIPInputStream(in) : in;
    } catch (IOException e) {
      in.close();
      throw e;
    }
  }

  private ProgressBar bar() throws IOException {
    boolean known = !file.toString().equals("-") && !file.toString().endsWith(".gz");
    ProgressBarBuilder builder =
        ProgressBar.builder()
            .setTaskName("import")
            .setUnit(" MiB", 1 << 20)
            .setInitialMax(known ? Files.size(file) : -1)
            .clearDisplayOnFinish();
    if (System.getenv("NO_COLOR") != null || !Terminal.isStandardError()) {
      builder.setStyle(ProgressBarStyle.UNICODE_BLOCK);
    }
    if (!Terminal.isStandardError()) {
      builder
          .hideEta()
          .setConsumer(new DelegatingProgressBarConsumer(this::noteProgress, LINE_LENGTH));
    }
    return builder.build();
  }

  /** Notes the progress at intervals, so that a log, or the reader of a pipe, shows it. */
  private void noteProgress(String rendered) {
    long now = clock.nanoTime();
    if (now - notedNanos >= PROGRESS_NANOS) {
      notedNanos = now;
      output.note(rendered.strip());
    }
  }

  /** Parses the value of --format. */
  static final class FormatConverter implements ITypeConverter<Format> {
    @Override
    public Format convert(String value) {
      return switch (value) {
        case "combined-log" -> Format.COMBINED_LOG;
        case "ndjson" -> Format.NDJSON;
        case "directory" -> Format.DIRECTORY;
        default ->
            throw new TypeConversionException(
                "'" + value + "' is not a format; use combined-log, ndjson or directory");
      };
    }
  }
}
