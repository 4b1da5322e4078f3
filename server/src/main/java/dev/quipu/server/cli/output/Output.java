package dev.quipu.server.cli.output;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** Prints the output of a command: data to standard output, notes to standard error. */
public final class Output {
  /** The option for JSON. */
  public static final String JSON = "--json";

  private static final int TOGETHER_LINES_MAX = 1_000;

  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  private boolean isTogether;
  private int unflushed; // lines

  @Option(names = JSON, description = "Print JSON, also if the command fails.")
  private boolean json;

  /** Returns two members in this order, which {@code Map.of} would not keep. */
  public static Map<String, Object> members(String first, Object one, String second, Object two) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put(first, one);
    members.put(second, two);
    return members;
  }

  /** Returns a text in one line: backslashes, tabs and line breaks are escaped. */
  public static String oneLine(String text) {
    return text.replace("\\", "\\\\")
        .replace("\t", "\\t")
        .replace("\n", "\\n")
        .replace("\r", "\\r");
  }

  /** Prints either the text or the members. */
  public void print(String text, Map<String, ?> members) {
    if (json) {
      printJson(members);
    } else {
      printLine(text);
    }
  }

  /** Prints either the text or the members, and makes only this one. */
  public void print(Supplier<String> text, Supplier<Map<String, ?>> members) {
    if (json) {
      printJson(members.get());
    } else {
      printLine(text.get());
    }
  }

  /**
   * Prints text that has no JSON form.
   *
   * @throws IllegalArgumentException if JSON was requested
   */
  public void printText(String text) {
    if (json) {
      throw new IllegalArgumentException("--json cannot be combined with another format");
    }
    printLine(text);
  }

  /** Returns whether results are printed as JSON. */
  public boolean isJson() {
    return json;
  }

  /** Prints JSON, even without --json. */
  public void printJson(Map<String, ?> members) {
    printJsonLine(json(members));
  }

  /** Prints a line that {@link #json} returned. */
  public void printJsonLine(String json) {
    printLine(json);
  }

  /** Returns the JSON that is printed for these members. */
  public static String json(Map<String, ?> members) {
    return MAPPER.writeValueAsString(members);
  }

  /**
   * Runs an action that prints many lines. A line on its own is flushed, since the next one may
   * take long; of these, each thousand together, for a call of the system costs more than a line.
   */
  public void together(Runnable action) {
    isTogether = true;
    try {
      action.run();
    } finally {
      isTogether = false;
      flush();
    }
  }

  private void printLine(String text) {
    PrintWriter out = line().getOut();
    out.print(text);
    out.print(System.lineSeparator()); // println would flush
    if (!isTogether || ++unflushed == TOGETHER_LINES_MAX) {
      flush();
    }
  }

  /** Checks for errors, since a PrintWriter does not throw: an export to a full disk must fail. */
  private void flush() {
    unflushed = 0;
    if (line().getOut().checkError()) { // which flushes
      throw new UncheckedIOException("cannot write to standard output", new IOException());
    }
  }

  /** Prints a note to standard error: the text, or with --json an object with it. */
  public void note(String text) {
    note(line(), json ? MAPPER.writeValueAsString(Map.of("note", text)) : text);
  }

  /** Prints the request id of a call whose outcome may become unknown to standard error. */
  public void requestId(String id) {
    note(line(), json ? MAPPER.writeValueAsString(Map.of("requestId", id)) : "request id: " + id);
  }

  /** Prints why a command fails with {@link ExitCode#FAILED}, such as a counter that is missing. */
  public void failed(String message) {
    error(line(), json, ExitCode.FAILED, message);
  }

  /** Prints a note of a command without a result to standard error. */
  public static void note(CommandLine line, String text) {
    PrintWriter err = line.getErr();
    err.println(text);
    err.flush();
  }

  /**
   * Prints the error that ends a command to standard error: the message, or with --json an object
   * with the exit code, its meaning and the message.
   */
  public static void error(CommandLine line, boolean isJson, int exitCode, String message) {
    if (!isJson) {
      note(line, message);
      return;
    }
    Map<String, Object> error = members("exit", exitCode, "type", ExitCode.type(exitCode));
    error.put("message", message.replaceFirst("^quipu: ", ""));
    note(line, MAPPER.writeValueAsString(Map.of("error", error)));
  }

  private CommandLine line() {
    return command.commandLine();
  }
}
