package dev.quipu.server.cli;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Decimal;
import dev.quipu.Holds;
import dev.quipu.Limits;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.TransactionOutcome;
import dev.quipu.Transactions;
import dev.quipu.presence.Online;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.AccessCommand;
import dev.quipu.server.cli.access.CounterListing;
import dev.quipu.server.cli.access.Target;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.cli.output.Rejections;
import dev.quipu.server.cli.store.DirectoryTransfer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.core.io.JsonStringEncoder;

/** Commands about counters. */
final class CounterCommands {
  private CounterCommands() {}

  @Command(
      name = "add",
      description = "Add to a counter, exactly once for each request id.",
      footer = {
        "",
        "Examples:",
        "  quipu add likes 1",
        "  quipu add stock -2 --floor 0 --id order-981",
        "  quipu add budget/team-1 -0.25 --floor 0"
      })
  static final class AddCommand extends AccessCommand {
    @Parameters(paramLabel = "NAME", description = "The counter.")
    private String name = "";

    @Parameters(paramLabel = "DELTA", description = "The amount to add; may be negative.")
    private Decimal delta = new Decimal(0, 0);

    @Option(
        names = "--id",
        paramLabel = "ID",
        description = "The request id: repeated adds count exactly once (default: random).")
    private @Nullable String id;

    @Option(
        names = "--floor",
        paramLabel = "N",
        description = "Reject the add if the value would go below this.")
    private @Nullable Decimal floor;

    @Option(
        names = "--ceiling",
        paramLabel = "N",
        description = "Reject the add if the value would go above this.")
    private @Nullable Decimal ceiling;

    @Option(
        names = {"-v", "--verbose"},
        description = "Print the request id on standard error.")
    private boolean verbose;

    @Override
    public Integer call() {
      String given = id;
      RequestId request = given == null ? RequestId.random() : RequestId.of(given);
      Add add = Add.of(name, delta, floor, ceiling, request);
      if (verbose) {
        output.requestId(request.text()); // before the first attempt, to survive a kill
      }
      try (Access access = target.open()) {
        return print(request, add, given == null ? addOnce(access, add) : repeated(access, add));
      } catch (QuipuException e) {
        if (e.outcome() == Outcome.UNKNOWN && !verbose) {
          output.requestId(request.text());
        }
        throw e;
      }
    }

    private AddResult repeated(Access access, Add add) {
      return target.attempts().repeat(() -> access.counters().add(add));
    }

    /**
     * Adds under a generated id. If the counters reject it, since they do not support ids or an id
     * must name a region, the add was not applied; it is sent again without an id, and not retried.
     */
    private AddResult addOnce(Access access, Add add) {
      try {
        return repeated(access, add);
      } catch (IllegalArgumentException | UnsupportedOperationException e) {
        Add bare = new Add(add.counter(), add.delta(), add.bounds(), null, add.scale());
        AddResult result = access.counters().add(bare);
        if (verbose) {
          output.note("the request was sent without an id: " + e.getMessage());
        }
        return result;
      }
    }

    private int print(RequestId id, Add add, AddResult result) {
      return switch (result) {
        case AddResult.Applied applied -> done(add, applied);
        case AddResult.Replayed again -> done(add, again);
        case AddResult.Rejected rejected -> new Rejections(output, id).print(add, rejected);
        case AddResult.Conflict conflict ->
            new Rejections(output, id).conflict(new LinkedHashMap<>(Map.of("name", add.counter())));
      };
    }

    private int done(Add add, AddResult.Success done) {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("name", add.counter());
      String added = Decimal.text(done.added(), done.scale());
      String text = "added " + added;
      if (done.valueIfKnown().isPresent()) {
        text = Decimal.text(done.value(), done.scale());
        members.put("value", text);
      }
      members.put("added", added);
      members.put("replayed", done.isReplayed());
      output.print(done.isReplayed() ? text + " (replayed)" : text, members);
      return ExitCode.OK;
    }
  }

  @Command(
      name = "get",
      description = {
        "Print the values of counters.",
        "",
        "For several counters, prints value and name, one per line. With --json, one",
        "counter has what open holds reserve, and what their bounds still allow."
      },
      footer = {
        "",
        "Exit code 1: a counter was never written, or was deleted.",
        "",
        "Examples:",
        "  quipu get likes",
        "  quipu get likes shares views"
      })
  static final class GetCommand extends AccessCommand {
    @Parameters(paramLabel = "NAME", arity = "1..*", description = "The counters.")
    private List<String> names = List.of();

    @Override
    public Integer call() {
      boolean areAllFound = true;
      try (Access access = target.openToRead()) {
        for (int from = 0; from < names.size(); from += Limits.PAGE_COUNTERS_MAX) {
          List<String> page =
              names.subList(from, Math.min(names.size(), from + Limits.PAGE_COUNTERS_MAX));
          List<Optional<Reading>> readings =
              names.size() == 1
                  ? List.of(access.counters().read(names.getFirst()))
                  : access.counters().readAll(page);
          for (int i = 0; i < page.size(); i++) {
            areAllFound &= print(access, page.get(i), readings.get(i));
          }
        }
      }
      return areAllFound ? ExitCode.OK : ExitCode.FAILED;
    }

    private boolean print(Access access, String name, Optional<Reading> reading) {
      if (reading.isEmpty()) {
        output.failed("no such counter: " + name);
        return false;
      }
      Reading found = reading.get();
      if (found.low() != found.high()) {
        output.note(uncertain(name, found));
      }
      String value = found.text(found.value());
      Map<String, Object> members = members(name, found);
      if (names.size() == 1 && output.isJson()) {
        addHeld(access, name, members);
      }
      output.print(names.size() == 1 ? value : value + "\t" + name, members);
      return true;
    }

    /** Adds what open holds reserve, and what their bounds still allow, if there are any. */
    private static void addHeld(Access access, String name, Map<String, Object> members) {
      try {
        Holds.Balance balance = access.holds().balance(name).orElse(null);
        if (balance == null || balance.held() == 0) {
          return;
        }
        members.put("held", Decimal.text(balance.held(), balance.scale()));
        Map<String, Object> available = new LinkedHashMap<>();
        balance
            .aboveFloor()
            .ifPresent(left -> available.put("floor", Decimal.text(left, balance.scale())));
        balance
            .belowCeiling()
            .ifPresent(left -> available.put("ceiling", Decimal.text(left, balance.scale())));
        members.put("available", available);
      } catch (UnsupportedOperationException e) {
        // This store has no holds.
      }
    }
  }

  private static String uncertain(String name, Reading reading) {
    String why =
        reading.uncertainties().stream()
            .map(uncertainty -> (uncertainty.cause().word() + " " + uncertainty.where()).strip())
            .collect(Collectors.joining(", "));
    return "%s is uncertain: from %s to %s%s"
        .formatted(
            name,
            reading.text(reading.low()),
            reading.text(reading.high()),
            why.isEmpty() ? "" : "; " + why);
  }

  /** Passes on all counters with a prefix, by name. */
  static int forEach(
      Target target, Output output, String prefix, long limit, Consumer<CounterPage.Entry> action) {
    try (Access access = target.openToRead()) {
      new CounterListing(access, prefix)
          .forEachPage(limit, page -> output.together(() -> page.forEach(action)));
    }
    return ExitCode.OK;
  }

  @Command(
      name = "outcome",
      description = "Show the outcome of a request.",
      footer = {"", "Examples:", "  quipu outcome stock order-981", "  quipu outcome transfer-17"})
  static final class OutcomeCommand extends AccessCommand {
    @Parameters(
        paramLabel = "[NAME] ID",
        arity = "1..2",
        hideParamSyntax = true,
        description = {
          "The counter and the request id; for a transfer or a hold, whose ids are those of all"
              + " counters, only the id."
        })
    private List<String> nameAndId = List.of();

    @Option(
        names = "--cancel",
        description = "Cancel the request: if it was not applied, it never will be.")
    private boolean cancel;

    @Override
    public Integer call() {
      RequestId request = RequestId.of(nameAndId.getLast());
      try (Access access = target.openToRead()) {
        return nameAndId.size() == 1
            ? print(ofAll(access, request))
            : print(ofCounter(access, nameAndId.getFirst(), request));
      }
    }

    private RequestOutcome ofCounter(Access access, String name, RequestId id) {
      Counters counters = access.counters();
      return target
          .attempts()
          .repeat(() -> cancel ? counters.cancel(name, id) : counters.outcome(name, id));
    }

    private TransactionOutcome ofAll(Access access, RequestId id) {
      Transactions transactions = access.transactions();
      return target
          .attempts()
          .repeat(() -> cancel ? transactions.cancel(id) : transactions.outcome(id));
    }

    private int print(RequestOutcome outcome) {
      switch (outcome) {
        case RequestOutcome.Applied applied -> {
          String added = Decimal.text(applied.added(), applied.scale());
          output.print("applied " + added, Output.members("outcome", "applied", "added", added));
        }
        case RequestOutcome.NotSeen notSeen -> print("not-seen");
        case RequestOutcome.Canceled canceled -> print("canceled");
      }
      return ExitCode.OK;
    }

    private void printNoAdd(String outcome) {
      print(outcome);
      output.note("this is about a transfer or a hold; for an add, name its counter, too");
    }

    private int print(TransactionOutcome outcome) {
      switch (outcome) {
        case TransactionOutcome.Applied applied ->
            output.print(
                "applied "
                    + applied.adds().stream()
                        .map(
                            each -> each.counter() + "=" + Decimal.text(each.added(), each.scale()))
                        .collect(Collectors.joining(" ")),
                Output.members(
                    "outcome",
                    "applied",
                    "adds",
                    applied.adds().stream()
                        .map(each ->
                            Output.members(
                                "counter",
                                each.counter(),
                                "added",
                                Decimal.text(each.added(), each.scale())))
                        .toList()));
        case TransactionOutcome.Held held -> {
          String state = held.hold().state().name().toLowerCase(Locale.ROOT);
          output.print("hold, " + state, Output.members("outcome", "held", "state", state));
        }
        case TransactionOutcome.NotSeen notSeen -> printNoAdd("not-seen");
        case TransactionOutcome.Canceled canceled -> printNoAdd("canceled");
      }
      return ExitCode.OK;
    }

    private void print(String outcome) {
      output.print(outcome, Map.of("outcome", outcome));
    }
  }

  @Command(
      name = "export",
      description = "Print all counters, or a complete data directory, as NDJSON for import.",
      footer = {
        "",
        "The counters can be imported to any server or data directory. A complete",
        "directory also has views, clients online, sequences, jobs and request ids,",
        "and is imported to a new directory.",
        "",
        "Examples:",
        "  quipu export | quipu import --format ndjson --data copy -",
        "  quipu export --all --data quipu-data | gzip > all.gz",
        "  quipu import --format directory --data copy all.gz"
      })
  static final class ExportCommand extends AccessCommand {
    @Option(names = "--all", description = "Print everything that the data directory has.")
    private boolean all;

    @Override
    public Integer call() {
      if (all) {
        DirectoryTransfer.export(
            target.requireDirectory(
                "--all", "for that of a server, use quipu backup, and restore the backup"),
            output);
        return ExitCode.OK;
      }
      return forEach(
          target,
          output,
          "",
          Long.MAX_VALUE,
          each -> output.printJsonLine(line(each.name(), each.reading())));
    }

    /** Returns the JSON of a counter; a map of it would take most of the time of an export. */
    private static String line(String name, Reading reading) {
      StringBuilder line = new StringBuilder("{\"name\":\"");
      JsonStringEncoder.getInstance().quoteAsString(name, line);
      line.append("\",\"value\":\"").append(reading.text(reading.value())).append('"');
      if (reading.scale() != 0) {
        line.append(",\"scale\":").append(reading.scale());
      }
      return line.append('}').toString();
    }
  }

  @Command(
      name = "online",
      description = "Print the number of clients online in a room.",
      footer = {"", "Examples:", "  quipu online lobby --seen ann", "  quipu online lobby"})
  static final class OnlineCommand extends AccessCommand {
    @Parameters(paramLabel = "ROOM", description = "The room.")
    private String room = "";

    @Option(
        names = "--seen",
        paramLabel = "CLIENT",
        description = "Before counting, record that this client is in the room.")
    private @Nullable String seen;

    @Override
    public Integer call() {
      String client = seen;
      try (Access access = client == null ? target.openToRead() : target.open()) {
        if (client != null) {
          target
              .attempts()
              .repeat(() -> {
                access.seen(room, client);
                return room;
              });
        }
        Online online = access.online(room);
        if (!online.complete()) {
          output.note("incomplete: the cache may have lost clients");
        }
        String value = Long.toString(online.value());
        Map<String, Object> members = Output.members("room", room, "value", value);
        if (online.complete()) {
          members.put("low", Long.toString(online.low()));
          members.put("high", Long.toString(online.high()));
        }
        members.put("complete", online.complete());
        output.print(value, members);
        return ExitCode.OK;
      }
    }
  }

  static Map<String, Object> members(String name, Reading reading) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", name);
    members.put("value", reading.text(reading.value()));
    members.put("low", reading.text(reading.low()));
    members.put("high", reading.text(reading.high()));
    return members;
  }
}
