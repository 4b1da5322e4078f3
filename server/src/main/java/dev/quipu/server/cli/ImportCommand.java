package dev.quipu.server.cli;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.RequestId;
import dev.quipu.store.Outcome;
import dev.quipu.store.StoreException;
import dev.quipu.technique.ViewEvent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.zip.GZIPInputStream;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Counts what is in a file. */
@Command(
    name = "import",
    description =
        "Count what is in a file. Run twice, or broken off and run again, it counts once.",
    footer = {
      "",
      "Formats:",
      "  combined-log  a web server's access log: exact unique views per URL,",
      "                a view being URL, time and client address",
      "  ndjson        {\"name\",\"delta\",\"id\"} a line, or what export prints;",
      "                a line without an id gets one from its number and text, and",
      "                counts once within the server's window of request ids",
      "",
      "Example:",
      "  quipu import --data quipu-data --format combined-log access.log"
    })
final class ImportCommand implements Callable<Integer> {
  private static final int BATCH = 512;
  private static final int REPORTED_MAX = 10;
  private static final int ATTEMPTS_MAX = 5;
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  /** What a file holds. */
  enum Format {
    COMBINED_LOG,
    NDJSON
  }

  @Mixin private Target target = new Target();
  @Mixin private Output output = new Output();

  @Option(
      names = "--format",
      required = true,
      converter = FormatConverter.class,
      description = "combined-log or ndjson.")
  private Format format = Format.COMBINED_LOG;

  @Parameters(paramLabel = "FILE", description = "The file; may be gzipped; - is standard input.")
  private Path file = Path.of("-");

  private long read;
  private long counted;
  private long before;
  private long skipped;
  private final List<ViewEvent> events = new ArrayList<>();
  private final List<Add> adds = new ArrayList<>();

  @Override
  public Integer call() throws IOException {
    Thread hook = new Thread(() -> output.note("broken off; run it again: " + summary()));
    Runtime.getRuntime().addShutdownHook(hook);
    try (Access access = target.open();
        InputStream in = open();
        ProgressBar bar = bar()) {
      BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(
                  in,
                  StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPLACE)));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        read++;
        take(line);
        bar.stepBy(line.length() + 1L);
        if (events.size() + adds.size() >= BATCH) {
          flush(access);
        }
      }
      flush(access);
    } finally {
      Runtime.getRuntime().removeShutdownHook(hook);
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("lines", read);
    members.put("counted", counted);
    members.put("before", before);
    members.put("skipped", skipped);
    output.print(summary(), members);
    return skipped == 0 ? ExitCode.OK : ExitCode.SKIPPED;
  }

  private String summary() {
    return "%d lines read, %d counted now, %d counted before, %d skipped"
        .formatted(read, counted, before, skipped);
  }

  private void take(String line) {
    try {
      switch (format) {
        case COMBINED_LOG -> events.add(CombinedLog.parse(line));
        case NDJSON -> adds.add(add(line));
      }
    } catch (IllegalArgumentException e) {
      if (++skipped <= REPORTED_MAX) {
        output.note("line %d skipped: %s".formatted(read, e.getMessage()));
      }
    }
  }

  private Add add(String line) {
    JsonNode node;
    try {
      node = MAPPER.readTree(line);
    } catch (JacksonException e) {
      throw new IllegalArgumentException("not JSON: " + e.getOriginalMessage(), e);
    }
    String name = node.path("name").asString("");
    JsonNode amount = node.has("delta") ? node.path("delta") : node.path("value");
    long delta;
    try {
      delta = Long.parseLong(amount.asString(""));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("delta: not a 64-bit integer", e);
    }
    String id =
        node.has("id") ? node.path("id").asString() : "import/%d/%s".formatted(read, hash(line));
    return new Add(name, delta, RequestId.of(id));
  }

  private static String hash(String line) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(line.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash);
    } catch (NoSuchAlgorithmException impossible) { // every Java platform must have SHA-256
      throw new IllegalStateException(impossible);
    }
  }

  private void flush(Access access) {
    if (!events.isEmpty()) {
      int now = repeated(() -> access.addViews(List.copyOf(events)));
      counted += now;
      before += events.size() - now;
      events.clear();
    }
    if (!adds.isEmpty()) {
      for (AddResult result : repeated(() -> access.addAll(List.copyOf(adds)))) {
        switch (result) {
          case AddResult.Applied applied -> counted++;
          case AddResult.Replayed replayed -> before++;
          case AddResult.Refused refused -> {
            skipped++;
            output.note("an add was refused: " + refused);
          }
          case AddResult.Conflict conflict -> {
            skipped++;
            output.note("an id was used for another request before");
          }
        }
      }
      adds.clear();
    }
  }

  /** What may have counted is sent again: it counts once. */
  private static <T> T repeated(Supplier<T> call) {
    for (int attempt = 1; ; attempt++) {
      try {
        return call.get();
      } catch (StoreException e) {
        if (e.outcome() != Outcome.UNKNOWN || attempt == ATTEMPTS_MAX) {
          throw e;
        }
      }
    }
  }

  private InputStream open() throws IOException {
    if (file.toString().equals("-")) {
      return System.in;
    }
    InputStream in = Files.newInputStream(file);
    return file.toString().endsWith(".gz") ? new GZIPInputStream(in) : in;
  }

  private ProgressBar bar() throws IOException {
    boolean known = !file.toString().equals("-") && !file.toString().endsWith(".gz");
    ProgressBarBuilder builder =
        ProgressBar.builder()
            .setTaskName("import")
            .setUnit(" MiB", 1 << 20)
            .setInitialMax(known ? Files.size(file) : -1)
            .clearDisplayOnFinish();
    if (!Terminal.isStandardError()) {
      builder.setConsumer(new Terminal.Nowhere());
    }
    return builder.build();
  }

  /** Reads the option's value. */
  static final class FormatConverter implements ITypeConverter<Format> {
    @Override
    public Format convert(String value) {
      return switch (value) {
        case "combined-log" -> Format.COMBINED_LOG;
        case "ndjson" -> Format.NDJSON;
        default ->
            throw new TypeConversionException("'" + value + "' is neither combined-log nor ndjson");
      };
    }
  }
}
