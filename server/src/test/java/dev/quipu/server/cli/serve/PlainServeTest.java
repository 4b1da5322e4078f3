package dev.quipu.server.cli.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.server.cli.QuipuCommand;
import dev.quipu.server.cli.output.ExitCode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The short way to start a server sets the same options as the command, or leaves it to it. */
final class PlainServeTest {
  /** Members that hold no option. */
  private static final Set<String> NO_OPTIONS = Set.of(".command", ".startedNanos", ".notes");

  @TempDir Path temporary;

  @Test
  void itSetsWhatTheCommandSets() throws Exception {
    List<String[]> plain =
        List.of(
            arguments("serve"),
            arguments("serve", "--data", "a b"),
            arguments("serve", "--http", "0"),
            arguments("serve", "--http", "07080", "--data", "/a=b"),
            arguments("serve", "--data", "serve", "--http", "99999"));
    for (String[] each : plain) {
      Object parsed =
          QuipuCommand.commandLine(each).parseArgs(each).subcommand().commandSpec().userObject();
      Optional<ServeCommand> command = PlainServe.command(each);
      assertTrue(command.isPresent(), String.join(" ", each));
      assertEquals(options(parsed), options(command.get()), String.join(" ", each));
    }
    ServeCommand other = PlainServe.command("serve", "--http", "1").orElseThrow();
    assertNotEquals(options(PlainServe.command("serve").orElseThrow()), options(other));
  }

  @Test
  void itLeavesTheUnusualToTheCommand() {
    List<String[]> unusual =
        List.of(
            arguments(),
            arguments("get"),
            arguments("--help"),
            arguments("serve", "--help"),
            arguments("serve", "data"),
            arguments("serve", "--data"),
            arguments("serve", "--data=a"),
            arguments("serve", "--data", ""),
            arguments("serve", "--data", "--http"),
            arguments("serve", "--data", "@file"),
            arguments("serve", "--data", "a\0b"),
            arguments("serve", "--data", "a", "--data", "b"),
            arguments("serve", "--http", "x"),
            arguments("serve", "--http", "-1"),
            arguments("serve", "--http", "100000"),
            arguments("serve", "--resp", "0"),
            arguments("serve", "@file"),
            arguments("serve", "--data", "a", "--insecure"));
    for (String[] each : unusual) {
      assertTrue(PlainServe.command(each).isEmpty(), String.join(" ", each));
      assertEquals(OptionalInt.empty(), PlainServe.run(Map.of(), each));
    }
  }

  @Test
  void aPortInUseLeavesNoNewDirectory() throws Exception {
    Path directory = temporary.resolve("new");
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      for (String option : List.of("--http=", "--http=0 --resp=", "--http=0 --memcached=")) {
        String[] serve = ("serve --data=" + directory + " " + option + port).split(" ");
        CommandLine line = QuipuCommand.commandLine(serve);
        StringWriter errors = new StringWriter();
        line.setErr(new PrintWriter(errors));
        assertNotEquals(ExitCode.OK, line.execute(serve), option);
        assertTrue(
            errors.toString().contains("cannot listen on 127.0.0.1 port " + port),
            errors::toString);
        assertTrue(Files.notExists(directory), option);
      }
    }
  }

  @Test
  void itFailsAsTheCommandFails() throws Exception {
    Path file = Files.createFile(temporary.resolve("file"));
    for (String[] each :
        List.of(
            arguments("serve", "--data", file.toString(), "--http", "0"),
            arguments("serve", "--data", file.toString(), "--http", "65536"))) {
      CommandLine line = QuipuCommand.commandLine(each);
      assertEquals(OptionalInt.of(line.execute(each)), PlainServe.run(Map.of(), each));
      assertNotEquals(OptionalInt.of(ExitCode.OK), PlainServe.run(Map.of(), each));
    }
  }

  private static String[] arguments(String... arguments) {
    return arguments;
  }

  /** Returns all options by their field, also those of mixins. */
  private static Map<String, String> options(Object command) throws Exception {
    Map<String, String> options = new TreeMap<>();
    add("", command, options);
    return options;
  }

  private static void add(String path, @Nullable Object value, Map<String, String> into)
      throws Exception {
    if (value == null
        || value instanceof Enum
        || !value.getClass().getName().startsWith("dev.quipu.server")) {
      into.put(path, String.valueOf(value));
      return;
    }
    for (Field field : value.getClass().getDeclaredFields()) {
      String name = path + "." + field.getName();
      if (!Modifier.isStatic(field.getModifiers()) && !NO_OPTIONS.contains(name)) {
        field.setAccessible(true);
        add(name, field.get(value), into);
      }
    }
  }
}
