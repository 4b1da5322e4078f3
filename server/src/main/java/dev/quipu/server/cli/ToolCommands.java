package dev.quipu.server.cli;

import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.cli.output.ResultCommand;
import dev.quipu.server.cli.output.Version;
import java.util.Map;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Commands about the command line itself. */
final class ToolCommands {
  private ToolCommands() {}

  @Command(
      name = "completion",
      description = "Print a shell completion script.",
      footer = {"", "Example:", "  source <(quipu completion bash)"})
  static final class CompletionCommand extends ResultCommand {
    /** Supported shells; the script is the same for both. */
    enum Shell {
      bash,
      zsh
    }

    @Parameters(paramLabel = "SHELL", description = "${COMPLETION-CANDIDATES}.")
    private Shell shell = Shell.bash;

    @Override
    public Integer call() {
      String script = AutoComplete.bash("quipu", command.root().commandLine());
      output.print(script, Output.members("shell", shell.name(), "script", script));
      return ExitCode.OK;
    }
  }

  @Command(name = "version", description = "Print the version.")
  static final class VersionCommand extends ResultCommand {
    @Override
    public Integer call() {
      String version = Version.current();
      output.print("quipu " + version, Map.of("version", version));
      return ExitCode.OK;
    }
  }
}
