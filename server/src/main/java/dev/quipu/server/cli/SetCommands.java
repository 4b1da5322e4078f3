package dev.quipu.server.cli;

import dev.quipu.Decimal;
import dev.quipu.SetRequest;
import dev.quipu.SetResult;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.access.Target;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/*
 * None of these is repeated after an unknown outcome: the repeat would undo an add that came in
 * between, and that was acknowledged.
 */

/** Commands that replace or remove the value of a counter. */
final class SetCommands {
  private SetCommands() {}

  @Command(
      name = "set",
      description = "Set the value of a counter, regardless of its bounds.",
      footer = {
        "",
        "Exit code 3: the value of the counter differs from --if-value, or its scale from",
        "--scale; nothing changed.",
        "",
        "Examples:",
        "  quipu set stock 100",
        "  quipu set stock 100 --if-value 98",
        "  quipu set budget 20.00 --scale 2"
      })
  static final class SetCommand extends AccessCommand {
    @Parameters(paramLabel = "NAME", description = "The counter.")
    private String name = "";

    @Parameters(paramLabel = "VALUE", description = "The new value.")
    private Decimal value = new Decimal(0, 0);

    @Option(
        names = "--if-value",
        paramLabel = "N",
        description = "Set it only if it has this value; an unwritten counter counts as 0.")
    private @Nullable Decimal ifValue;

    @Option(
        names = "--scale",
        paramLabel = "N",
        description =
            "Let the counter have this number of digits after the point, 0 to 18, from now on; only"
                + " a counter without a value can get another one.")
    private @Nullable Integer scale;

    @Override
    public Integer call() {
      Integer digits = scale;
      return set(
          target,
          output,
          new SetRequest(
              name,
              Optional.of(value),
              Optional.ofNullable(ifValue),
              digits == null ? OptionalInt.empty() : OptionalInt.of(digits)));
    }
  }

  @Command(
      name = "reset",
      description = "Set a counter to 0, regardless of its bounds.",
      footer = {"", "Example:", "  quipu reset likes"})
  static final class ResetCommand extends AccessCommand {
    @Parameters(paramLabel = "NAME", description = "The counter.")
    private String name = "";

    @Override
    public Integer call() {
      Optional<Decimal> zero = Optional.of(new Decimal(0, 0));
      return set(target, output, new SetRequest(name, zero, Optional.empty(), OptionalInt.empty()));
    }
  }

  private static int set(Target target, Output output, SetRequest request) {
    String name = request.counter();
    SetResult result;
    try (Access access = target.open()) {
      result = access.counters().set(request);
    }
    return switch (result) {
      case SetResult.Done done -> {
        String text = Decimal.text(done.value(), done.scale());
        output.print(text, Output.members("name", name, "value", text));
        yield ExitCode.OK;
      }
      case SetResult.Mismatch mismatch -> {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("name", name);
        members.put("rejected", "value-mismatch");
        String found = "does not exist";
        if (mismatch.value().isPresent()) {
          String text = Decimal.text(mismatch.value().getAsLong(), mismatch.scale());
          members.put("value", text);
          found = "is " + text;
        }
        output.print("rejected (value-mismatch): %s %s".formatted(name, found), members);
        yield ExitCode.REJECTED;
      }
      case SetResult.OtherScale other -> {
        Map<String, Object> members = Output.members("name", name, "rejected", "scale-fixed");
        members.put("scale", other.scale());
        output.print(
            ("rejected (scale-fixed): %s has the scale %d, and a value or request ids; use"
                    + " another name")
                .formatted(name, other.scale()),
            members);
        yield ExitCode.REJECTED;
      }
    };
  }

  @Command(
      name = "delete",
      description = "Delete counters, if they exist. Request ids are kept.",
      footer = {"", "Example:", "  quipu delete likes shares"})
  static final class DeleteCommand extends AccessCommand {
    @Parameters(paramLabel = "NAME", arity = "1..*", description = "The counters.")
    private List<String> names = List.of();

    @Override
    public Integer call() {
      try (Access access = target.openToRead()) {
        for (String name : names) {
          access.counters().delete(name);
          output.print("deleted " + name, Output.members("name", name, "deleted", true));
        }
      }
      return ExitCode.OK;
    }
  }
}
