package dev.quipu.server.cli.output;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** How a command prints: data on standard output, all else on standard error. */
public final class Output {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  /** Two members in this order: that of {@code Map.of} is another in every process. */
  public static Map<String, Object> members(String first, Object one, String second, Object two) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put(first, one);
    members.put(second, two);
    return members;
  }

  /** Prints either the text or the members. */
  public void print(String text, Map<String, ?> members) {
    if (json) {
      printJson(members);
    } else {
      printLine(text);
    }
  }

  /**
   * Prints what has no form in JSON.
   *
   * @throws IllegalArgumentException if JSON was asked for
   */
  public void printText(String text) {
    if (json) {
      throw new IllegalArgumentException("--json cannot be had together with another form");
    }
    printLine(text);
  }

  /** Prints JSON whatever was asked for. */
  public void printJson(Map<String, ?> members) {
    printLine(MAPPER.writeValueAsString(members));
  }

  /**
   * A writer keeps its failures to itself: without a look at them, an export to a full disk would
   * end well.
   */
  private void printLine(String text) {
    PrintWriter out = line().getOut();
    out.println(text);
    if (out.checkError()) {
      throw new UncheckedIOException("cannot write to standard output", new IOException());
    }
  }

  /** Prints what is not data. */
  public void note(String text) {
    PrintWriter err = line().getErr();
    err.println(text);
    err.flush();
  }

  private CommandLine line() {
    return command.commandLine();
  }
}
