package dev.quipu.server.cli.output;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option that says how a command that runs on writes its log. */
public final class LogOption {
  @Option(
      names = "--log",
      paramLabel = "FORM",
      description =
          "Form of the log on standard error: json or text (default: text on a terminal, else json).")
  private LogSetup.@Nullable Form log;

  /** Sets the log up so. */
  public void use() {
    LogSetup.Form terminal = Terminal.isStandardError() ? LogSetup.Form.text : LogSetup.Form.json;
    LogSetup.use(log == null ? terminal : log);
  }
}
