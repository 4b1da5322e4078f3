package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The modules that ./quipu builds, and whose sources it compares to the age of its jar. */
final class LauncherTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern MODULE = Pattern.compile("<module>(.*?)</module>");
  private static final Pattern ARTIFACT =
      Pattern.compile("</parent>\\s*<artifactId>(.*?)</artifactId>");
  private static final Pattern DEPENDENCY =
      Pattern.compile(
          "<groupId>dev\\.quipu</groupId>\\s*<artifactId>([^<]*)</artifactId>"
              + "\\s*<version>\\$\\{project\\.version}</version>\\s*</dependency>"); // no scope

  @Test
  void itBuildsWhatTheServerNeeds() throws Exception {
    Map<String, String> modules = new HashMap<>(); // by artifact
    Matcher module = MODULE.matcher(pom("."));
    while (module.find()) {
      Matcher artifact = ARTIFACT.matcher(pom(module.group(1)));
      if (artifact.find()) {
        modules.put(artifact.group(1), module.group(1));
      }
    }
    Set<String> needed = new TreeSet<>();
    Deque<String> left = new ArrayDeque<>(Set.of("server"));
    while (!left.isEmpty()) {
      String next = left.pop();
      if (needed.add(next)) {
        Matcher dependency = DEPENDENCY.matcher(pom(next));
        while (dependency.find()) {
          left.add(Objects.requireNonNull(modules.get(dependency.group(1))));
        }
      }
    }
    assertEquals(needed, built());
  }

  private static String pom(String module) throws Exception {
    return Files.readString(ROOT.resolve(module).resolve("pom.xml"));
  }

  /** Returns the array in the script, as the shell reads it. */
  private static Set<String> built() throws Exception {
    String script =
        "eval \"$(sed -n '/^modules=(/,/)$/p' ../quipu)\"; printf '%s\\n' \"${modules[@]}\"";
    Process shell = new ProcessBuilder("bash", "-c", script).redirectErrorStream(true).start();
    String printed = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, shell.waitFor(), printed);
    return new TreeSet<>(printed.lines().toList());
  }
}
