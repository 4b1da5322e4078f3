package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.quipu.testkit.pace.Progress;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs the commands of one page in a directory that holds what pages use of a clone. */
final class DocShell implements AutoCloseable {
  private static final List<String> LINKS = List.of("quipu", "clients", "samples", "server");

  private final Path directory;
  private final Map<String, Process> servers = new HashMap<>();

  /** Opens a shell in a directory that is otherwise empty. */
  DocShell(Path root, Path directory) throws IOException {
    this.directory = directory;
    for (String link : LINKS) {
      Files.createSymbolicLink(directory.resolve(link), root.resolve(link));
    }
  }

  private ProcessBuilder shell(DocPage.Command command) {
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-c", command.shellText())
            .directory(directory.toFile())
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    String home = System.getProperty("java.home");
    builder.environment().put("JAVA_HOME", home);
    builder.environment().merge("PATH", home + "/bin", (path, bin) -> bin + ":" + path);
    // redis-cli prints what it prints on a terminal.
    builder.environment().put("FAKETTY", "1");
    return builder;
  }

  /** Runs a command, and fails if it ends or prints otherwise than the page shows. */
  void run(String page, DocPage.Command command) throws IOException, InterruptedException {
    String where = "%s:%d: %s".formatted(page, command.line(), command.text());
    if (command.isServer()) {
      startServer(where, command);
      return;
    }
    Path output = Files.createTempFile("quipu-docs", ".out");
    Path errors = Files.createTempFile("quipu-docs", ".err");
    try {
      Process process =
          shell(command).redirectOutput(output.toFile()).redirectError(errors.toFile()).start();
      if (!process.waitFor(Progress.STALL_MAX.toMillis(), TimeUnit.MILLISECONDS)) {
        process.toHandle().destroyForcibly();
        fail(where + " does not end");
      }
      String printed = normalized(Files.readString(output));
      String found =
          "%s%nprinted, with exit status %d:%n%s%non standard error:%n%s"
              .formatted(where, process.exitValue(), printed, Files.readString(errors));
      assertTrue(
          command.shows(printed),
          found + "\nbut the page shows:\n" + String.join("\n", command.output()));
      assertEquals(command.exit(), process.exitValue(), found);
    } finally {
      Files.delete(output);
      Files.delete(errors);
    }
  }

  private static String normalized(String printed) {
    StringBuilder lines = new StringBuilder();
    printed.lines().forEach(line -> lines.append(line.stripTrailing()).append('\n'));
    return lines.toString();
  }

  /** Kills the server of the same kind that the page started before, and waits for this one. */
  private void startServer(String where, DocPage.Command command) throws IOException {
    stop(command.server());
    Process process = shell(command).redirectErrorStream(true).start();
    servers.put(command.server(), process);
    BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
    List<String> printed = new ArrayList<>();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      printed.add(line);
      if (line.contains(" is ready: ")) {
        Thread.ofVirtual().start(() -> lines.lines().forEach(each -> {}));
        return;
      }
    }
    fail(where + " ended before it was ready:\n" + String.join("\n", printed));
  }

  /** Kills a server, as kill -9 does. */
  private void stop(String server) {
    Process running = servers.remove(server);
    if (running != null) {
      running.toHandle().destroyForcibly();
      running.onExit().join();
    }
  }

  @Override
  public void close() throws IOException {
    List.copyOf(servers.keySet()).forEach(this::stop);
    for (String link : LINKS) {
      Files.delete(directory.resolve(link)); // JUnit warns about links out of its directory
    }
  }
}
