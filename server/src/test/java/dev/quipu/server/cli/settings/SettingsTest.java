package dev.quipu.server.cli.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.server.cli.QuipuCommand;
import dev.quipu.server.cli.output.ExitCode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** Options of variables and of a file. */
final class SettingsTest {
  /** Variables with a meaning of their own. */
  private static final Set<String> RESERVED =
      Set.of("QUIPU_TOKEN", "QUIPU_SESSION_KEY", "QUIPU_NUMBER", "QUIPU_REQUEST_ID");

  @TempDir Path directory;

  private Path file(String text) throws Exception {
    return Files.writeString(directory.resolve("quipu.yaml"), text);
  }

  /** Returns the value of an option of {@code serve}. */
  private static @Nullable Object value(
      String option, Map<String, String> environment, String... arguments) {
    CommandLine line = QuipuCommand.commandLine(environment, arguments);
    line.parseArgs(arguments);
    return below(line, arguments[0]).getCommandSpec().findOption(option).getValue();
  }

  private static CommandLine below(CommandLine line, String name) {
    return Objects.requireNonNull(line.getSubcommands().get(name));
  }

  private static String errorOf(Map<String, String> environment, String... arguments) {
    StringWriter err = new StringWriter();
    CommandLine line = QuipuCommand.commandLine(environment, arguments);
    line.setErr(new PrintWriter(err));
    assertEquals(ExitCode.USAGE, line.execute(arguments), err::toString);
    return err.toString().lines().findFirst().orElse("");
  }

  private static void addAll(CommandLine line, String path, Map<String, CommandLine> into) {
    line.getSubcommands()
        .forEach((name, each) -> {
          into.put(path + name, each);
          addAll(each, path + name + " ", into);
        });
  }

  /** Each option either has the value of its variable, or its error names the variable. */
  @Test
  void everyOptionHasAVariableAndAKeyInTheFile() throws Exception {
    Map<String, CommandLine> commands = new TreeMap<>();
    addAll(QuipuCommand.commandLine(), "", commands);
    int options = 0;
    for (Map.Entry<String, CommandLine> command : commands.entrySet()) {
      for (OptionSpec option : command.getValue().getCommandSpec().options()) {
        String name = option.longestName();
        if (Set.of("--help", "--version", "--config").contains(name)) {
          continue;
        }
        options++;
        String variable = "QUIPU_" + name.substring(2).replace('-', '_').toUpperCase(Locale.ROOT);
        assertFalse(RESERVED.contains(variable), variable);
        String text = option.arity().max() == 0 ? "true" : "7";
        assertApplied(command.getKey(), name, variable, Map.of(variable, text));
        Path file = file("%s:\n  %s: %s\n".formatted(command.getKey(), name.substring(2), text));
        String place = file + ", line 2";
        assertApplied(command.getKey(), name, place, Map.of("QUIPU_CONFIG", file.toString()));
        assertTrue(
            !option.isMultiValue() || option.splitRegex().equals(","),
            name + " must be separable by commas");
      }
    }
    assertTrue(options > 200, "only " + options);
  }

  private static void assertApplied(
      String command, String option, String origin, Map<String, String> environment) {
    String[] words = command.split(" ", -1);
    CommandLine line = QuipuCommand.commandLine(environment, words);
    CommandLine last = line;
    for (String word : words) {
      last = below(last, word);
    }
    OptionSpec found = last.getCommandSpec().findOption(option);
    try {
      line.parseArgs(words);
    } catch (ParameterException e) {
      if (!String.valueOf(e.getMessage()).startsWith("Missing required")) {
        StringWriter err = new StringWriter();
        line.setErr(new PrintWriter(err)).execute(words);
        assertTrue(
            err.toString().contains("(%s is set by %s)".formatted(option, origin)),
            command + " " + option + ": " + err);
        return;
      }
    }
    Object value = found.getValue();
    assertTrue(
        Set.of("7", "7.0", "true", "[7]").contains(String.valueOf(value)),
        command + " " + option + ": " + value);
  }

  @Test
  void anArgumentOverridesAVariableAndThatTheFileAndThatTheDefault() throws Exception {
    String file = file("serve:\n  http: 3\n  bind: '::1'\n").toString();
    Map<String, String> environment = Map.of("QUIPU_CONFIG", file, "QUIPU_HTTP", "2");
    assertEquals(1, value("--http", environment, "serve", "--http", "1"));
    assertEquals(2, value("--http", environment, "serve"));
    assertEquals(3, value("--http", Map.of("QUIPU_CONFIG", file), "serve"));
    assertEquals(3, value("--http", Map.of("QUIPU_HTTP", ""), "serve", "--config", file));
    assertEquals(3, value("--http", Map.of("QUIPU_CONFIG", "none"), "serve", "--config=" + file));
    assertEquals("::1", value("--bind", environment, "serve"));
    assertEquals(7080, value("--http", Map.of(), "serve"));
  }

  @Test
  void theLocationOfDataIsOverriddenAsAWhole() throws Exception {
    String file = file("serve:\n  store: 'memory:'\nadd:\n  data: c\n").toString();
    Map<String, String> variable = Map.of("QUIPU_DATA", "b", "QUIPU_CONFIG", file);
    assertEquals(Path.of("b"), value("--data", variable, "serve"));
    assertNull(value("--store", variable, "serve"));
    assertNull(value("--data", variable, "serve", "--store", "memory:"));
    assertNull(value("--data", variable, "add", "a", "1", "--server=http://localhost"));
    assertEquals("memory:", value("--store", Map.of("QUIPU_CONFIG", file), "serve"));
  }

  @Test
  void listsAndFlagsAreRead() throws Exception {
    String[] serve = {
      "serve", "--config", file("serve:\n  allow-origin: [a, b]\n  insecure: true").toString()
    };
    assertEquals(List.of("a", "b"), value("--allow-origin", Map.of(), serve));
    assertEquals(true, value("--insecure", Map.of(), serve));
    assertEquals(
        List.of("c", "d"), value("--allow-origin", Map.of("QUIPU_ALLOW_ORIGIN", "c,d"), serve));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "serve:\\n  data: a\\n  htpp: 1 | line 3: 'htpp' is not an option of serve",
        "serve:\\n  help: true | line 2: 'help' is not an option of serve",
        "serves:\\n  http: 1 | line 1: unknown command 'serves'",
        "serve:\\n  http: 1\\n  http: 2 | line 3",
        "serve:\\n  http: | line 2: 'http' must have a value",
        "serve:\\n  http: {a: b} | line 2: 'http' must have a value",
        "serve:\\n  allow-origin: ['a,b'] | line 2: an element of 'allow-origin' contains a comma",
        "serve: 1 | line 1: 'serve' must be a mapping",
        "- a | line 1: the file must be a mapping",
        "serve:\\n  data: 'a | line 2",
        "serve:\\n  http: x | 'x' is not an integer",
        "serve:\\n\\n  http: 99999 | line 3)",
      })
  void anErrorNamesFileAndLine(String text, String expected) throws Exception {
    Path file = file(text.replace("\\n", "\n"));
    String error = errorOf(Map.of("QUIPU_CONFIG", file.toString()), "serve");
    assertTrue(error.contains(expected), error);
    assertTrue(error.contains(file.toString()), error);
  }

  @Test
  void anErrorNamesTheVariable() {
    String error = errorOf(Map.of("QUIPU_HTTP", "99999"), "serve");
    assertTrue(error.endsWith("(--http is set by QUIPU_HTTP)"), error);
    assertTrue(errorOf(Map.of(), "serve", "--config", "none").contains("cannot read none"));
  }

  @Test
  void aFileOfArgumentsCannotNameTheFile() throws Exception {
    Path arguments =
        Files.writeString(directory.resolve("a"), "--config\n" + file("add:\n  id: a"));
    assertTrue(errorOf(Map.of(), "add", "a", "1", "@" + arguments).contains("must be an argument"));
  }

  @Test
  void helpNeedsNoFile() {
    StringWriter out = new StringWriter();
    String[] arguments = {"serve", "--help", "--config", "none"};
    CommandLine line = QuipuCommand.commandLine(Map.of(), arguments);
    assertEquals(0, line.setOut(new PrintWriter(out)).execute(arguments));
    assertTrue(out.toString().contains("--config=FILE"), out::toString);
  }

  @Test
  void aPasswordAmongTheArgumentsCausesAWarning() {
    List<String> warned = new ArrayList<>();
    for (String uri : List.of("redis://a:b@host", "redis://a@host", "redis://host:1/a@b:c@d")) {
      new Settings(Map.of(), Set.of(), "serve", "--store", uri).warning().ifPresent(warned::add);
      new Settings(Map.of(), Set.of(), "--store=" + uri).warning().ifPresent(warned::add);
    }
    assertEquals(2, warned.size(), warned::toString);
  }
}
