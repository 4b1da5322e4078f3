package dev.quipu.server.cli.hold;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.RequestId;
import dev.quipu.server.cli.QuipuCommand;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.http.route.Services;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Transfers and holds have the same results on a data directory and on a server. */
final class HoldCommandsTest {
  @TempDir Path temporary;

  @SuppressWarnings("NullAway.Init") // JUnit sets the directory
  HoldCommandsTest() {}

  /** Output and exit code of a command; the output without carriage returns. */
  private record Result(int code, String out, String err) {}

  /** Runs commands on one target. */
  private record Shell(List<String> target) {
    Result run(String command) {
      List<String> all = new ArrayList<>(Arrays.asList(command.split(" ")));
      all.addAll(target);
      StringWriter out = new StringWriter();
      StringWriter err = new StringWriter();
      CommandLine line = QuipuCommand.commandLine();
      line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
      int code = line.execute(all.toArray(String[]::new));
      return new Result(code, out.toString(), err.toString());
    }

    void check(String command, int code, String out) {
      Result result = run(command);
      assertEquals(new Result(code, out, ""), result, command);
    }

    /** Runs a command that prints a hold, and returns the fields of its line. */
    List<String> hold(String command) {
      Result result = run(command);
      assertEquals(0, result.code, () -> command + ": " + result);
      return List.of(result.out.strip().split("\t"));
    }

    JsonNode json(String command) {
      return JsonMapper.shared().readTree(run(command + " --json").out);
    }
  }

  /** A script to run on a target. */
  private interface Script {
    void run(Shell shell) throws Exception;
  }

  private void on(String kind, Script script) throws Exception {
    Path data = temporary.resolve("data");
    if (kind.equals("directory")) {
      script.run(new Shell(List.of("--data", data.toString())));
      return;
    }
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    try (Quipu quipu = Quipu.builder().directory(data).build();
        HttpServer server = HttpServer.start(options, Services.of(quipu, "test"), Clock.system())) {
      String url = "http://127.0.0.1:" + server.address().getPort();
      script.run(new Shell(List.of("--server", url)));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"directory", "server"})
  void amountsMayBeDecimals(String kind) throws Exception {
    on(
        kind,
        shell -> {
          shell.check("set ann 8.00 --scale 2", 0, "8.00\n");
          shell.check("set bob 0 --scale 3", 0, "0.000\n");
          shell.check("transfer ann bob 1.5 --id t", 0, "6.50\tann\n1.500\tbob\n");
          shell.check("outcome t", 0, "applied ann=-1.50 bob=1.500\n");
          shell.check(
              "transfer ann bob 7", 3, "rejected (floor): ann is 6.50; the floor is 0.00\n");
          assertEquals(2, shell.run("transfer ann bob 0.001").code);
          assertEquals(
              "ann=-2.50", shell.hold("hold ann -2.5 --floor 0 --ttl 1m --id h").getLast());
          assertEquals("-2.50", shell.json("get ann").path("held").asString());
          assertEquals("4.00", shell.json("get ann").at("/available/floor").asString());
          assertEquals("-2.50", shell.json("holds ann").at("/counters/0/delta").asString());
          Result exceeded = shell.run("settle h -2.51");
          assertTrue(exceeded.out.contains("exceeds the -2.50"), exceeded::toString);
          assertEquals("ann=-0.25", shell.hold("settle h -0.25").getLast());
          shell.check("get ann", 0, "6.25\n");
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"directory", "server"})
  void aTransferMovesAnAmountOnceAndDoesNotOverdraw(String kind) throws Exception {
    on(
        kind,
        shell -> {
          shell.check("add ann 8", 0, "8\n");
          shell.check("transfer ann bob 5 --id t-é", 0, "3\tann\n5\tbob\n");
          shell.check("transfer ann bob 5 --id t-é", 0, "3\tann\t(replayed)\n5\tbob\t(replayed)\n");
          shell.check(
              "transfer ann bob 6 --id t-é",
              3,
              "rejected (conflict): the request id t-é was used for a different request\n");
          shell.check("transfer ann bob 5", 3, "rejected (floor): ann is 3; the floor is 0\n");
          shell.check("transfer ann bob 5 --floor -2", 0, "-2\tann\n10\tbob\n");
          shell.check(
              "transfer bob ann 1 --ceiling -2",
              3,
              "rejected (ceiling): ann is -2; the ceiling is -2\n");
          shell.check(
              "transfer bob ann 6 --add bob=-1 --add fees/a=b=1",
              0,
              "3\tbob\n4\tann\n1\tfees/a=b\n");
          shell.check("outcome t-é", 0, "applied ann=-5 bob=5\n");
          String hint = "this is about a transfer or a hold; for an add, name its counter, too\n";
          assertEquals(new Result(0, "not-seen\n", hint), shell.run("outcome t-2"));
          assertEquals(new Result(0, "canceled\n", hint), shell.run("outcome t-2 --cancel"));
          shell.check(
              "transfer bob ann 1 --id t-2", 3, "rejected (canceled): request t-2 was canceled\n");
          shell.check("outcome bob t-2", 0, "not-seen\n");
          assertEquals(
              "{\"adds\":[{\"counter\":\"bob\",\"value\":\"2\",\"added\":\"-1\"},"
                  + "{\"counter\":\"ann\",\"value\":\"5\",\"added\":\"1\"}],\"replayed\":false}",
              shell.json("transfer bob ann 1").toString());
          assertEquals(
              "{\"rejected\":\"floor\",\"counter\":\"bob\",\"value\":\"2\",\"limit\":\"0\"}",
              shell.json("transfer bob ann 3").toString());
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"directory", "server"})
  void aHoldIsPlacedSettledAndReleased(String kind) throws Exception {
    on(
        kind,
        shell -> {
          shell.check("add stock 10", 0, "10\n");
          List<String> placed = shell.hold("hold stock -3 --floor 0 --ttl 10m --id cart-17");
          assertEquals(List.of(bits("cart-17"), "open"), idAndState(placed));
          assertEquals("stock=-3", placed.get(3));
          assertEquals(
              "(replayed)", shell.hold("hold stock -3 --floor 0 --ttl 10m --id cart-17").getLast());
          assertEquals(3, shell.run("hold stock -4 --floor 0 --ttl 10m --id cart-17").code);
          shell.check("get stock", 0, "7\n");
          shell.check("outcome cart-17", 0, "hold, open\n");
          List<String> extended = shell.hold("extend cart-17 1d");
          assertTrue(extended.get(2).compareTo(placed.get(2)) > 0, extended::toString);
          shell.check(
              "settle cart-17 -4",
              3,
              "rejected (exceeded): the settlement of stock exceeds the -3 that the hold"
                  + " reserved; place it with --excess to allow that\n");
          assertEquals("stock=-1", shell.hold("settle cart-17 -1").getLast());
          assertEquals("(replayed)", shell.hold("settle cart-17 -1").getLast());
          Result closed = shell.run("release cart-17");
          assertEquals(3, closed.code);
          assertEquals(
              "rejected (closed): hold cart-17 was settled and kept stock=-1\n", closed.out);
          shell.check("get stock", 0, "9\n");
          shell.check(
              "hold stock -10 --floor 0 --ttl 1m",
              3,
              "rejected (floor): stock is 9; the floor is 0\n");
          Result none = shell.run("release none");
          assertEquals(new Result(1, "", "no such hold: none\n"), none);

          assertEquals(0, shell.run("hold stock -2 --ttl 1m --id a").code);
          assertEquals(0, shell.run("hold stock -2 --ttl 1m --id b").code);
          assertEquals(2, shell.run("holds stock").out.lines().count());
          assertEquals(1, shell.run("holds stock --limit 1").out.lines().count());
          List<String> released = shell.hold("release " + bits("a"));
          assertEquals(List.of("released", "stock=0"), List.of(released.get(1), released.get(3)));
          assertEquals(bits("b"), shell.hold("holds stock").getFirst());
          assertEquals("released", shell.hold("holds --id a").get(1));
          assertEquals(1, shell.run("holds --id none").code);
          assertEquals(1, shell.run("holds other").code);
        });
  }

  private static String bits(String id) {
    return RequestId.of(id).bits();
  }

  private static List<String> idAndState(List<String> fields) {
    return List.of(RequestId.of(fields.getFirst()).bits(), fields.get(1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"directory", "server"})
  void oneHoldSpansSeveralCounters(String kind) throws Exception {
    on(
        kind,
        shell -> {
          List<String> placed =
              shell.hold("hold day 5 --add month=5 --ceiling 9 --ttl 1m --id call --excess");
          assertEquals(List.of("day=5", "month=5"), placed.subList(3, 5));
          shell.check(
              "hold month 5 --ceiling 9 --ttl 1m",
              3,
              "rejected (ceiling): month is 5; the ceiling is 9\n");
          shell.check("settle call 10", 3, "rejected (ceiling): day is 5\n");
          JsonNode settled = shell.json("settle call --add month=6 --add day=0");
          assertEquals(
              "[{\"counter\":\"day\",\"delta\":\"5\",\"settled\":\"0\"},"
                  + "{\"counter\":\"month\",\"delta\":\"5\",\"settled\":\"6\"}]",
              settled.path("counters").toString());
          assertEquals("settled", settled.path("state").asString());
          shell.check("get day month", 0, "0\tday\n6\tmonth\n");
        });
  }

  @Test
  void anExpiredHoldIsReleasedAndSettledLateIfAllowed() throws Exception {
    on(
        "server",
        shell -> {
          assertEquals(0, shell.run("hold a 5 --ttl 1s --id strict").code);
          assertEquals(0, shell.run("hold a 5 --ttl 1s --id late --late").code);
          Progress.await("the expiry", () -> shell.run("get a").out.equals("0\n"));
          assertEquals("expired", shell.hold("holds --id strict").get(1));
          Result closed = shell.run("settle strict 5");
          assertEquals(
              "rejected (closed): hold strict has expired; only a hold with --late, whose counters"
                  + " exist, can be settled after its expiry. Count what was used with quipu add\n",
              closed.out);
          Result released = shell.run("release strict");
          assertEquals(
              "rejected (closed): hold strict has expired; everything was returned\n",
              released.out);
          Result repeated = shell.run("hold a 5 --ttl 1s --id strict");
          assertEquals(3, repeated.code, "nothing is reserved");
          assertTrue(repeated.out.endsWith("(replayed)\n"), repeated.out);
          Result conflict = shell.run("hold a 5 --ttl 2s --id strict");
          assertEquals(3, conflict.code);
          assertTrue(conflict.out.contains("Read the hold before you use a new id"), conflict.out);
          assertEquals("(late)", shell.hold("settle late 4").getLast());
          shell.check("get a", 0, "4\n");
          shell.check("holds a", 0, "");
        });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "transfer a b 0|AMOUNT is 0; it must be more than 0. To move in the other direction, swap",
        "transfer a a 1|FROM and TO are the same counter, a",
        "transfer a b 1 --add c|--add is 'c'; use NAME=DELTA",
        "transfer a b 1 --add c=x|the delta is not an integer",
        "transfer a b 1 --add b=-1|delta must not be 0",
        "transfer a b x|'x' is not an integer",
        "hold a -1|Missing required option: '--ttl=TIME'",
        "hold a -1 --ttl 10|'10' is not a duration",
        "hold a -1 --ttl 100ms|ttl is 100ms; it must be from 1s to 366d",
        "hold a 0 --ttl 1m|delta must not be 0",
        "hold a 1 --ttl 1m --add a=1|two adds are to the counter a",
        "hold a 1 --ttl 1m --floor 2 --ceiling 1|floor 2 is above ceiling 1",
        "hold a -1,50 --ttl 1m|(DELTA): '-1,50' is not an integer or a decimal",
        "hold a -$1.00 --ttl 1m|(DELTA): '-$1.00' is not an integer or a decimal",
        "settle h -€2|(DELTA): '-€2' is not",
        "hold a -2 -x --ttl 1m|Unknown option: '-x'",
        "settle h|use either DELTA, for all counters of the hold, or --add",
        "settle h 1 --add a=1|use either DELTA",
        "settle h --add a=1 --add a=2|duplicate --add for a",
        "extend h 0s|ttl is 0s; it must be from 1s to 366d",
        "holds|use either NAME or --id ID",
        "holds a --id b|use either NAME or --id ID",
        "holds a --limit 0|--limit is 0; the minimum is 1",
        "hold a 1 --ttl 1m --store engine:x|--store excludes --data and --server",
        "outcome|Missing required parameter",
      })
  void aUsageErrorIsNamed(String command, String message) throws Exception {
    on(
        "directory",
        shell -> {
          Result result = shell.run(command);
          assertEquals(2, result.code, result::toString);
          assertTrue(result.err.contains(message), result::toString);
        });
  }
}
