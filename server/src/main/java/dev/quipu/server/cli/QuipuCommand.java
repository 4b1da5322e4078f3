package dev.quipu.server.cli;

import dev.quipu.Decimal;
import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Engine;
import dev.quipu.server.cli.access.Environment;
import dev.quipu.server.cli.access.OpenedStore;
import dev.quipu.server.cli.hold.HoldCommands;
import dev.quipu.server.cli.hold.TransferCommand;
import dev.quipu.server.cli.input.DurationConverter;
import dev.quipu.server.cli.input.UrlConverter;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Explanation;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.cli.output.Version;
import dev.quipu.server.cli.serve.IngestCommand;
import dev.quipu.server.cli.serve.ServeCommand;
import dev.quipu.server.cli.settings.Settings;
import dev.quipu.server.cli.store.AdoptCommand;
import dev.quipu.server.cli.store.BackupCommands;
import dev.quipu.server.cli.store.DataCommands;
import dev.quipu.server.cli.store.RepairCommand;
import dev.quipu.server.cli.store.StoreCommands;
import dev.quipu.time.Clock;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command {@code quipu} and its subcommands. */
@Command(
    name = "quipu",
    description = "Exact counting: durable before the reply, each request exactly once.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    footer = {
      "",
      "Exit codes:",
      "  0  done",
      "  1  not found, or another failure",
      "  2  usage error",
      "  3  rejected: a bound, a conflict, a value mismatch, a canceled request, or a",
      "     hold that has ended or is exceeded",
      "  4  the data directory is damaged",
      "  5  outcome unknown: retry with the same request id",
      "  6  the server or the store is unreachable or full",
      "  7  done, but some lines of the input were skipped",
      "  8  verification failed: a counter is not exact, or a guarantee was broken",
      "  9  serve: stopped by a failure of the disk or memory; restart it",
      " 10  access denied: the token, the store, or another process has the directory",
      "After SIGTERM or SIGINT, servers exit with 0, other commands with 143 or 130.",
      "",
      "Completion for bash and zsh: source <(quipu completion bash)"
    })
public record QuipuCommand(Function<Path, Quipu> directories, Clock clock) implements Environment {
  private static final List<Class<?>> COMMANDS =
      List.of(
          ServeCommand.class,
          CommandsCommand.class,
          CounterCommands.AddCommand.class,
          SetCommands.SetCommand.class,
          SetCommands.ResetCommand.class,
          SetCommands.DeleteCommand.class,
          CounterCommands.GetCommand.class,
          ListCommand.class,
          WatchCommand.class,
          HistoryCommand.class,
          ReportCommand.class,
          DemoCommand.class,
          CounterCommands.OutcomeCommand.class,
          TransferCommand.class,
          HoldCommands.HoldCommand.class,
          HoldCommands.SettleCommand.class,
          HoldCommands.ReleaseCommand.class,
          HoldCommands.ExtendCommand.class,
          HoldCommands.HoldsListCommand.class,
          DataCommands.PagesCommand.class,
          DataCommands.ViewsCommand.class,
          AggregatesCommand.class,
          CounterCommands.OnlineCommand.class,
          NextCommand.class,
          SequenceCommand.class,
          RevisionCommands.ReviseCommand.class,
          RevisionCommands.RevisionsCommand.class,
          JobCommand.class,
          ChangesCommand.class,
          HitsCommand.class,
          ThresholdCommand.class,
          ImportCommand.class,
          IngestCommand.class,
          CounterCommands.ExportCommand.class,
          BackupCommands.BackupCommand.class,
          BackupCommands.RestoreCommand.class,
          DataCommands.CheckCommand.class,
          DataCommands.SalvageCommand.class,
          DataCommands.TechniquesCommand.class,
          StoreCommands.StoresCommand.class,
          StoreCommands.SchemaCommand.class,
          AdoptCommand.class,
          RepairCommand.class,
          ExplainCommand.class,
          SimpleDbLocalCommand.class,
          VerifyCommand.class,
          AdviseCommand.class,
          RegionsCommand.class,
          ToolCommands.HelpCommand.class,
          ToolCommands.CompletionCommand.class,
          ToolCommands.VersionCommand.class);

  private static final Set<Class<?>> SHOW_OTHERS =
      Set.of(ToolCommands.HelpCommand.class, ToolCommands.CompletionCommand.class);

  /** How a server names what an option of a command has set. */
  private static final Pattern PARAMETER = Pattern.compile("(?:query parameter|field) ([a-z]+)");

  /** The begin of a negative amount, and not of an option. */
  private static final Pattern NEGATIVE = Pattern.compile("-[^-a-zA-Z]");

  /** When the process started: this class is loaded first. */
  private static final long STARTED_NANOS = Clock.system().nanoTime();

  /**
   * Returns the command line for these arguments. If they begin with a command, it contains no
   * other one: the model of all of them takes longer than most commands.
   */
  public static CommandLine commandLine(String... arguments) {
    return commandLine(System.getenv(), arguments);
  }

  /** Returns the command line for these arguments in this environment. */
  public static CommandLine commandLine(Map<String, String> environment, String... arguments) {
    List<Class<?>> named =
        COMMANDS.stream()
            .filter(command ->
                arguments.length > 0
                    && name(command).equals(arguments[0])
                    && !SHOW_OTHERS.contains(command))
            .toList();
    Set<String> names = COMMANDS.stream().map(QuipuCommand::name).collect(Collectors.toSet());
    return commandLine(
        named.isEmpty() ? COMMANDS : named,
        new Settings(environment, names, arguments),
        QuipuCommand::openToKeepAllIds,
        Clock.system());
  }

  private static String name(Class<?> command) {
    return command.getAnnotation(Command.class).name();
  }

  /** Opens a directory with the longest window, since the window of its server is unknown. */
  private static Quipu openToKeepAllIds(Path directory) {
    return Backends.on(Engine.open(directory, OpenedStore.KEEPS_ALL_IDS));
  }

  /** Returns a command line that opens data directories by this function, and uses this clock. */
  public static CommandLine commandLine(Function<Path, Quipu> directories, Clock clock) {
    return commandLine(COMMANDS, new Settings(Map.of(), Set.of()), directories, clock);
  }

  private static CommandLine commandLine(
      List<Class<?>> commands, Settings settings, Function<Path, Quipu> directories, Clock clock) {
    CommandLine line = new CommandLine(new QuipuCommand(directories, clock));
    commands.forEach(line::addSubcommand);
    line.getSubcommands()
        .values()
        .forEach(command -> command.getCommandSpec().mixinStandardHelpOptions(true));
    line.getSubcommands().values().forEach(each -> settings.addTo(each.getCommandSpec()));
    line.setExecutionStrategy(parsed -> {
      settings.check(parsed);
      settings.warning().ifPresent(each -> Output.note(line, each));
      return new CommandLine.RunLast().execute(parsed);
    });
    line.setUsageHelpAutoWidth(true);
    line.registerConverter(Long.class, QuipuCommand::number);
    line.registerConverter(Long.TYPE, QuipuCommand::number);
    line.registerConverter(Integer.class, QuipuCommand::smallNumber);
    line.registerConverter(Integer.TYPE, QuipuCommand::smallNumber);
    line.registerConverter(Decimal.class, QuipuCommand::decimal);
    line.registerConverter(URI.class, new UrlConverter());
    line.registerConverter(Duration.class, new DurationConverter());
    line.setParameterExceptionHandler((failure, arguments) -> {
      return explain(failure, settings, arguments);
    });
    line.setExecutionExceptionHandler((failure, command, parsed) -> {
      Explanation why = Explanation.of(failure);
      String message = settings.explain(named(why.message(), command));
      boolean isJson = command.getParseResult().hasMatchedOption(Output.JSON);
      Output.error(command, isJson, why.exitCode(), message);
      return why.exitCode();
    });
    return line;
  }

  /** Names options as the user does, where a server names a parameter or a field. */
  private static String named(String message, CommandLine command) {
    return PARAMETER
        .matcher(message)
        .replaceAll(found -> {
          String option = "--" + found.group(1);
          boolean isOption = command.getCommandSpec().findOption(option) != null;
          return Matcher.quoteReplacement(isOption ? option : found.group());
        });
  }

  private static Long number(String text) {
    try {
      return Long.valueOf(text);
    } catch (NumberFormatException e) {
      throw new TypeConversionException(
          "'%s' is not an integer from %d to %d".formatted(text, Long.MIN_VALUE, Long.MAX_VALUE));
    }
  }

  private static Decimal decimal(String text) {
    try {
      return Decimal.parse("'%s'".formatted(text), text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(
          text.matches("-?[0-9]+")
              ? "'%s' is not an integer from %d to %d"
                  .formatted(text, Long.MIN_VALUE, Long.MAX_VALUE)
              : String.valueOf(e.getMessage()));
    }
  }

  private static Integer smallNumber(String text) {
    try {
      return Integer.valueOf(text);
    } catch (NumberFormatException e) {
      throw new TypeConversionException(
          "'%s' is not an integer from %d to %d"
              .formatted(text, Integer.MIN_VALUE, Integer.MAX_VALUE));
    }
  }

  /** Prints the error without the usage, which would hide it, unless no command is given. */
  private static int explain(ParameterException failure, Settings settings, String[] arguments) {
    boolean isJson = List.of(arguments).contains(Output.JSON);
    CommandLine command = failure.getCommandLine();
    boolean isRoot = command.getParent() == null;
    String message =
        malformedAmount(command, arguments).orElse(String.valueOf(failure.getMessage()));
    if (failure instanceof UnmatchedArgumentException unmatched) {
      if (!unmatched.isUnknownOption()) {
        message =
            "%s '%s'"
                .formatted(
                    command.getSubcommands().isEmpty() ? "unexpected argument" : "unknown command",
                    unmatched.getUnmatched().getFirst());
      }
    } else if (isRoot) {
      command.usage(command.getErr());
      return ExitCode.USAGE;
    }
    Output.error(command, isJson, ExitCode.USAGE, settings.explain("quipu: " + message));
    if (isJson) {
      return ExitCode.USAGE;
    }
    boolean isSuggested = UnmatchedArgumentException.printSuggestions(failure, command.getErr());
    if (failure instanceof UnmatchedArgumentException unmatched
        && unmatched.isUnknownOption()
        && !isSuggested) {
      Output.note(command, "Options: " + options(command));
    }
    Output.note(command, "Try: %s --help".formatted(command.getCommandSpec().qualifiedName()));
    return ExitCode.USAGE;
  }

  /**
   * Returns the message for an argument such as -1,50 where an amount is expected: picocli regards
   * it as an option, since it is not a number.
   */
  private static Optional<String> malformedAmount(CommandLine command, String[] arguments) {
    return command.getCommandSpec().positionalParameters().stream()
        .filter(each -> each.type() == Decimal.class)
        .findFirst()
        .flatMap(amount ->
            Stream.of(arguments)
                .filter(each -> NEGATIVE.matcher(each).lookingAt())
                .flatMap(each -> problem(each).stream())
                .map(why ->
                    "Invalid value for positional parameter (%s): %s"
                        .formatted(amount.paramLabel(), why))
                .findFirst());
  }

  private static Optional<String> problem(String amount) {
    try {
      decimal(amount);
      return Optional.empty();
    } catch (TypeConversionException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  private static String options(CommandLine command) {
    return command.getCommandSpec().options().stream()
        .map(option -> option.longestName())
        .sorted()
        .collect(Collectors.joining(", "));
  }

  @Override
  public Quipu open(Path directory) {
    return directories.apply(directory);
  }

  @Override
  public long startedNanos() {
    return STARTED_NANOS;
  }
}
