package dev.quipu.server.cli;

import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.access.PastPeriod;
import dev.quipu.server.cli.access.PastValue;
import dev.quipu.server.cli.input.PeriodFlags;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints the values of a counter at past boundaries. */
@Command(
    name = "history",
    description = {
      "Print how a counter changed in each minute, hour or day.",
      "",
      "A line has the start of the time, the value at its end, and the change; - if",
      "it is not known; the last line says if its time is not over. Nothing is",
      "printed for the time before the first known value.",
      "The server keeps what its --history names."
    },
    footer = {
      "",
      "Examples:",
      "  quipu history views/home --step day --from 2026-11-01",
      "  quipu history --sum views/ --step hour"
    })
final class HistoryCommand extends AccessCommand {
  @Parameters(paramLabel = "NAME", description = "The counter; with --sum, a prefix of names.")
  private String name = "";

  @Option(names = "--sum", description = "Add up all counters whose names start with NAME.")
  private boolean isSum;

  @Mixin private PeriodFlags period = new PeriodFlags();

  @Override
  public Integer call() {
    if (name.isEmpty() && !isSum) {
      throw new IllegalArgumentException("the name is empty; only the prefix of --sum may be");
    }
    try (Access access = target.openToRead()) {
      PastPeriod past = new PastPeriod(period.step(), period.from(), period.to());
      List<PastValue> values = access.history(name, isSum, past);
      List<PastValue> known = values.stream().dropWhile(each -> !isKnown(each)).toList();
      if (known.isEmpty()) {
        output.note("nothing is known of this time");
      } else if (known.stream().noneMatch(HistoryCommand::isCounted)) {
        boolean isPrefix = !isSum && name.endsWith("/");
        output.note(
            "nothing was counted %s %s up to the end of this time%s"
                .formatted(
                    isSum ? "under" : "in",
                    Output.oneLine(name),
                    isPrefix ? "; --sum adds up the counters whose names start with it" : ""));
      } else {
        output.together(() -> known.forEach(this::print));
      }
    }
    return ExitCode.OK;
  }

  private static boolean isKnown(PastValue each) {
    return each.value().isPresent() || each.change().isPresent();
  }

  /** Returns whether there was a counter, or something was added. */
  private static boolean isCounted(PastValue each) {
    return each.value().isPresent() || each.change().filter(it -> !it.equals("0")).isPresent();
  }

  private void print(PastValue each) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("from", each.from());
    each.value().ifPresent(value -> members.put("value", value));
    each.change().ifPresent(change -> members.put("change", change));
    each.since().ifPresent(since -> members.put("since", since));
    if (!each.isComplete()) {
      members.put("complete", false);
    }
    output.print(
        "%s\t%s\t%s%s%s"
            .formatted(
                each.from(),
                each.value().orElse("-"),
                each.change().orElse("-"),
                each.since().map(since -> "\tsince " + since).orElse(""),
                each.isComplete() ? "" : "\tuntil now"),
        members);
  }
}
