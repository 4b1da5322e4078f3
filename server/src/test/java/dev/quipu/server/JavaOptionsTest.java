package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The options that the launchers give to the JVM. */
final class JavaOptionsTest {
  private static final Path FILE = Path.of("../tools/java-options.sh").toAbsolutePath();

  @Test
  void javaOptsComeLastAndAreNoFileNames() throws Exception {
    List<String> options = options("short", " -Xmx1g  -Dname=/*");
    assertEquals(
        List.of("-Xmx1g", "-Dname=/*"), options.subList(options.size() - 2, options.size()));
    assertTrue(options.contains("-XX:+UseSerialGC"), options::toString);
  }

  @ParameterizedTest
  @ValueSource(strings = {"long", "import", "short", "get"})
  void theJvmAcceptsTheOptionsAlsoWithAnotherCollector(String kind) throws Exception {
    for (String javaOpts : List.of("", "-XX:+UseParallelGC", "-Xmx1g -XX:+UseZGC -Da=b")) {
      List<String> options = options(kind, javaOpts);
      ProcessBuilder builder = new ProcessBuilder(System.getProperty("java.home") + "/bin/java");
      builder.command().addAll(options);
      builder.command().add("-version");
      Process version = builder.redirectErrorStream(true).start();
      String output = new String(version.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertEquals(0, version.waitFor(), output);
    }
  }

  private static List<String> options(String kind, String javaOpts) throws Exception {
    String script =
        "set -euo pipefail; . '%s'; java_options %s; printf '%%s\\n' \"${options[@]}\""
            .formatted(FILE, kind);
    ProcessBuilder builder = new ProcessBuilder("bash", "-c", script);
    builder.environment().put("JAVA_OPTS", javaOpts);
    Process bash = builder.redirectErrorStream(true).start();
    String output = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, bash.waitFor(), output);
    return output.lines().toList();
  }
}
