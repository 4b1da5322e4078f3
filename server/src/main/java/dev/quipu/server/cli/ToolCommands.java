package dev.quipu.server.cli;

import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.cli.output.Version;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Commands about the command line itself. */
final class ToolCommands {
  private ToolCommands() {}

  @Command(
      name = "completion",
      description = "Print a shell completion script.",
      footer = {"", "Example:", "  source <(quipu completion bash)"})
  static final class CompletionCommand implements Callable<Integer> {
    /** Supported shells; the script is the same for both. */
    enum Shell {
      bash,
      zsh
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec command;

    @Mixin private Output output = new Output();

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
  static final class VersionCommand implements Callable<Integer> {
    @Mixin private Output output = new Output();

    @Override
    public Integer call() {
      String version = Version.current();
      output.print("quipu " + version, Map.of("version", version));
      return ExitCode.OK;
    }
  }
}
