package dev.quipu.server.cli.output;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Writes the completion script for fish, which the library of the command line cannot. */
public final class FishCompletion {
  private final StringBuilder script = new StringBuilder("complete -c quipu -f\n");

  private FishCompletion() {}

  /** Returns the script for all commands. */
  public static String of(CommandLine root) {
    FishCompletion completion = new FishCompletion();
    completion.add(root.getCommandSpec(), "");
    return completion.script.toString();
  }

  /** Adds the options and the commands below a command. */
  private void add(CommandSpec command, String condition) {
    Map<String, CommandLine> below = new TreeMap<>(command.subcommands());
    String names = String.join(" ", below.keySet());
    for (Map.Entry<String, CommandLine> each : below.entrySet()) {
      String none = join(condition, "not __fish_seen_subcommand_from " + names);
      CommandSpec spec = each.getValue().getCommandSpec();
      append(none, "-a " + each.getKey(), spec.usageMessage().description());
      add(spec, join(condition, "__fish_seen_subcommand_from " + each.getKey()));
    }
    for (OptionSpec option : command.options()) {
      if (!option.hidden() && option.longestName().startsWith("--")) {
        String values = values(option);
        append(condition, "-l " + option.longestName().substring(2) + values, option.description());
      }
    }
    for (ArgSpec argument : command.positionalParameters()) {
      if (argument.completionCandidates() != null) {
        append(condition, "-a '" + candidates(argument) + "'", argument.description());
      }
    }
  }

  private static String values(OptionSpec option) {
    if (option.arity().max() == 0) {
      return "";
    }
    boolean isPath = option.paramLabel().equals("FILE") || option.paramLabel().equals("DIR");
    String words = candidates(option);
    return words.isEmpty() ? (isPath ? " -r -F" : " -x") : " -x -a '" + words + "'";
  }

  private static String candidates(ArgSpec argument) {
    Iterable<String> all =
        argument.completionCandidates() == null ? List.of() : argument.completionCandidates();
    return StreamSupport.stream(all.spliterator(), false).collect(Collectors.joining(" "));
  }

  private static String join(String condition, String more) {
    return condition.isEmpty() ? more : condition + "; and " + more;
  }

  private void append(String condition, String what, String[] description) {
    script.append("complete -c quipu");
    if (!condition.isEmpty()) {
      script.append(" -n '").append(condition).append('\'');
    }
    String text = String.join(" ", description).replaceAll("\\$\\{[^}]*}|%n", "").strip();
    script.append(' ').append(what).append(" -d '");
    script.append(text.replace("\\", "\\\\").replace("'", "\\'")).append("'\n");
  }
}
