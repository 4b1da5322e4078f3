package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.NotAppliedException;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.Reason;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.cli.input.CombinedLog;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Imports to a store in memory with injected failures. */
final class ImportTest {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  /** Views that are counted in one transaction. */
  private static final int TOGETHER = 50;

  @TempDir Path directory;
  private final BreakingDriver driver = new BreakingDriver();
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  /** A store that fails after a number of writes. */
  private static final class BreakingDriver implements BatchDriver, ScanDriver {
    private final MemoryDriver memory = new MemoryDriver();
    private final AtomicLong writesLeft = new AtomicLong(Long.MAX_VALUE);

    @Override
    public StoreProfile profile() {
      return memory.profile();
    }

    @Override
    public Optional<Item> get(Key key, Consistency consistency) {
      return memory.get(key, consistency);
    }

    @Override
    public WriteResult write(Write write) {
      return memory.write(write);
    }

    /** Fails after the write, so that its reply is lost. */
    @Override
    public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
      long left = writesLeft.decrementAndGet();
      if (left < 0) {
        throw new NotAppliedException(Reason.DENIED, "broken");
      }
      WriteResult result = memory.writeAll(writes, token);
      if (left == 0) {
        throw new OutcomeUnknownException(Reason.UNAVAILABLE, "breaking", null);
      }
      return result;
    }

    @Override
    public List<Optional<Item>> getAll(List<Key> keys) {
      return memory.getAll(keys);
    }

    @Override
    public Page scan(Scan scan) {
      return memory.scan(scan);
    }

    @Override
    public void close() {
      memory.close();
    }
  }

  private int run(String... arguments) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    CommandLine line = QuipuCommand.commandLine(path -> Backends.on(driver), new ManualClock(0));
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    return line.execute(arguments);
  }

  private int load(String format, Path file) {
    return run(
        "import", "--json", "--data", directory.toString(), "--format", format, file.toString());
  }

  private Path file(String name, String... lines) throws IOException {
    return Files.writeString(directory.resolve(name), String.join("\n", lines) + "\n");
  }

  /** The numbers of lines, counted now, counted before, skipped. */
  private List<Long> result() {
    JsonNode json = MAPPER.readTree(out.toString());
    return List.of(
        json.path("lines").asLong(),
        json.path("counted").asLong(),
        json.path("before").asLong(),
        json.path("skipped").asLong());
  }

  private String value(String name) {
    return run("get", name, "--data", directory.toString()) == 0 ? out.toString().strip() : "none";
  }

  private long views() {
    assertEquals(0, run("views", "/a", "--data", directory.toString()), err.toString());
    return Long.parseLong(out.toString().strip());
  }

  private static String view(int client, int second) {
    return "10.0.0.%d - - [17/May/2015:10:00:%02d +0000] \"GET /a HTTP/1.1\" 200 1 \"-\" \"-\""
        .formatted(client, second);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 14, 38})
  void anInterruptedImportIsRunAgain(long writes) throws IOException {
    StringBuilder log = new StringBuilder();
    for (int i = 0; i < 2_000; i++) {
      log.append(view(i % 100, i / 100)).append('\n');
    }
    Path file = file("access.log", log.toString().strip());
    driver.writesLeft.set(writes);
    int code = load("combined-log", file);
    assertTrue(code == ExitCode.UNKNOWN || code == ExitCode.DENIED, "ended with " + code);
    assertTrue(
        err.toString().contains("stopped; when the cause is gone, run it again: "), err.toString());
    assertEquals("", out.toString());
    driver.writesLeft.set(Long.MAX_VALUE);
    long counted = writes * TOGETHER; // those of a transaction are counted all or not at all
    assertEquals(counted, views());
    assertEquals(0, load("combined-log", file));
    assertEquals(List.of(2_000L, 2_000 - counted, counted, 0L), result());
    assertEquals(2_000, views());
    assertEquals(0, load("combined-log", file));
    assertEquals(List.of(2_000L, 0L, 2_000L, 0L), result());
  }

  @Test
  void invalidLinesAreReportedAndSkipped() throws IOException {
    String[] lines = new String[14];
    Arrays.fill(lines, "junk");
    lines[3] = view(1, 1);
    lines[13] = view(1, 2);
    assertEquals(ExitCode.SKIPPED, load("combined-log", file("log", lines)));
    assertEquals(List.of(14L, 2L, 0L, 12L), result());
    assertEquals(10, err.toString().lines().count(), err.toString());
    assertTrue(
        err.toString().startsWith("{\"note\":\"line 1 skipped: client address: "), err.toString());
  }

  @Test
  void aHugeLineIsSkippedAndNotKept() throws IOException {
    String huge = "x".repeat(3_000_000);
    assertEquals(
        ExitCode.SKIPPED,
        load("combined-log", file("log", view(1, 1) + "\r", huge, view(1, 2), huge)));
    assertEquals(List.of(4L, 2L, 0L, 2L), result());
    String why =
        "{\"note\":\"line 2 skipped: the line has 3000000 characters; the limit is 1048576\"}\n";
    assertTrue(err.toString().startsWith(why), err.toString());
  }

  @Test
  void gzippedFilesAreReadAndInvalidOnesReported() throws IOException {
    Path good = directory.resolve("log.gz");
    try (Writer writer =
        new OutputStreamWriter(
            new GZIPOutputStream(Files.newOutputStream(good)), StandardCharsets.UTF_8)) {
      writer.write(view(1, 1));
    }
    assertEquals(0, load("combined-log", good));
    assertEquals(List.of(1L, 1L, 0L, 0L), result());
    assertEquals(ExitCode.FAILED, load("combined-log", file("bad.gz", view(1, 1))));
    assertTrue(err.toString().contains("bad.gz: Not in GZIP format"), err.toString());
    assertEquals(ExitCode.FAILED, load("combined-log", directory.resolve("none")));
    assertTrue(err.toString().contains("none: no such file"), err.toString());
  }

  @Test
  void addsCountOnceAndInvalidOnesNotAtAll() throws IOException {
    Path file =
        file(
            "adds.ndjson",
            "{\"name\":\"a\",\"delta\":5}",
            "{\"name\":\"a\",\"delta\":5}", // another line, another add
            "{\"name\":\"a\",\"delta\":\"7\",\"id\":\"x\"}",
            "{\"name\":\"b\",\"value\":\"3\"}",
            "{\"name\":\"zero\",\"value\":\"0\"}",
            "",
            "{\"name\":\"a\",\"delta\":9,\"id\":\"x\"}",
            "{\"name\":\"a\",\"delta\":-1,\"floor\":0}",
            "{\"name\":\"a\",\"delta\":1.5}",
            "{\"name\":\"a\",\"delta\":1,\"id\":7}",
            "{\"name\":\"a\",\"delta\":1,\"delta\":2}",
            "[1]");
    assertEquals(ExitCode.SKIPPED, load("ndjson", file));
    assertEquals(List.of(12L, 4L, 0L, 6L), result());
    String why = err.toString();
    assertTrue(why.contains("line 7 skipped: id: used for a different request before"), why);
    assertTrue(why.contains("line 8 skipped: floor: unknown field"), why);
    assertTrue(why.contains("line 9 skipped: field delta is not an integer"), why);
    assertTrue(why.contains("line 10 skipped: id: not a string"), why);
    assertTrue(why.contains("line 11 skipped: not JSON"), why);
    assertTrue(why.contains("line 12 skipped: not a JSON object"), why);
    assertEquals(ExitCode.SKIPPED, load("ndjson", file));
    assertEquals(List.of(12L, 0L, 4L, 6L), result());
    assertEquals("17", value("a"));
    assertEquals("3", value("b"));
    assertEquals("none", value("zero"));
  }

  @Test
  void anExportIsDeterministic() {
    for (String name : List.of("a", "b")) {
      assertEquals(0, run("add", name, "5", "--data", directory.toString()));
    }
    assertEquals(0, run("export", "--data", directory.toString()));
    assertEquals(
        List.of("{\"name\":\"a\",\"value\":\"5\"}", "{\"name\":\"b\",\"value\":\"5\"}"),
        out.toString().lines().toList());
  }

  @Test
  void outputThatCannotBeWrittenIsAFailure() {
    run("add", "a", "5", "--data", directory.toString());
    CommandLine line = QuipuCommand.commandLine(path -> Backends.on(driver), new ManualClock(0));
    Writer full =
        new Writer() {
          @Override
          public void write(char[] text, int offset, int length) throws IOException {
            throw new IOException("No space left on device");
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    line.setOut(new PrintWriter(full)).setErr(new PrintWriter(err));
    assertEquals(ExitCode.FAILED, line.execute("export", "--data", directory.toString()));
    assertTrue(err.toString().contains("cannot write to standard output"), err.toString());
  }

  @Test
  void anAddWithAnUnknownOutcomeIsRepeated() {
    driver.writesLeft.set(1);
    String[] add = {"add", "a", "5", "--id", "x", "--data", directory.toString()};
    // Applied, and the reply lost; then access is denied: the outcome stays unknown.
    assertEquals(ExitCode.UNKNOWN, run(add));
    assertTrue(err.toString().contains("request id: x"), err.toString());
    driver.writesLeft.set(Long.MAX_VALUE);
    assertEquals(0, run(add));
    assertTrue(out.toString().contains("replayed"), out.toString());
    assertEquals("5", value("a"));
    assertEquals(0, run("add", "a", "1", "-v", "--data", directory.toString()));
    assertTrue(err.toString().startsWith("request id: "), err.toString());
    assertEquals(0, run("add", "a", "1", "-v", "--id", "y", "--json", "--data", "" + directory));
    assertEquals("{\"requestId\":\"y\"}", err.toString().strip());
  }

  @Test
  void readingDoesNotCreateAMissingDirectory() {
    String none = directory.resolve("none").toString();
    for (String[] command :
        new String[][] {
          {"get", "a"}, {"list"}, {"export"}, {"views", "/"}, {"outcome", "a", "b"}
        }) {
      CommandLine line = QuipuCommand.commandLine();
      line.setErr(new PrintWriter(err));
      String[] all = Arrays.copyOf(command, command.length + 2);
      all[command.length] = "--data";
      all[command.length + 1] = none;
      assertEquals(ExitCode.USAGE, line.execute(all), command[0]);
    }
    assertTrue(Files.notExists(directory.resolve("none")));
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      value = {
        "|client address",
        "junk|client address",
        "not a line of a log|not in combined-log format",
        "a - - [17/May/2015:10:05:03 +0000]|not in combined-log format",
        "a - - [] \"GET / HTTP/1.1\"|time",
        "a - - [31/Feb/2015:10:05:03 +0000] \"GET / HTTP/1.1\"|time",
        "a - - [17/Mai/2015:10:05:03 +0000] \"GET / HTTP/1.1\"|time",
        "a - - [17/May/2015:24:05:03 +0000] \"GET / HTTP/1.1\"|time",
        "a - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1|request",
        "a - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\\\"|request",
        "a - - [17/May/2015:10:05:03 +0000] \"GET /\"|request",
        "a - - [17/May/2015:10:05:03 +0000] \"GET /a b HTTP/1.1\"|request",
        "a - - [17/May/2015:10:05:03 +0000] \"GET /\uFFFD HTTP/1.1\"|request",
        "a - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\"|status",
        "a - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 20|status",
        "a - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 2000|status",
        "a - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" - 1|status",
      })
  void anInvalidFieldIsNamed(@Nullable String line, String field) {
    IllegalArgumentException wrong =
        assertThrows(
            IllegalArgumentException.class, () -> CombinedLog.parse(line == null ? "" : line));
    assertTrue(String.valueOf(wrong.getMessage()).startsWith(field), wrong.getMessage());
  }

  @Test
  void longAndUnusualLinesAreParsed() throws IOException {
    Instant time = Instant.parse("2015-05-17T10:05:03Z");
    String start = "::1 - the [first] [17/May/2015:12:05:03 +0200] \"GET ";
    assertEquals(
        new CombinedLog.Request("GET", "/q\\\"q", time, "::1", 200, "a \\\" b"),
        CombinedLog.parse(start + "/q\\\"q HTTP/1.1\" 200 - \"\\\\\" \"a \\\" b\""));
    String agent = "x\\\"".repeat(100_000);
    assertEquals(
        new CombinedLog.Request("GET", "/", time, "::1", 200, ""),
        CombinedLog.parse(start + "/ HTTP/1.1\" 200 - \"" + agent + "\""));
    Path file = file("log", start + "/" + "x".repeat(100_000) + " HTTP/1.1\" 200");
    assertEquals(ExitCode.SKIPPED, load("combined-log", file));
  }

  private static String request(String method, String url, int status, String agent) {
    return "10.0.0.1 - - [17/May/2015:10:00:00 +0000] \"%s %s HTTP/1.1\" %d 1 \"-\" \"%s\""
        .formatted(method, url, status, agent);
  }

  private long views(String url, String... options) throws IOException {
    List<String> lines = new ArrayList<>();
    for (String method : List.of("GET", "HEAD", "POST")) {
      for (int status : new int[] {199, 200, 299, 300, 304, 404, 500}) {
        for (String agent : List.of("Firefox", "Googlebot/2.1", "CUBOT_X18", "-")) {
          lines.add(request(method, "/a?q=" + method + status + agent, status, agent));
        }
      }
    }
    Path file = file("requests", lines.toArray(String[]::new));
    List<String> all = new ArrayList<>(List.of("import", "--json", "--format", "combined-log"));
    all.addAll(List.of("--data", directory.toString(), file.toString()));
    all.addAll(List.of(options));
    assertEquals(0, run(all.toArray(String[]::new)), err.toString());
    JsonNode json = MAPPER.readTree(out.toString());
    assertEquals(lines.size(), json.path("lines").asInt());
    int counted = json.path("counted").asInt() + json.path("before").asInt();
    assertEquals(lines.size() - counted, json.path("filtered").asInt());
    run("views", url, "--data", directory.toString());
    return counted;
  }

  @Test
  void viewsAreSuccessfulGetsThatAreNotFromBots() throws IOException {
    assertEquals(3 * 3, views("/a"));
    assertEquals(3 * 4, views("/a", "--bots"));
    assertEquals(3 * 2, views("/a", "--status", "404,500-599"));
    assertEquals(2 * 3 * 3, views("/a", "--method", "GET,POST"));
    assertEquals(3 * 7 * 4, views("/a", "--method=GET,HEAD,POST", "--status=100-999", "--bots"));
  }

  @Test
  void aQueryIsPartOfTheUrlUnlessItIsDropped() throws IOException {
    Path file = file("log", request("GET", "/a?x=1", 200, "-"), request("GET", "/b?x=1", 200, "-"));
    assertEquals(0, load("combined-log", file));
    assertEquals("1", viewsOf("/a?x=1"));
    assertEquals("0", viewsOf("/a"));
    assertEquals(
        0,
        run(
            "import",
            "--drop-query",
            "--format=combined-log",
            "--data=" + directory,
            file.toString()));
    assertEquals("1", viewsOf("/a"));
  }

  private String viewsOf(String url) {
    int code = run("views", url, "--data", directory.toString());
    return code == 0 ? out.toString().strip() : "0";
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--format=combined-log --status=2xx|--status is '2xx'; use statuses and ranges",
        "--format=combined-log --source=a|--source requires --format ndjson",
        "--format=ndjson --bots|require --format combined-log",
        "--format=ndjson --status=200|require --format combined-log",
        "--format=ndjson --source=a/b|--source is 'a/b'; use up to 64 letters",
      })
  void optionsOfTheOtherFormatAreRejected(String options, String why) throws IOException {
    List<String> all = new ArrayList<>(List.of("import", "--data", directory.toString()));
    all.addAll(List.of(options.split(" ")));
    all.add(file("file", "").toString());
    assertEquals(ExitCode.USAGE, run(all.toArray(String[]::new)));
    assertTrue(err.toString().contains(why), err.toString());
  }

  @Test
  void linesWithoutAnIdAreIdentifiedByTextAndOccurrence() throws IOException {
    String a = "{\"name\":\"a\",\"delta\":1}";
    String b = "{\"name\":\"b\",\"delta\":1}";
    assertEquals(0, load("ndjson", file("first", a, b, a)));
    assertEquals(List.of(3L, 3L, 0L, 0L), result());
    // The same file with lines added before the others: only these count.
    assertEquals(0, load("ndjson", file("longer", b, a, b, a)));
    assertEquals(List.of(4L, 1L, 3L, 0L), result());
    for (String source : List.of("monday", "tuesday", "tuesday")) {
      Path file = file("day", a, a);
      run("import", "--source", source, "--format=ndjson", "--data=" + directory, file.toString());
    }
    assertEquals("6", value("a"));
    assertEquals("2", value("b"));
  }
}
