package dev.quipu.server.cli;

import java.io.PrintWriter;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** How a command prints: data on standard output, all else on standard error. */
final class Output {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  /** Prints either the text or the members. */
  void print(String text, Map<String, ?> members) {
    PrintWriter out = line().getOut();
    out.println(json ? MAPPER.writeValueAsString(members) : text);
    out.flush();
  }

  /** Prints JSON whatever was asked for. */
  void printJson(Map<String, ?> members) {
    PrintWriter out = line().getOut();
    out.println(MAPPER.writeValueAsString(members));
    out.flush();
  }

  /** Prints what is not data. */
  void note(String text) {
    PrintWriter err = line().getErr();
    err.println(text);
    err.flush();
  }

  private CommandLine line() {
    return command.commandLine();
  }
}
