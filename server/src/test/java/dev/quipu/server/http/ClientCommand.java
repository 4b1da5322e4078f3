package dev.quipu.server.http;

import dev.quipu.Quipu;
import dev.quipu.server.cli.QuipuCommand;
import dev.quipu.time.Clock;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;

/** Runs commands against a server, in this process. */
final class ClientCommand {
  private ClientCommand() {}

  /**
   * Runs a subcommand of a command; on the server, unless the words name a data directory.
   *
   * @return the exit code and all that it printed
   */
  static String run(HttpServer server, String command, String... words) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line =
        QuipuCommand.commandLine(path -> Quipu.builder().directory(path).build(), Clock.system());
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    List<String> all = new ArrayList<>(List.of(words));
    all.addFirst(command);
    if (!all.contains("--data")) {
      all.add("--server=http://127.0.0.1:" + server.address().getPort());
    }
    int code = line.execute(all.toArray(String[]::new));
    return "%d %s%s".formatted(code, out, err).replace(System.lineSeparator(), "\n").strip();
  }
}
