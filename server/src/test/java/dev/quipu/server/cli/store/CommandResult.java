package dev.quipu.server.cli.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.server.cli.QuipuCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** The output and exit code of a command. */
record CommandResult(int code, String out, String err) {
  void expectError(int code, String part) {
    assertEquals(code, this.code, toString());
    assertTrue(err.contains(part), toString());
  }

  /** Runs a command in this process. */
  static CommandResult run(Object... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = QuipuCommand.commandLine();
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    String[] texts = new String[arguments.length];
    for (int i = 0; i < texts.length; i++) {
      texts[i] = arguments[i].toString();
    }
    return new CommandResult(line.execute(texts), out.toString(), err.toString());
  }
}
