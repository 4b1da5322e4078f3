package dev.quipu.server.cli;

import dev.quipu.Decimal;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.technique.ItemCollection;
import dev.quipu.technique.ItemCollection.LedgerEntry;
import dev.quipu.technique.ItemCollection.LedgerPage;
import dev.quipu.technique.ItemCollection.Place;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists the changes of a counter. */
@Command(
    name = "changes",
    description = {
      "Print the changes of a counter ordered by time.",
      "",
      "Each has a time, an amount, a request id, and a reason if there is one.",
      "The server must use --technique item-collection. Compacted changes are not",
      "printed: a server compacts those that are older than its --window."
    },
    footer = {"", "Example:", "  quipu changes stock/981 --limit 20"})
final class ChangesCommand extends AccessCommand {
  @Parameters(paramLabel = "NAME", description = "The counter.")
  private String name = "";

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Print at most this number of changes (default: all).")
  private long limit = Long.MAX_VALUE;

  @Override
  public Integer call() {
    if (limit < 1) {
      throw new IllegalArgumentException("--limit is %d; the minimum is 1".formatted(limit));
    }
    try (Access access = target.openToRead()) {
      long left = limit;
      Optional<Place> after = Optional.empty();
      while (left > 0) {
        int size = (int) Math.min(left, ItemCollection.PAGE_CHANGES_MAX);
        LedgerPage page = access.changes(name, after, size);
        output.together(() -> page.changes().forEach(this::print));
        left = page.hasMore() ? left - page.changes().size() : 0;
        if (page.hasMore()) {
          LedgerEntry last = page.changes().getLast();
          after = Optional.of(new Place(last.at(), last.id()));
        }
      }
    }
    return ExitCode.OK;
  }

  private void print(LedgerEntry change) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", name);
    members.put("id", change.id());
    String added = Decimal.text(change.added(), change.scale());
    members.put("added", added);
    members.put("at", change.at().toString());
    change.reason().ifPresent(reason -> members.put("reason", reason));
    String reason = change.reason().map(text -> "\t" + Output.oneLine(text)).orElse("");
    output.print("%s\t%s\t%s%s".formatted(change.at(), added, change.id(), reason), members);
  }
}
