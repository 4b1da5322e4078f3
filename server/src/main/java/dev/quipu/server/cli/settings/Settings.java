package dev.quipu.server.cli.settings;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * The values of options that are not among the arguments: of the variable {@code QUIPU_OPTION},
 * else of the file that {@code --config} or {@code QUIPU_CONFIG} names. An empty variable is not
 * set.
 */
public final class Settings implements IDefaultValueProvider {
  private static final String CONFIG = "--config";

  /** At most one of these is meant: one that is set before another one overrides it. */
  private static final List<String> ALTERNATIVES =
      List.of("--data", "--server", "--store", "--topology");

  private static final Pattern PASSWORD =
      Pattern.compile("(--[a-z-]+=)?[a-z+]+://[^/@]*:[^/@]+@.*");

  private final Map<String, String> environment;
  private final List<String> arguments;
  private final Set<String> commands;
  private final Set<String> checked = new HashSet<>();
  private final Map<String, String> origins = new LinkedHashMap<>();
  private @Nullable SettingsFile file;

  /**
   * Creates the settings for the arguments of a process.
   *
   * @param commands the names of all commands, which a file may contain
   */
  public Settings(Map<String, String> environment, Set<String> commands, String... arguments) {
    this.environment = environment;
    this.commands = commands;
    this.arguments = List.of(arguments);
  }

  /** Adds the option {@code --config} to a command, and to those below it. */
  public void addTo(CommandSpec command) {
    if (!command.options().stream().allMatch(Settings::isHelp)) {
      command.addOption(
          OptionSpec.builder(CONFIG)
              .paramLabel("FILE")
              .type(Path.class)
              .description("Read options from this YAML file (env %s).".formatted(Variables.CONFIG))
              .build());
    }
    command.defaultValueProvider(this);
    command.subcommands().values().forEach(each -> addTo(each.getCommandSpec()));
  }

  @Override
  public @Nullable String defaultValue(ArgSpec argument) {
    if (!(argument instanceof OptionSpec option) || isHelp(option) || asksForHelp()) {
      return null;
    }
    Optional<String> other = ALTERNATIVES.stream().filter(this::isArgument).findFirst();
    boolean isAlternative = ALTERNATIVES.contains(option.longestName());
    if (isAlternative && other.isPresent()) {
      return null;
    }
    String variable = Variables.of(option.longestName());
    String value = environment.getOrDefault(variable, "");
    if (!value.isEmpty()) {
      origins.put(option.longestName(), variable);
      return value;
    }
    if (isAlternative && ALTERNATIVES.stream().anyMatch(each -> isVariable(option, each))) {
      return null;
    }
    return valueOfFile(option);
  }

  private static boolean isHelp(OptionSpec option) {
    return option.usageHelp() || option.versionHelp() || option.longestName().equals(CONFIG);
  }

  private boolean asksForHelp() {
    return arguments.contains("--help") || arguments.contains("-h");
  }

  private boolean isArgument(String option) {
    return arguments.stream()
        .anyMatch(each -> each.equals(option) || each.startsWith(option + "="));
  }

  private boolean isVariable(OptionSpec of, String option) {
    return of.command().findOption(option) != null
        && !environment.getOrDefault(Variables.of(option), "").isEmpty();
  }

  private @Nullable String valueOfFile(OptionSpec option) {
    CommandSpec command = option.command();
    try {
      SettingsFile from = file;
      if (from == null) {
        Optional<String> path = path();
        if (path.isEmpty()) {
          return null;
        }
        from = SettingsFile.read(Path.of(path.get()));
        file = from;
      }
      String name = command.qualifiedName(" ").replaceFirst("^[^ ]+ ?", "");
      if (checked.add(name)) {
        check(from, name, command);
      }
      SettingsFile.Value value =
          from.options(name).get(option.longestName().replaceFirst("^-+", ""));
      if (value == null) {
        return null;
      }
      origins.put(option.longestName(), from.place(value.line()));
      return value.text();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
  }

  private Optional<String> path() {
    for (int i = 0; i < arguments.size(); i++) {
      if (arguments.get(i).startsWith(CONFIG + "=")) {
        return Optional.of(arguments.get(i).substring(CONFIG.length() + 1));
      }
      if (arguments.get(i).equals(CONFIG) && i + 1 < arguments.size()) {
        return Optional.of(arguments.get(i + 1));
      }
    }
    return Optional.ofNullable(environment.get(Variables.CONFIG)).filter(each -> !each.isEmpty());
  }

  /** Rejects a file that these settings have not read. */
  public void check(ParseResult parsed) {
    ParseResult last = parsed;
    while (last.hasSubcommand()) {
      last = last.subcommand();
    }
    Path given = last.matchedOptionValue(CONFIG, null);
    if (given != null && !path().equals(Optional.of(given.toString()))) {
      throw new ParameterException(
          last.commandSpec().commandLine(),
          "%s must be an argument, not in a file of arguments (@FILE)".formatted(CONFIG));
    }
  }

  private void check(SettingsFile from, String name, CommandSpec command) {
    from.commands()
        .forEach((each, line) -> {
          if (!commands.contains(each.split(" ", 2)[0])) {
            throw new IllegalArgumentException(
                "%s: unknown command '%s'".formatted(from.place(line), each));
          }
        });
    from.options(name)
        .forEach((each, value) -> {
          OptionSpec option = command.findOption("--" + each);
          if (option == null || isHelp(option)) {
            throw new IllegalArgumentException(
                "%s: '%s' is not an option of %s".formatted(from.place(value.line()), each, name));
          }
        });
  }

  /** Returns a message with the origins of the options in it, as far as they are no arguments. */
  public String explain(String message) {
    return origins.entrySet().stream()
        .filter(each -> Pattern.compile(each.getKey() + "(?![a-z-])").matcher(message).find())
        .map(each -> " (%s is set by %s)".formatted(each.getKey(), each.getValue()))
        .collect(Collectors.joining("", message, ""));
  }

  /** Returns a warning if the arguments, which other users can read, contain a password. */
  public Optional<String> warning() {
    return arguments.stream().anyMatch(each -> PASSWORD.matcher(each).matches())
        ? Optional.of(
            "quipu: the arguments contain a password, which all users of the machine can read; use"
                + " passwordFile=FILE in the URI, or a variable such as QUIPU_STORE")
        : Optional.empty();
  }
}
