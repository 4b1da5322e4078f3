package dev.quipu.server.cli.output;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option for the log format of a long-running command. */
public final class LogOption {
  @Option(
      names = "--log",
      paramLabel = "FORM",
      description =
          "Log format on standard error: json (ECS) or text (default: text on a terminal).")
  private LogSetup.@Nullable Form log;

  /** Applies the option. */
  public void use() {
    LogSetup.Form terminal = Terminal.isStandardError() ? LogSetup.Form.text : LogSetup.Form.json;
    LogSetup.use(log == null ? terminal : log);
  }
}
