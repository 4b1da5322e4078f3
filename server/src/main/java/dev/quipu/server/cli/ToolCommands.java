package dev.quipu.server.cli;

import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.FishCompletion;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.cli.output.ResultCommand;
import dev.quipu.server.cli.output.Version;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** Commands about the command line itself. */
final class ToolCommands {
  private ToolCommands() {}

  @Command(name = "help", description = "Display help information about the specified command.")
  static final class HelpCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec command;

    @Parameters(
        arity = "0..*",
        paramLabel = "COMMAND",
        description = "The command, such as get, or hits list (default: quipu).")
    private List<String> names = List.of();

    @Override
    public Integer call() {
      CommandLine line = command.root().commandLine();
      for (String name : names) {
        CommandLine next = line.getSubcommands().get(name);
        if (next == null) {
          throw new UnmatchedArgumentException(line, List.of(name));
        }
        line = next;
      }
      line.usage(command.commandLine().getOut());
      return ExitCode.OK;
    }
  }

  @Command(
      name = "completion",
      description = "Print a shell completion script.",
      footer = {
        "",
        "Examples:",
        "  source <(quipu completion bash)",
        "  quipu completion fish > ~/.config/fish/completions/quipu.fish"
      })
  static final class CompletionCommand extends ResultCommand {
    /** Supported shells; the script for the first two is the same. */
    enum Shell {
      bash,
      zsh,
      fish
    }

    @Parameters(paramLabel = "SHELL", description = "${COMPLETION-CANDIDATES}.")
    private Shell shell = Shell.bash;

    @Override
    public Integer call() {
      CommandLine root = command.root().commandLine();
      String script =
          shell == Shell.fish ? FishCompletion.of(root) : AutoComplete.bash("quipu", root);
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
