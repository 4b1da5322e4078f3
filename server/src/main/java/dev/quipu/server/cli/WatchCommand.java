package dev.quipu.server.cli;

import dev.quipu.client.CounterWatch;
import dev.quipu.client.CounterWatch.Counted;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.output.ExitCode;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints counters as they change. */
@Command(
    name = "watch",
    description = {
      "Print counters as they change, until interrupted.",
      "",
      "First the present counters are printed, then each change within 0.1 s; several",
      "changes in that time are printed as one. A counter that was removed has the",
      "value -. After a lost connection it goes on. If the server was started again,",
      "a line 'reset' states that the earlier counters do not count, and the present",
      "ones follow; with --changes, a line 'missed' that changes may be missing."
    },
    footer = {"", "Examples:", "  quipu watch views/", "  quipu watch --changes --json"})
final class WatchCommand extends AccessCommand {
  @Parameters(
      paramLabel = "PREFIX",
      arity = "0..1",
      description = "Print only names that start with this.")
  private String prefix = "";

  @Option(names = "--changes", description = "Do not print the present counters at first.")
  private boolean changesOnly;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "End after this number of lines (default: never).")
  private long limit = Long.MAX_VALUE;

  private long printed;
  private boolean isBegun;

  @Override
  public Integer call() {
    if (limit < 1) {
      throw new IllegalArgumentException("--limit is %d; the minimum is 1".formatted(limit));
    }
    try (Access access = target.openToRead()) {
      access.watch(prefix, !changesOnly, this::print);
    }
    return ExitCode.OK;
  }

  private boolean print(CounterWatch.Event event) {
    switch (event.kind()) {
      case LOST -> output.note("the connection was lost; waiting for the server");
      case CONNECTED -> output.note("connected again");
      case MISSED -> output.print("missed", Map.of("missed", true));
      case RESET -> {
        if (isBegun) {
          output.print("reset", Map.of("reset", true));
        }
        isBegun = true;
      }
      case COUNTERS, COMPLETE -> output.together(() -> event.counters().forEach(this::print));
    }
    return printed < limit;
  }

  private void print(Counted counter) {
    if (printed == limit) {
      return;
    }
    printed++;
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", counter.name());
    counter.value().ifPresent(value -> members.put("value", value));
    output.print(counter.value().orElse("-") + "\t" + counter.name(), members);
  }
}
