package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.technique.Techniques;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code verify}, {@code advise} and {@code demo}. */
final class ProofCommandsTest {
  @TempDir Path temporary;

  /** The output and exit code of a command. */
  private record CommandResult(int code, String out, String err) {
    JsonNode json() {
      return JsonMapper.builder().build().readTree(out);
    }
  }

  private static CommandResult run(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = QuipuCommand.commandLine();
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    return new CommandResult(line.execute(arguments), out.toString(), err.toString());
  }

  @Test
  void aCountThatIsOffEndsWith8AndSaysByHowMuch() {
    String engine = "engine:" + temporary.resolve("data");
    CommandResult result =
        run(
            "verify",
            "--technique",
            "atomic-add",
            "--store",
            engine,
            "--seconds",
            "0.5",
            "--rate",
            "0.1",
            "--give-up",
            "--faults",
            "lost-request",
            "--json");
    assertEquals(ExitCode.DRIFT, result.code, result.err);
    JsonNode report = result.json();
    long lost = report.path("faults").path("lost-request").asLong();
    assertTrue(lost > 0);
    assertEquals(report.path("unknownLeft").asLong(), report.path("under").asLong());
    assertEquals(0, report.path("over").asLong());
    assertEquals(
        report.path("expected").asLong() - report.path("under").asLong(),
        report.path("found").asLong());
  }

  @Test
  void aSimulationOfNothingIsRejectedAndSoAreOptionsThatItIgnores() {
    CommandResult none = run("verify", "--technique", "marker-item", "--seeds", "0");
    assertEquals(ExitCode.USAGE, none.code);
    assertTrue(none.err.contains("--seeds is 0; it must be at least 1"), none.err);
    CommandResult faults = run("verify", "--technique", "marker-item", "--faults", "delayed");
    assertEquals(ExitCode.USAGE, faults.code);
    assertTrue(faults.err.contains("--faults needs --store"), faults.err);
    CommandResult seeds =
        run("verify", "--technique", "marker-item", "--store", "memory:", "--seeds", "2");
    assertEquals(ExitCode.USAGE, seeds.code);
    assertTrue(seeds.err.contains("--seeds cannot be combined with --store"), seeds.err);
  }

  @Test
  void aMissingFileOfPricesIsNamed() {
    Path file = temporary.resolve("none");
    CommandResult result = run("advise", "--prices", file.toString());
    assertEquals(ExitCode.USAGE, result.code);
    assertTrue(result.err.contains("cannot read " + file + " (--prices)"), result.err);
  }

  @Test
  void aTechniqueWithIdsIsExactInTheReport() throws Exception {
    Path page = temporary.resolve("page.html");
    CommandResult result =
        run(
            "verify",
            "--technique",
            "marker-item",
            "--store",
            "memory:",
            "--seconds",
            "0.5",
            "--shards",
            "4",
            "--faults",
            "lost-reply,duplicate,delayed,client-repeats",
            "--html",
            page.toString());
    assertEquals(0, result.code, result.out + result.err);
    assertTrue(result.out.startsWith("sharded-marker-item on memory"), result.out);
    assertTrue(result.out.contains("exact"), result.out);
    String html = Files.readString(page);
    assertTrue(html.contains("<svg") && html.contains("Exact."), html);
    assertFalse(html.contains("NaN"), html);
  }

  @Test
  void aRunWithoutFaultsVerifiesNothing() {
    CommandResult result =
        run(
            "verify",
            "--technique",
            "atomic-add",
            "--store",
            "memory:",
            "--seconds",
            "0.1",
            "--rate",
            "0.0000000001");
    assertEquals(1, result.code);
    assertTrue(result.err.contains("nothing was verified"), result.err);
  }

  @Test
  void usageErrorsListTheKnownValues() {
    CommandResult fault =
        run("verify", "--technique", "atomic-add", "--store", "memory:", "--faults", "rain");
    assertEquals(2, fault.code);
    assertTrue(fault.err.contains("client-repeats"), fault.err);
    assertEquals(2, run("verify", "--technique", "magic").code);
    assertEquals(2, run("verify", "--technique", "atomic-add", "--html", "x").code);
    assertEquals(2, run("advise", "--store", "paper").code);
    assertEquals(2, run("advise", "--regions", "0").code);
  }

  @Test
  void adviceNamesATechniqueItsPriceAndTheCode() {
    CommandResult result =
        run(
            "advise",
            "--store",
            "dynamodb",
            "--rate",
            "50",
            "--floor",
            "0",
            "--retry-window",
            "24h",
            "--json");
    assertEquals(0, result.code, result.err);
    JsonNode advice = result.json();
    assertEquals("marker-item", advice.path("technique").asString());
    JsonNode best = advice.path("options").path(0);
    assertTrue(best.path("dollarsPerMonth").asDouble() > 0);
    assertTrue(best.path("java").asString().contains("new MarkerItem("));
    assertEquals(Techniques.ALL.size(), advice.path("options").size());
  }

  @Test
  void noTechniqueMeetsAllRequirements() {
    CommandResult result =
        run("advise", "--store", "memcached", "--floor", "0", "--retry-window", "1h");
    assertEquals(1, result.code);
    assertTrue(result.out.startsWith("No technique"), result.out);
    assertTrue(result.out.contains("memcached lacks"), result.out);
  }

  @Test
  void missingOptionsArePrompted() {
    InputStream before = System.in;
    System.setIn(
        new ByteArrayInputStream("50\n10\n\n\n\n24h\n\n\n".getBytes(StandardCharsets.UTF_8)));
    try {
      CommandResult result = run("advise", "--ask", "--store", "redis");
      assertEquals(0, result.code, result.err);
      assertTrue(result.err.contains("Adds per second"), result.err);
      assertFalse(result.err.contains("The store"), result.err);
      assertTrue(result.out.contains("price unknown"), result.out);
    } finally {
      System.setIn(before);
    }
  }

  @Test
  void aDemoPrintsWhatEachTechniqueCounts() {
    CommandResult result = run("demo", "--seed", "3", "add", "drop-reply");
    assertEquals(ExitCode.OK, result.code, result.err);
    assertEquals(
        """
        ACTION\tTRUE\tatomic-add:give-up\tatomic-add\tmarker-item
        add\t1\t1\t1\t1
        drop-reply\t2\t2\t3 (+1)\t2
        """,
        result.out);
    JsonNode json = run("demo", "--techniques", "token-set", "--json", "drop-reply").json();
    assertEquals("{\"token-set\":\"1\"}", json.path("counts").toString());
    CommandResult wrong = run("demo", "drop");
    assertEquals(ExitCode.USAGE, wrong.code);
    assertTrue(wrong.err.contains("use add, drop-reply, deliver-twice"), wrong.err);
  }
}
