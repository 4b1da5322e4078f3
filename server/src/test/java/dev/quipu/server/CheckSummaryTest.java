package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The summaries of skipped and of failed tests at the end of {@code ./dev check}. */
final class CheckSummaryTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern SKIP =
      Pattern.compile(
          "(?:assumeTrue\\(\\s*(?:\\w+\\.isPresent\\(\\)|Files\\.exists\\(\\w+\\)),|\\babort\\()"
              + "\\s*\"([^\"]*)\"\\s*\\)");
  private static final String NOT_APPLICABLE = "<skipped message=\"t does not support bounds\"/>";
  private static final String EMULATOR =
      "<skipped message=\"Assumption failed: no Datastore emulator: the Cloud SDK has it\"/>";
  private static final String MEMCACHED =
      "<skipped message=\"Assumption failed: no memcached on this machine\"/>";

  @TempDir Path directory;

  private record Result(int code, String line) {}

  private Result skipped(boolean inCi, String... skips) throws Exception {
    return summary("skipped.sh", inCi, skips);
  }

  private Result summary(String script, boolean inCi, String... results) throws Exception {
    StringBuilder report = new StringBuilder("<testsuite>\n");
    for (String result : results) {
      report.append("<testcase name=\"x\" classname=\"dev.quipu.SomeTest\" time=\"0.1\">\n");
      report.append(result).append("\n</testcase>\n");
    }
    Path reports = Files.createDirectories(directory.resolve("a/target/surefire-reports"));
    Files.writeString(reports.resolve("TEST-a.xml"), report);
    ProcessBuilder builder =
        new ProcessBuilder(
                "bash", ROOT.resolve("tools").resolve(script).toString(), directory.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().put("CI", Boolean.toString(inCi));
    Process process = builder.start();
    String line =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    return new Result(process.waitFor(), line);
  }

  @Test
  void oneLineNamesWhatIsMissing() throws Exception {
    String begin = "skipped for want of a component: ";
    assertEquals(new Result(0, begin + "none"), skipped(true, NOT_APPLICABLE));
    assertEquals(
        new Result(0, begin + "memcached: 2 (SomeTest); Datastore emulator: 1 (SomeTest)"),
        skipped(false, MEMCACHED, EMULATOR, MEMCACHED, NOT_APPLICABLE));
  }

  @Test
  void ciFailsUnlessTheComponentCannotBeInstalled() throws Exception {
    assertEquals(0, skipped(true, EMULATOR).code);
    assertEquals(1, skipped(true, EMULATOR, MEMCACHED).code);
  }

  @Test
  void whatFailedIsNamedAtTheEnd() throws Exception {
    String failure =
        "<failure message=\"expected: &lt;1&gt; but was: &lt;2&gt;\" type=\"x.Failed\">trace";
    String error = "<error message=\"no&#10;reply\" type=\"java.io.IOException\">trace";
    String of = "failed: dev.quipu.SomeTest.x: ";
    assertEquals(
        new Result(0, of + "expected: <1> but was: <2>\n" + of + "no reply"),
        summary("failed.sh", true, "", failure, MEMCACHED, error));
    assertEquals(new Result(0, ""), summary("failed.sh", true, "", MEMCACHED));
  }

  @Test
  void everyReasonForASkipIsListed() throws IOException {
    List<Pattern> reasons =
        Files.readAllLines(ROOT.resolve("tools/skipped-components.txt")).stream()
            .filter(line -> !line.startsWith("#"))
            .map(line -> Pattern.compile(line.split("\\|", 3)[2]))
            .toList();
    List<String> found = new ArrayList<>();
    List<String> unlisted = new ArrayList<>();
    try (Stream<Path> files = Files.walk(ROOT)) {
      for (Path file :
          files.filter(it -> it.toString().matches(".*/src/test/.*\\.java")).toList()) {
        Matcher skip = SKIP.matcher(Files.readString(file));
        while (skip.find()) {
          String reason = skip.group(1);
          found.add(reason);
          if (reasons.stream().noneMatch(each -> each.matcher(reason).find())) {
            unlisted.add(ROOT.relativize(file) + ": " + reason);
          }
        }
      }
    }
    assertFalse(found.isEmpty(), "no test is ever skipped");
    assertEquals(List.of(), unlisted, "add the component to tools/skipped-components.txt");
  }
}
