package dev.quipu.server.cli;

import dev.quipu.CounterPage;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.Access.Movers;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.access.Mover;
import dev.quipu.server.cli.access.PastPeriod;
import dev.quipu.server.cli.input.RankFlags;
import dev.quipu.server.cli.output.ExitCode;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints counters in an order. */
@Command(
    name = "list",
    description = "Print counters ordered by name, by value, or by how they changed.",
    footer = {
      "",
      "A counter is printed as its value, a tab, and its name; with --since, the change",
      "and a tab come first, and only counters whose past the server records (serve",
      "--history) are there.",
      "",
      "Examples:",
      "  quipu list views/",
      "  quipu list --top 10 views/",
      "  quipu list --top 10 --since 2026-11-01 views/"
    })
final class ListCommand extends AccessCommand {
  @Parameters(
      paramLabel = "PREFIX",
      arity = "0..1",
      description = "Print only names that start with this.")
  private String prefix = "";

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Print at most this number of counters (default: all).")
  private long limit = Long.MAX_VALUE;

  @Mixin private RankFlags ranked = new RankFlags();

  @Override
  public Integer call() {
    if (limit < 0) {
      throw new IllegalArgumentException("--limit is %d; the minimum is 0".formatted(limit));
    }
    if (!ranked.isSet()) {
      return CounterCommands.forEach(target, output, prefix, limit, this::print);
    }
    if (limit != Long.MAX_VALUE) {
      throw new IllegalArgumentException("--limit is for a list by name; --top has a number");
    }
    try (Access access = target.openToRead()) {
      Optional<PastPeriod> period = PastPeriod.since(ranked.changes());
      if (period.isPresent()) {
        List<Mover> movers =
            access.movers(Movers.COUNTERS, prefix, period.get(), ranked.isTop(), ranked.number());
        Mover.print(output, Movers.COUNTERS, movers);
      } else {
        ranked.read(access.counters(), prefix).forEach(this::print);
      }
    }
    return ExitCode.OK;
  }

  private void print(CounterPage.Entry each) {
    output.print(
        () -> each.reading().text(each.reading().value()) + "\t" + each.name(),
        () -> CounterCommands.members(each.name(), each.reading()));
  }
}
