package dev.quipu.server.cli.hold;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Decimal;
import dev.quipu.HoldReading;
import dev.quipu.HoldRequest;
import dev.quipu.HoldResult;
import dev.quipu.Holds;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.Settlement;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.cli.output.Rejections;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands that reserve amounts of counters, and settle or release them. */
public final class HoldCommands {
  private HoldCommands() {}

  /** Holds that are read at once. */
  private static final int PAGE = 100;

  /** A command on holds. */
  abstract static class HoldsCommand extends AccessCommand {
    @Mixin private StoreOption store = new StoreOption();

    final Access open(boolean isRead) {
      return store.open(target, isRead);
    }

    /**
     * Calls until the outcome is known, and prints it.
     *
     * @param adds those of a hold that is placed
     */
    final int change(RequestId id, List<Add> adds, Function<Holds, HoldResult> call) {
      try (Access access = open(false)) {
        return print(id, adds, target.attempts().repeat(() -> call.apply(access.holds())));
      }
    }

    final int print(RequestId id, List<Add> adds, HoldResult result) {
      return switch (result) {
        case HoldResult.Done done -> {
          Map<String, Object> members = Texts.members(id, done.hold());
          members.put("replayed", done.isReplayed());
          output.print(
              Texts.line(id, done.hold()) + (done.isReplayed() ? "\t(replayed)" : ""), members);
          yield exitCode(done.hold());
        }
        case HoldResult.Rejected rejected ->
            new Rejections(output, id)
                .print(
                    adds,
                    rejected.counter(),
                    new AddResult.Rejected(
                        rejected.why(), rejected.valueIfKnown(), List.of(), rejected.scale()));
        case HoldResult.Exceeded exceeded -> {
          Map<String, Object> members =
              Output.members("rejected", "exceeded", "counter", exceeded.counter());
          members.put("held", Decimal.text(exceeded.held(), exceeded.scale()));
          output.print(
              "rejected (exceeded): %s; place it with --excess to allow that"
                  .formatted(result.explanation()),
              members);
          yield ExitCode.REJECTED;
        }
        case HoldResult.Closed closed -> {
          output.print(
              "rejected (closed): hold %s %s%s"
                  .formatted(
                      id,
                      closed.hold().explanation(),
                      closed.hold().state() == HoldReading.State.EXPIRED ? whyExpired() : ""),
              Output.members("rejected", "closed", "hold", Texts.members(id, closed.hold())));
          yield ExitCode.REJECTED;
        }
        case HoldResult.NotFound notFound -> {
          output.failed("no such hold: " + id);
          yield ExitCode.FAILED;
        }
        case HoldResult.Conflict conflict ->
            new Rejections(output, id).conflict(result.explanation());
      };
    }

    /** Returns the exit code for a call that took effect, now or earlier. */
    int exitCode(HoldReading hold) {
      return ExitCode.OK;
    }

    /** Returns what it means for the call that the hold has expired. */
    String whyExpired() {
      return "; everything was returned";
    }
  }

  /** Places a hold. */
  @Command(
      name = "hold",
      description = {
        "Reserve an amount of a counter, until it is settled, released or expired.",
        "",
        "The value of the counter includes it at once. Prints the id, the state, the",
        "expiry, and NAME=DELTA of each counter, separated by tabs."
      },
      footer = {
        "",
        "Exit code 3: rejected; nothing changed. Or the hold is a repeat, and has ended.",
        "",
        "Examples:",
        "  quipu hold stock -2 --floor 0 --ttl 10m --id cart-17",
        "  quipu hold budget/day -5 --add budget/month=-5 --floor 0 --ttl 1m"
      })
  public static final class HoldCommand extends HoldsCommand {
    @Parameters(paramLabel = "NAME", description = "The counter.")
    private String name = "";

    @Parameters(
        paramLabel = "DELTA",
        description = "The amount to add now; negative to take from the counter.")
    private Decimal delta = new Decimal(0, 0);

    @Option(
        names = "--ttl",
        paramLabel = "TIME",
        required = true,
        description = "Release the hold after this time, such as 10m; 1s to 366d.")
    private Duration ttl = Duration.ZERO;

    @Option(
        names = "--floor",
        paramLabel = "N",
        description = "Reject the hold if a value would go below this (default: none).")
    private @Nullable Decimal floor;

    @Option(
        names = "--ceiling",
        paramLabel = "N",
        description = "Reject the hold if a value would go above this (default: none).")
    private @Nullable Decimal ceiling;

    @Option(
        names = "--add",
        split = ",",
        paramLabel = "NAME=DELTA",
        description = "Also reserve of another counter, within the same bounds; repeatable.")
    private List<String> others = List.of();

    @Option(
        names = "--late",
        description = "Apply a settlement after the expiry, within the bounds.")
    private boolean late;

    @Option(
        names = "--excess",
        description = "Let a settlement exceed the amount, within the bounds.")
    private boolean excess;

    @Option(
        names = "--id",
        paramLabel = "ID",
        description = "The id of the hold: a repeat is the same hold (default: random).")
    private @Nullable String id;

    @Override
    int exitCode(HoldReading hold) {
      return hold.state() == HoldReading.State.OPEN ? ExitCode.OK : ExitCode.REJECTED;
    }

    @Override
    public Integer call() {
      String given = id;
      RequestId request = given == null ? RequestId.random() : RequestId.of(given);
      List<Add> adds = new ArrayList<>(List.of(Add.of(name, delta, floor, ceiling, null)));
      others.forEach(each -> adds.add(Texts.add("--add", each, floor, ceiling)));
      HoldRequest hold =
          new HoldRequest(
              request,
              adds,
              ttl,
              late ? HoldRequest.Late.APPLY : HoldRequest.Late.REJECT,
              excess ? HoldRequest.Excess.ALLOW : HoldRequest.Excess.REJECT);
      try {
        return change(request, adds, holds -> holds.place(hold));
      } catch (QuipuException e) {
        if (e.outcome() == Outcome.UNKNOWN) {
          output.requestId(request.text());
        }
        throw e;
      }
    }
  }

  /** Settles a hold. */
  @Command(
      name = "settle",
      description = {
        "Keep what was used of a hold, and return the rest.",
        "",
        "A repeat with the same amounts prints the same, marked as replayed."
      },
      footer = {
        "",
        "Exit code 1: no such hold. Exit code 3: rejected; nothing changed.",
        "",
        "Examples:",
        "  quipu settle cart-17 -1",
        "  quipu settle call-3 --add budget/day=-4 --add budget/month=-4"
      })
  public static final class SettleCommand extends HoldsCommand {
    @Parameters(index = "0", paramLabel = "ID", description = "The id of the hold.")
    private String id = "";

    @Parameters(
        index = "1",
        paramLabel = "DELTA",
        arity = "0..1",
        description = "The amount to keep on each counter, with the sign of the hold, or 0.")
    private @Nullable Decimal delta;

    @Option(
        names = "--add",
        split = ",",
        paramLabel = "NAME=DELTA",
        description = "The amount to keep on this counter, instead of DELTA; repeatable.")
    private List<String> each = List.of();

    @Override
    public Integer call() {
      RequestId hold = RequestId.of(id);
      Settlement settlement = settlement();
      return change(hold, List.of(), holds -> holds.settle(hold, settlement));
    }

    @Override
    String whyExpired() {
      return "; only a hold with --late, whose counters exist, can be settled after its expiry."
          + " Count what was used with quipu add";
    }

    private Settlement settlement() {
      Decimal same = delta;
      if ((same == null) == each.isEmpty()) {
        throw new IllegalArgumentException(
            "use either DELTA, for all counters of the hold, or --add NAME=DELTA for each of them");
      }
      if (same != null) {
        return Settlement.each(same);
      }
      Map<String, Decimal> deltas = new HashMap<>();
      for (String text : each) {
        String name = Texts.name("--add", text);
        if (deltas.put(name, Texts.delta("--add", text)) != null) {
          throw new IllegalArgumentException("duplicate --add for " + name);
        }
      }
      return Settlement.ofDecimals(deltas);
    }
  }

  /** Releases a hold. */
  @Command(
      name = "release",
      description = "Return everything that a hold reserved.",
      footer = {
        "",
        "Exit code 1: no such hold. Exit code 3: it was settled, or has expired.",
        "",
        "Example:",
        "  quipu release cart-17"
      })
  public static final class ReleaseCommand extends HoldsCommand {
    @Parameters(paramLabel = "ID", description = "The id of the hold.")
    private String id = "";

    @Override
    public Integer call() {
      RequestId hold = RequestId.of(id);
      return change(hold, List.of(), holds -> holds.release(hold));
    }
  }

  /** Extends a hold. */
  @Command(
      name = "extend",
      description = "Set the expiry of an open hold to this time from now.",
      footer = {
        "",
        "Exit code 1: no such hold. Exit code 3: it is not open.",
        "",
        "Example:",
        "  quipu extend cart-17 10m"
      })
  public static final class ExtendCommand extends HoldsCommand {
    @Parameters(paramLabel = "ID", description = "The id of the hold.")
    private String id = "";

    @Parameters(paramLabel = "TIME", description = "The time from now, such as 10m; 1s to 366d.")
    private Duration ttl = Duration.ZERO;

    @Override
    public Integer call() {
      RequestId hold = RequestId.of(id);
      HoldRequest.checkTtl(ttl);
      return change(hold, List.of(), holds -> holds.extend(hold, ttl));
    }
  }

  /** Lists holds. */
  @Command(
      name = "holds",
      description = {
        "Print the open holds on a counter, or one hold by its id.",
        "",
        "Prints id, state, expiry, and NAME=DELTA of each counter, separated by tabs;",
        "of a hold that has ended, the amounts that it kept. In a listing, the id is",
        "its 128 bits as 32 hexadecimal digits, which all commands accept as well."
      },
      footer = {
        "",
        "Exit code 1: no such counter or hold.",
        "",
        "Examples:",
        "  quipu holds stock",
        "  quipu holds --id cart-17"
      })
  public static final class HoldsListCommand extends HoldsCommand {
    @Parameters(paramLabel = "NAME", arity = "0..1", description = "The counter.")
    private @Nullable String name;

    @Option(names = "--id", paramLabel = "ID", description = "Print the hold with this id.")
    private @Nullable String id;

    @Option(
        names = "--limit",
        paramLabel = "N",
        description = "Print at most this number of holds (default: all).")
    private long limit = Long.MAX_VALUE;

    @Override
    public Integer call() {
      String counter = name;
      String one = id;
      if ((counter == null) == (one == null)) {
        throw new IllegalArgumentException("use either NAME or --id ID");
      }
      if (limit < 1) {
        throw new IllegalArgumentException("--limit is %d; the minimum is 1".formatted(limit));
      }
      try (Access access = open(true)) {
        return counter == null
            ? printOne(access.holds(), RequestId.of(String.valueOf(one)))
            : printAll(access, counter);
      }
    }

    private int printOne(Holds holds, RequestId hold) {
      Optional<HoldReading> found = holds.find(hold);
      found.ifPresent(each -> print(hold, each));
      if (found.isEmpty()) {
        output.failed("no such hold: " + hold);
      }
      return found.isPresent() ? ExitCode.OK : ExitCode.FAILED;
    }

    private int printAll(Access access, String counter) {
      Holds holds = access.holds();
      long left = limit;
      RequestId after = null;
      while (left > 0) {
        int size = (int) Math.min(left, PAGE);
        List<HoldReading> page = holds.list(counter, after, size);
        if (page.isEmpty() && after == null && access.counters().read(counter).isEmpty()) {
          output.failed("no such counter: " + counter);
          return ExitCode.FAILED;
        }
        output.together(() -> page.forEach(each -> print(each.id(), each)));
        if (page.size() < size) {
          break;
        }
        left -= size;
        after = page.getLast().id();
      }
      return ExitCode.OK;
    }

    private void print(RequestId hold, HoldReading reading) {
      output.print(Texts.line(hold, reading), Texts.members(hold, reading));
    }
  }
}
