package dev.quipu.server.cli;

import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.access.ThresholdCalls;
import dev.quipu.server.cli.output.CommandGroup;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists, defines and deletes thresholds. */
@Command(
    name = "threshold",
    description = {
      "List, print, define and delete thresholds, whose crossings a server sends to webhooks.",
      "",
      "The server must count on the engine, with --webhook-allow and",
      "--webhook-secret-file."
    },
    footer = {
      "",
      "Examples:",
      "  quipu threshold put low --prefix stock/ --at 5 --direction down \\",
      "    --webhook https://hooks.example.com/stock",
      "  quipu threshold list",
      "  quipu threshold delete low"
    },
    subcommands = {
      ThresholdCommand.ListCommand.class,
      ThresholdCommand.GetCommand.class,
      ThresholdCommand.PutCommand.class,
      ThresholdCommand.DeleteCommand.class
    },
    synopsisSubcommandLabel = "(list | get | put | delete)")
final class ThresholdCommand extends CommandGroup {
  private static void print(Output output, ThresholdCalls.Listed each) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("id", each.id());
    members.put(each.isPrefix() ? "prefix" : "counter", each.selector());
    members.put("at", each.at());
    members.put("direction", each.direction());
    members.put("webhook", each.webhook());
    members.put("waiting", each.waiting());
    members.put("missed", each.missed());
    each.failing().ifPresent(why -> members.put("failing", members(why)));
    output.print(
        "%s\t%s %s\t%s%s\t%s%s%s%s"
            .formatted(
                Output.oneLine(each.id()),
                each.direction(),
                each.at(),
                Output.oneLine(each.selector()),
                each.isPrefix() ? "*" : "",
                Output.oneLine(each.webhook()),
                each.waiting() == 0 ? "" : "\twaiting: " + each.waiting(),
                each.missed() == 0 ? "" : "\tmissed: " + each.missed(),
                each.failing().map(ThresholdCommand::text).orElse("")),
        members);
  }

  private static Map<String, Object> members(ThresholdCalls.Failing failing) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("reason", failing.reason());
    failing
        .since()
        .ifPresent(since -> {
          members.put("attempts", failing.attempts());
          members.put("since", since);
        });
    return members;
  }

  private static String text(ThresholdCalls.Failing failing) {
    return "\tfailing%s: %s"
        .formatted(
            failing
                .since()
                .map(since -> " %d times since %s".formatted(failing.attempts(), since))
                .orElse(""),
            Output.oneLine(failing.reason()));
  }

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description = {
        "Print the thresholds.",
        "",
        "A line has the id, direction and value, the counter or PREFIX*, the webhook, and",
        "if there are any, how many crossings wait or were missed, and why the last",
        "delivery failed."
      })
  static final class ListCommand extends AccessCommand {
    @Override
    public Integer call() {
      try (Access access = target.openToRead()) {
        access.thresholds().list().forEach(each -> print(output, each));
      }
      return ExitCode.OK;
    }
  }

  @Command(
      name = "get",
      mixinStandardHelpOptions = true,
      description = "Print a threshold, as list does.")
  static final class GetCommand extends AccessCommand {
    @Parameters(paramLabel = "ID", description = "The id of the threshold.")
    private String id = "";

    @Override
    public Integer call() {
      try (Access access = target.openToRead()) {
        Optional<ThresholdCalls.Listed> found = access.thresholds().get(id);
        found.ifPresent(each -> print(output, each));
        return found.isPresent() ? ExitCode.OK : none(output, id);
      }
    }
  }

  private static int none(Output output, String id) {
    output.note("no threshold %s".formatted(Output.oneLine(id)));
    return ExitCode.FAILED;
  }

  @Command(
      name = "put",
      mixinStandardHelpOptions = true,
      description = {
        "Define a threshold, or replace it.",
        "",
        "It is crossed by a change after which the value is at or beyond it, and before",
        "which it was not. Each crossing is sent at least once, always under one id."
      })
  static final class PutCommand extends AccessCommand {
    @Parameters(paramLabel = "ID", description = "The id of the threshold.")
    private String id = "";

    @Option(names = "--counter", paramLabel = "NAME", description = "The counter; or use --prefix.")
    private @Nullable String counter;

    @Option(
        names = "--prefix",
        paramLabel = "PREFIX",
        description = "All counters whose names start with this; '' for all.")
    private @Nullable String prefix;

    @Option(names = "--at", paramLabel = "VALUE", required = true, description = "The value.")
    private String at = "";

    @Option(
        names = "--direction",
        paramLabel = "up|down",
        required = true,
        description = "Whether the value rises to it, or falls.")
    private String direction = "";

    @Option(
        names = "--webhook",
        paramLabel = "URL",
        required = true,
        description = "Where crossings are sent; the server must allow the host.")
    private String webhook = "";

    @Override
    public Integer call() {
      String selector = prefix == null ? counter : prefix;
      if (selector == null || (counter != null && prefix != null)) {
        throw new IllegalArgumentException("use exactly one of --counter and --prefix");
      }
      if (!direction.equals("up") && !direction.equals("down")) {
        throw new IllegalArgumentException(
            "--direction is '%s'; it must be up or down".formatted(direction));
      }
      boolean isPrefix = prefix != null;
      try (Access access = target.open()) {
        ThresholdCalls calls = access.thresholds();
        print(
            output,
            target
                .attempts()
                .repeat(() -> calls.put(id, isPrefix, selector, at, direction, webhook)));
      }
      return ExitCode.OK;
    }
  }

  @Command(
      name = "delete",
      mixinStandardHelpOptions = true,
      description = "Delete a threshold; crossings that wait are not sent.")
  static final class DeleteCommand extends AccessCommand {
    @Parameters(paramLabel = "ID", description = "The id of the threshold.")
    private String id = "";

    @Override
    public Integer call() {
      try (Access access = target.open()) {
        ThresholdCalls calls = access.thresholds();
        if (!target.attempts().repeat(() -> calls.delete(id))) {
          return none(output, id);
        }
      }
      output.print("deleted", Output.members("id", id, "deleted", true));
      return ExitCode.OK;
    }
  }
}
