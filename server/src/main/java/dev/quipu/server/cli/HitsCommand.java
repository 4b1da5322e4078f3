package dev.quipu.server.cli;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.access.HitCalls;
import dev.quipu.server.cli.input.Times;
import dev.quipu.server.cli.output.CommandGroup;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.store.Scan;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists and corrects the stored hits of a counter. */
@Command(
    name = "hits",
    description = {
      "List and correct the stored hits of a counter.",
      "",
      "The server must use --technique hit-log. It deletes hits that are older",
      "than its --window, after they are in the summary of their counter. To",
      "correct one that is not stored, add the difference."
    },
    footer = {
      "",
      "Examples:",
      "  quipu hits list page --from 2026-11-24T00:00:00Z",
      "  quipu hits insert page 5 --at 2026-11-24T13:17:23Z",
      "  quipu hits set page 1764076643000-5b0f7c6d2a3e41908d7c6b5a49382716 2"
    },
    subcommands = {
      HitsCommand.ListCommand.class,
      HitsCommand.InsertCommand.class,
      HitsCommand.SetCommand.class,
      HitsCommand.DeleteCommand.class
    },
    synopsisSubcommandLabel = "(list | insert | set | delete)")
final class HitsCommand extends CommandGroup {
  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description = "Print the hits ordered by time: time, amount, and HIT, which identifies it.")
  static final class ListCommand extends AccessCommand {
    @Parameters(paramLabel = "NAME", description = "The counter.")
    private String name = "";

    @Option(names = "--from", paramLabel = "TIME", description = "Print hits from this time on.")
    private @Nullable String from;

    @Option(names = "--until", paramLabel = "TIME", description = "Print hits before this time.")
    private @Nullable String until;

    @Option(
        names = "--limit",
        paramLabel = "N",
        description = "Print at most this number of hits (default: all).")
    private long limit = Long.MAX_VALUE;

    @Override
    public Integer call() {
      if (limit < 1) {
        throw new IllegalArgumentException("--limit is %d; the minimum is 1".formatted(limit));
      }
      Optional<Instant> start = Optional.ofNullable(from).map(Times::time);
      Optional<Instant> end = Optional.ofNullable(until).map(Times::time);
      try (Access access = target.openToRead()) {
        HitCalls hits = access.hits();
        long left = limit;
        Optional<String> cursor = Optional.empty();
        do {
          int size = (int) Math.min(left, Scan.ITEMS_MAX);
          HitCalls.Page page = hits.page(name, start, end, size, cursor);
          output.together(() -> page.hits().forEach(this::print));
          left -= page.hits().size();
          cursor = page.cursor();
        } while (left > 0 && cursor.isPresent());
      }
      return ExitCode.OK;
    }

    private void print(HitCalls.ListedHit hit) {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("name", name);
      members.put("hit", hit.hit());
      members.put("at", hit.at().toString());
      members.put("amount", Long.toString(hit.amount()));
      output.print(
          "%s\t%d\t%s".formatted(hit.at(), hit.amount(), Output.oneLine(hit.hit())), members);
    }
  }

  @Command(
      name = "insert",
      mixinStandardHelpOptions = true,
      description = {
        "Add a hit of the past, and correct the summary.",
        "",
        "A hit that is older than the --window of the server is added without a",
        "request id. If its outcome is unknown, insert it again only",
        "if the count has not changed."
      })
  static final class InsertCommand extends AccessCommand {
    @Parameters(paramLabel = "NAME", description = "The counter.")
    private String name = "";

    @Parameters(paramLabel = "AMOUNT", description = "The amount to add; may be negative.")
    private long amount;

    @Option(
        names = "--at",
        paramLabel = "TIME",
        required = true,
        description = "When it happened, such as 2026-11-24T13:17:23Z; not in the future.")
    private String at = "";

    @Option(
        names = "--id",
        paramLabel = "ID",
        description = "The request id: repeated inserts count exactly once (default: random).")
    private @Nullable String id;

    @Override
    public Integer call() {
      Instant time = Times.time(at);
      if (amount == 0) {
        throw new IllegalArgumentException("AMOUNT is 0; use another number, which is added");
      }
      String given = id;
      RequestId request = given == null ? RequestId.random() : RequestId.of(given);
      try (Access access = target.open()) {
        HitCalls hits = access.hits();
        return print(insert(hits, new Add(name, amount, request), time, given == null));
      } catch (QuipuException e) {
        if (e.outcome() == Outcome.UNKNOWN) {
          output.requestId(request.text());
        }
        throw e;
      }
    }

    /** Inserts; if a generated id is rejected, as it is beyond the window, without an id. */
    private AddResult insert(HitCalls hits, Add add, Instant time, boolean isGenerated) {
      AtomicInteger calls = new AtomicInteger();
      try {
        return target
            .attempts()
            .repeat(() -> {
              calls.incrementAndGet();
              return hits.insert(add, time);
            });
      } catch (IllegalArgumentException e) {
        if (!isGenerated) {
          throw e;
        }
        if (calls.get() > 1) { // the window ended between two attempts
          throw new OutcomeUnknownException(Reason.INVALID, String.valueOf(e.getMessage()), e);
        }
        return hits.insert(new Add(name, amount, null), time);
      }
    }

    private int print(AddResult result) {
      return switch (result) {
        case AddResult.Applied applied -> done(applied.added(), false);
        case AddResult.Replayed again -> done(again.added(), true);
        case AddResult.Rejected rejected -> rejected("canceled", "the request was canceled");
        case AddResult.Conflict conflict ->
            rejected("conflict", "the request id was used for a different request");
      };
    }

    private int done(long added, boolean replayed) {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("name", name);
      members.put("added", Long.toString(added));
      members.put("replayed", replayed);
      output.print("added " + added + (replayed ? " (replayed)" : ""), members);
      return ExitCode.OK;
    }

    private int rejected(String why, String text) {
      output.print(
          "rejected (%s): %s".formatted(why, text), Output.members("name", name, "rejected", why));
      return ExitCode.REJECTED;
    }
  }

  @Command(
      name = "set",
      mixinStandardHelpOptions = true,
      description = "Change the amount of a hit, and correct the summary. 0 deletes the hit.")
  static final class SetCommand extends EditCommand {
    @Parameters(paramLabel = "AMOUNT", index = "2", description = "The amount of the hit.")
    private long amount;

    @Override
    public Integer call() {
      return edit(amount);
    }
  }

  @Command(
      name = "delete",
      mixinStandardHelpOptions = true,
      description = "Delete a hit, and correct the summary.")
  static final class DeleteCommand extends EditCommand {
    @Override
    public Integer call() {
      return edit(0);
    }
  }

  /** A command on one hit. */
  abstract static class EditCommand extends AccessCommand {
    @Parameters(paramLabel = "NAME", index = "0", description = "The counter.")
    private String name = "";

    @Parameters(paramLabel = "HIT", index = "1", description = "The hit, as it is listed.")
    private String hit = "";

    int edit(long amount) {
      try (Access access = target.open()) {
        HitCalls hits = access.hits();
        if (!target.attempts().repeat(() -> hits.set(name, hit, amount))) {
          output.note(
              "no hit %s of %s is stored; if it was swept, add the difference instead"
                  .formatted(hit, name));
          return ExitCode.FAILED;
        }
      }
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("name", name);
      members.put("hit", hit);
      members.put("amount", Long.toString(amount));
      output.print(amount == 0 ? "deleted" : "amount " + amount, members);
      return ExitCode.OK;
    }
  }
}
