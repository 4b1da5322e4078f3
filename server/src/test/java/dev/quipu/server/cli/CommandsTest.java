package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.cli.input.CombinedLog;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.http.route.Services;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.time.Clock;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import tools.jackson.databind.json.JsonMapper;

/** Commands have the same results on a data directory and on a server. */
final class CommandsTest {
  @TempDir Path temporary;

  /** The output and exit code of a command. */
  private record CommandResult(int code, String out, String err) {}

  private static CommandResult run(List<String> target, String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(target);
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = QuipuCommand.commandLine();
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int code = line.execute(all.toArray(String[]::new));
    return new CommandResult(code, out.toString(), err.toString());
  }

  /** A script to run on a target. */
  private interface Script {
    void run(List<String> target) throws Exception;
  }

  private void on(String kind, Script script) throws Exception {
    Path data = temporary.resolve("data");
    if (kind.equals("directory")) {
      script.run(List.of("--data", data.toString()));
      return;
    }
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    try (Quipu quipu = Quipu.builder().directory(data).build();
        HttpServer server = HttpServer.start(options, Services.of(quipu, "test"), Clock.system())) {
      script.run(List.of("--server", "http://127.0.0.1:" + server.address().getPort()));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"directory", "server"})
  void countersAreAddedReadAndListed(String kind) throws Exception {
    on(
        kind,
        target -> {
          assertEquals(
              new CommandResult(0, line("5"), ""), run(target, "add", "a/b", "5", "--id", "x y"));
          assertEquals(
              new CommandResult(0, line("5 (replayed)"), ""),
              run(target, "add", "a/b", "5", "--id", "x y"));
          CommandResult conflict = run(target, "add", "a/b", "6", "--id", "x y");
          assertEquals(3, conflict.code);
          assertTrue(conflict.out.contains("conflict"));
          assertEquals(
              new CommandResult(3, line("rejected (floor): a/b is 5; the floor is 0"), ""),
              run(target, "add", "a/b", "-6", "--floor", "0"));
          assertEquals(
              new CommandResult(0, line("1"), ""), run(target, "add", "e", "1", "--id", "é"));
          assertEquals(
              new CommandResult(0, line("2"), ""), run(target, "add", "e", "1", "--id", "ü"));
          assertEquals(
              new CommandResult(0, line("2 (replayed)"), ""),
              run(target, "add", "e", "1", "--id", "ü"));
          assertEquals(new CommandResult(0, line("3"), ""), run(target, "add", "c", "3"));
          assertEquals(new CommandResult(0, line("5"), ""), run(target, "get", "a/b"));
          assertEquals(1, run(target, "get", "nothing").code);
          assertEquals(
              new CommandResult(0, line("5\ta/b") + line("3\tc") + line("2\te"), ""),
              run(target, "list"));
          assertEquals(new CommandResult(0, line("3\tc"), ""), run(target, "list", "c"));
          assertEquals(
              new CommandResult(0, line("5\ta/b"), ""), run(target, "list", "--limit", "1"));
          assertEquals(
              new CommandResult(0, line("2\te") + line("3\tc"), ""),
              run(target, "list", "--bottom", "2"));
          assertEquals(
              new CommandResult(0, line("3\tc"), ""), run(target, "list", "c", "--top", "9"));
          CommandResult json = run(target, "get", "a/b", "--json");
          assertEquals(
              "5", JsonMapper.builder().build().readTree(json.out).path("value").asString());
        });
  }

  /** An id that was made up is not one that the user wants kept. */
  @Test
  void anAddWithoutAnIdGoesToCountersThatKeepNone() throws Exception {
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    try (Quipu quipu = Backends.on(new MemoryDriver(), AtomicAdd::new);
        HttpServer server = HttpServer.start(options, Services.of(quipu, "test"), Clock.system())) {
      List<String> target = List.of("--server", "http://127.0.0.1:" + server.address().getPort());
      assertEquals(new CommandResult(0, line("1"), ""), run(target, "add", "likes", "1"));
      assertEquals(2, run(target, "add", "likes", "1", "--id", "given").code);
      assertEquals(2, run(target, "add", "likes", "0").code);
      assertEquals(new CommandResult(0, line("1"), ""), run(target, "get", "likes"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"directory", "server"})
  void severalCountersAreRead(String kind) throws Exception {
    on(
        kind,
        target -> {
          run(target, "add", "a", "1");
          run(target, "add", "b", "2");
          assertEquals(
              new CommandResult(0, line("2\tb") + line("1\ta"), ""), run(target, "get", "b", "a"));
          assertEquals(
              new CommandResult(1, line("1\ta"), line("no such counter: c")),
              run(target, "get", "c", "a"));
          assertEquals(2, run(target, "get").code);
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"directory", "server"})
  void countersAreSetResetAndDeleted(String kind) throws Exception {
    on(
        kind,
        target -> {
          assertEquals(new CommandResult(0, line("-5"), ""), run(target, "set", "a/b", "-5"));
          assertEquals(
              new CommandResult(3, line("rejected (value-mismatch): a/b is -5"), ""),
              run(target, "set", "a/b", "7", "--if-value", "6"));
          assertEquals(
              new CommandResult(3, line("rejected (value-mismatch): new does not exist"), ""),
              run(target, "set", "new", "7", "--if-value", "6"));
          assertEquals(
              new CommandResult(0, line("7"), ""),
              run(target, "set", "a/b", "7", "--if-value", "-5"));
          assertEquals(
              new CommandResult(0, line("1"), ""), run(target, "set", "c", "1", "--if-value", "0"));
          assertEquals(new CommandResult(0, line("0"), ""), run(target, "reset", "a/b"));
          assertEquals(
              line("{\"name\":\"a/b\",\"value\":\"3\"}"),
              run(target, "set", "a/b", "3", "--json").out);
          for (int i = 0; i < 2; i++) {
            assertEquals(
                new CommandResult(0, line("deleted a/b") + line("deleted c"), ""),
                run(target, "delete", "a/b", "c"));
          }
          assertEquals(new CommandResult(0, "", ""), run(target, "list"));
          assertEquals(2, run(target, "set", "a").code);
          assertEquals(2, run(target, "set", "", "1").code);
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"directory", "server"})
  void presenceIsCounted(String kind) throws Exception {
    on(
        kind,
        target -> {
          assertEquals(
              new CommandResult(0, line("1"), ""), run(target, "online", "a b", "--seen", "ann"));
          assertEquals(
              new CommandResult(0, line("2"), ""), run(target, "online", "a b", "--seen", "bob"));
          assertEquals(
              new CommandResult(0, line("2"), ""), run(target, "online", "a b", "--seen", "ann"));
          assertEquals(new CommandResult(0, line("0"), ""), run(target, "online", "elsewhere"));
          assertEquals(
              line(
                  "{\"room\":\"a b\",\"value\":\"2\",\"low\":\"2\",\"high\":\"2\",\"complete\":true}"),
              run(target, "online", "a b", "--json").out);
          assertEquals(2, run(target, "online", "x".repeat(513)).code);
          assertEquals(2, run(target, "online", "a", "--seen", "x".repeat(256)).code);
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"directory", "server"})
  void sequencesHaveNoGaps(String kind) throws Exception {
    on(
        kind,
        target -> {
          assertEquals(new CommandResult(0, line("1"), ""), run(target, "next", "in/2027"));
          assertEquals(
              new CommandResult(0, line("2"), ""),
              run(target, "next", "in/2027", "--id", "å", "--payload", "p"));
          assertEquals(
              new CommandResult(0, line("2 (replayed)"), ""),
              run(target, "next", "in/2027", "--id", "å", "--payload", "p"));
          assertEquals(3, run(target, "next", "in/2027", "--id", "å", "--payload", "q").code);
          assertEquals(
              line("{\"name\":\"in/2027\",\"number\":\"3\",\"replayed\":false}"),
              run(target, "next", "in/2027", "--json").out);
          assertEquals(new CommandResult(0, line("1"), ""), run(target, "next", "in/2028"));
          assertEquals(2, run(target, "next", "x".repeat(513)).code);
          assertEquals(2, run(target, "next", "a", "--payload", "x".repeat(16_385)).code);
        });
  }

  @Test
  void invalidCacheOptionsAreRejectedBeforeTheServerStarts() {
    List<List<String>> rejected =
        List.of(
            List.of("--cache-first", "need --cache"),
            List.of("--age=2s", "need --cache"),
            List.of("--cache=memory: --unflushed=5", "need --cache-first"),
            List.of("--cache=memory: --cache-first --age=2s", "--age conflicts"),
            List.of("--cache=memory: --cache-first --unflushed=0", "from 1 to 1000000"),
            List.of("--cache=memory: --cache-first --write-back=2h", "interval is 2h"),
            List.of("--cache=memory: --age=0s", "ageMax is 0s"),
            List.of("--cache=nothing", "--cache has no '://'"),
            List.of("--window=0s", "--window is 0s; it must be from 1s to 366d"),
            List.of("--window=500d", "--window is 500d; it must be from 1s to 366d"),
            List.of("--session-key-file=pom.xml --online=exact", "needs --online ring"),
            List.of("--session-key-file=nothing --online=ring", "cannot read the session key"),
            List.of("--session-key-file=/dev/null --online=ring", "has 0 bytes; the minimum is 32"),
            List.of("--online-resolution=7s --online=ring", "must divide the window"));
    for (List<String> each : rejected) {
      List<String> arguments = new ArrayList<>(List.of("--http", "0", "--store", "memory:"));
      arguments.addAll(List.of(each.getFirst().split(" ", -1)));
      CommandResult result = run(arguments, "serve");
      assertEquals(2, result.code, result.err);
      assertTrue(result.err.contains(each.getLast()), result.err);
    }
    CommandResult away =
        run(List.of("--store", "memory:"), "serve", "--cache=memcached://127.0.0.1:1");
    assertEquals(6, away.code, away.err);
  }

  @Test
  void invalidQueueOptionsAreRejectedAtOnce() {
    List<List<String>> rejected =
        List.of(
            List.of("--queue=views --store=memory:", "the URL of the queue is incomplete"),
            List.of("--queue=http://127.0.0.1:1/q --store=nothing", "--store has no '://'"),
            List.of("--queue=http://127.0.0.1:1/q --store=memory: --pollers=0", "pollers is 0"),
            List.of("--queue=http://127.0.0.1:1/q --store=memory: --identity=x", "identity 'x'"),
            List.of("--queue=http://127.0.0.1:1/q --store=memory: --also=week", "--also is 'week'"),
            List.of("--queue=http://127.0.0.1:1/q --store=memory: --keep=0s", "keep is 0s"),
            List.of("--store=memory:", "Missing required option: '--queue=URL'"));
    for (List<String> each : rejected) {
      CommandResult result = run(List.of(each.getFirst().split(" ", -1)), "ingest", "sqs");
      assertEquals(2, result.code, result.err);
      assertTrue(result.err.contains(each.getLast()), result.err);
    }
    assertEquals(2, run(List.of(), "ingest").code);
    CommandResult origin =
        run(List.of("--store", "memory:", "--http", "0"), "serve", "--allow-origin", "blog");
    assertEquals(2, origin.code, origin.err);
    assertTrue(origin.err.contains("--allow-origin is 'blog'"), origin.err);
  }

  @ParameterizedTest
  @ValueSource(strings = {"directory", "server"})
  void outcomesAreShownAndRequestsCanceled(String kind) throws Exception {
    on(
        kind,
        target -> {
          run(target, "add", "a", "5", "--id", "one");
          assertEquals(line("applied 5"), run(target, "outcome", "a", "one").out);
          assertEquals(line("not-seen"), run(target, "outcome", "a", "two").out);
          assertEquals(line("canceled"), run(target, "outcome", "a", "two", "--cancel").out);
          CommandResult late = run(target, "add", "a", "5", "--id", "two");
          assertEquals(3, late.code);
          assertTrue(late.out.startsWith("rejected (canceled)"), late.out);
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"directory", "server"})
  void aLogImportedAgainCountsOnce(String kind) throws Exception {
    String log = resource("access.log").toString();
    on(
        kind,
        target -> {
          String[] all = {
            "import", "--format=combined-log", "--method=GET,POST", "--status=200,404", log
          };
          CommandResult first = run(target, all);
          assertEquals(7, first.code);
          assertTrue(
              first.out.startsWith("39 lines read, 33 counted now, 1 counted before, 5 skipped"),
              first.out);
          assertTrue(
              first.err.contains("line 35 skipped: not in combined-log format: no [time] before"),
              first.err);
          assertTrue(first.err.contains("line 36 skipped: time: not like"), first.err);
          assertTrue(first.err.contains("line 37 skipped: request: not"), first.err);
          CommandResult second = run(target, all);
          assertTrue(second.out.contains(" 0 counted now, 34 counted before"), second.out);
          assertEquals(line("2"), run(target, "views", "/quoted").out);
          assertEquals(line("2\t/quoted"), run(target, "pages", "/quo").out);
          List<String> pages = run(target, "pages").out.lines().toList();
          assertEquals(33, pages.stream().mapToInt(each -> views(each)).sum());
          assertEquals(
              pages.stream().mapToInt(each -> views(each)).max().orElseThrow(),
              views(run(target, "pages", "--top", "1").out.strip()));
          assertEquals(2, run(target, "pages", "--top", "0").code);
          assertEquals(
              line("0"),
              run(target, "views", "/quoted", "--until", "2015-05-17T12:00:00+02:00").out);
          assertEquals(1, run(target, "views", "/wrong-month").code);
          String time = "2015-05-17T10:00:00Z";
          CommandResult events = run(target, "views", "/quoted", "--events", "--from", time);
          assertEquals(2, events.out.lines().count(), events.out);
          assertTrue(events.out.startsWith(time + "\t10.0.0.1"), events.out);
          assertEquals("", run(target, "views", "/quoted", "--events", "--until", time).out);
          assertEquals(
              line(time + "\t10.0.0.1"),
              run(target, "views", "/quoted", "--events", "--limit", "1").out);
          assertEquals(2, run(target, "views", "/quoted", "--limit", "1").code);
          CommandResult wrong =
              run(target, "views", "/quoted", "--from", time, "--until", "2015-05-17T09:59:59Z");
          assertEquals(2, wrong.code, wrong.toString());
          assertTrue(wrong.err.contains("from is " + time), wrong.err);
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"directory", "server"})
  void anExportCanBeImported(String kind) throws Exception {
    Path file = temporary.resolve("export.ndjson");
    on(
        kind,
        target -> {
          run(target, "add", "a", "5");
          run(target, "add", "b", "-3");
          run(target, "set", "c", "1.5", "--scale", "2");
          Files.writeString(file, run(target, "export").out);
        });
    Path other = temporary.resolve("other");
    List<String> target = List.of("--data", other.toString());
    for (int i = 0; i < 2; i++) {
      assertEquals(0, run(target, "import", "--format", "ndjson", file.toString()).code);
      assertEquals(line("5\ta") + line("-3\tb") + line("1.50\tc"), run(target, "list").out);
    }
  }

  @Test
  void usageErrorsAreExplained() {
    List<String> data = List.of("--data", temporary.resolve("d").toString());
    assertEquals(2, run(data, "add", "a", "0").code);
    assertEquals(2, run(data, "add", "a", "1.5").code);
    CommandResult large = run(data, "add", "a", "9223372036854775808");
    assertEquals(2, large.code);
    assertEquals(
        "quipu: Invalid value for positional parameter at index 1 (DELTA): '9223372036854775808' is"
            + " not an integer from -9223372036854775808 to 9223372036854775807\n"
            + "Try: quipu add --help\n",
        large.err);
    CommandResult floor = run(data, "add", "a", "1", "--floor", "x");
    assertTrue(floor.err.contains("option '--floor'"), floor.err);
    assertTrue(floor.err.contains("'x' is not an integer or a decimal"), floor.err);
    assertEquals(2, run(data, "add", "", "1").code);
    assertEquals(2, run(List.of(), "add").code);
    CommandResult nonsense = run(List.of(), "nonsense");
    assertEquals(2, nonsense.code);
    assertTrue(nonsense.err.startsWith("quipu: unknown command 'nonsense'"), nonsense.err);
    assertFalse(nonsense.err.contains("Usage:"), nonsense.err);
    assertTrue(run(List.of()).err.startsWith("Usage: quipu"));
    CommandResult extra = run(List.of(), "version", "now");
    assertTrue(extra.err.startsWith("quipu: unexpected argument 'now'"), extra.err);
    CommandResult outside = run(List.of(), "serve", "--bind", "0.0.0.0");
    assertEquals(2, outside.code);
    assertTrue(outside.err.contains("--insecure"), outside.err);
    assertEquals(2, run(List.of(), "serve", "--store", "nowhere:").code);
    assertEquals(2, run(List.of(), "serve", "--window", "soon").code);
    assertEquals(6, run(List.of("--server", "http://127.0.0.1:9"), "get", "a").code);
    assertEquals(0, run(List.of(), "--help").code);
    assertEquals(0, run(List.of(), "techniques").code);
    assertEquals(2, run(List.of(), "techniques", "--json", "--markdown").code);
    assertEquals(2, run(List.of(), "completion", "tcsh").code);
    assertEquals(2, run(List.of(), "serve", "--log", "xml").code);
    for (String server : List.of("localhost:7080", "127.0.0.1:42080", "[::1]:7080", "host")) {
      CommandResult bare = run(List.of("--server", server), "get", "a");
      assertEquals(2, bare.code);
      assertTrue(bare.err.contains("use http://" + server), bare.err);
    }
    CommandResult broken = run(List.of("--server", "http://a b"), "get", "a");
    assertEquals(2, broken.code);
    assertTrue(broken.err.contains("option '--server'"), broken.err);
    assertFalse(broken.err.contains("java."), broken.err);
    CommandResult both = run(data, "get", "a", "--server", "http://127.0.0.1:7080");
    assertEquals(2, both.code);
    assertTrue(both.err.contains("--data and --server exclude each other"), both.err);
    assertEquals(2, run(data, "list", "--limit", "-1").code);
    for (String options :
        List.of("--top 0", "--bottom 1001", "--top 1 --limit 2", "--top 1 --bottom 1", "--top a")) {
      CommandResult wrong = run(data, ("list " + options).split(" ", -1));
      assertEquals(2, wrong.code, options);
      assertTrue(wrong.err.contains("--"), wrong.err);
    }
    assertTrue(run(List.of(), "completion", "zsh").out.contains("complete"));
    assertTrue(run(List.of(), "version").out.startsWith("quipu "));
  }

  @Test
  void everyDataCommandPrintsJson() throws Exception {
    List<String> data = List.of("--data", temporary.resolve("d").toString(), "--json");
    String log = resource("access.log").toString();
    JsonMapper mapper = JsonMapper.builder().build();
    String[][] commands = {
      {"add", "a", "5", "--id", "one"},
      {"add", "a", "-9", "--floor", "0"},
      {"get", "a"},
      {"list"},
      {"outcome", "a", "one"},
      {"outcome", "a", "two", "--cancel"},
      {"import", "--format", "combined-log", log},
      {"views", "/quoted"},
      {"export"},
      {"check"},
    };
    for (String[] command : commands) {
      CommandResult result = run(data, command);
      assertTrue(mapper.readTree(result.out).isObject(), result.toString());
    }
    for (String line : run(List.of("--json"), "techniques").out.lines().toList()) {
      assertTrue(mapper.readTree(line).path("perAdd").path("roundTrips").isInt(), line);
    }
    assertTrue(mapper.readTree(run(List.of("--json"), "version").out).has("version"));
  }

  @Test
  void aDamagedDirectoryIsReportedAndSalvaged() throws Exception {
    Path data = temporary.resolve("d");
    List<String> target = List.of("--data", data.toString());
    run(target, "add", "a", "5");
    assertEquals(0, run(target, "check").code);
    Files.delete(data.resolve("highwater"));
    assertEquals(4, run(target, "get", "a").code);
    assertEquals(4, run(target, "check").code);
    assertEquals(0, run(target, "salvage").code);
    assertEquals(line("5"), run(target, "get", "a").out);
  }

  @Test
  void linesOfAccessLogsAreParsed() {
    assertEquals(
        new CombinedLog.Request(
            "GET", "/a?b=c#d", Instant.parse("2015-05-17T08:05:03Z"), "::1", 200, ""),
        CombinedLog.parse(
            "::1 - frank the first [17/May/2015:10:05:03 +0200] \"GET /a?b=c#d HTTP/1.1\" 200 -"));
    for (String wrong :
        List.of(
            "", "x", "a - - [] \"\" ", "a - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 1")) {
      assertThrows(IllegalArgumentException.class, () -> CombinedLog.parse(wrong), wrong);
    }
  }

  private static Path resource(String name) throws URISyntaxException {
    return Path.of(Objects.requireNonNull(CommandsTest.class.getResource(name)).toURI());
  }

  private static int views(String line) {
    return Integer.parseInt(line.substring(0, line.indexOf('\t')));
  }

  private static String line(String text) {
    return text + System.lineSeparator();
  }
}
