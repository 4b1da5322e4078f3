package dev.quipu.server.cli;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.CounterPage;
import dev.quipu.Limits;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.presence.Online;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.Target;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands about counters. */
final class CounterCommands {
  private CounterCommands() {}

  @Command(
      name = "add",
      description = "Add to a counter, once.",
      footer = {
        "",
        "Examples:",
        "  quipu add likes 1",
        "  quipu add stock -2 --floor 0 --id order-981"
      })
  static final class AddCommand implements Callable<Integer> {
    @Mixin private Target target = new Target();
    @Mixin private Output output = new Output();

    @Parameters(paramLabel = "NAME", description = "The counter.")
    private String name = "";

    @Parameters(paramLabel = "DELTA", description = "What to add; may be negative.")
    private long delta;

    @Option(
        names = "--id",
        description =
            "The id of this request: a repeat under it counts once. One is made up if it is left out.")
    private @Nullable String id;

    @Option(names = "--floor", description = "Reject to go below this.")
    private long floor = Long.MIN_VALUE;

    @Option(names = "--ceiling", description = "Reject to go above this.")
    private long ceiling = Long.MAX_VALUE;

    @Option(
        names = {"-v", "--verbose"},
        description = "Print the id of this request on standard error.")
    private boolean verbose;

    @Override
    public Integer call() {
      String given = id;
      RequestId request = given == null ? RequestId.random() : RequestId.of(given);
      Add add = new Add(name, delta, new Bounds(floor, ceiling), request);
      if (verbose) {
        output.note("request id: " + request); // before the first attempt: kept if we are killed
      }
      try (Access access = target.open()) {
        return print(add, given == null ? addOnce(access, add) : repeated(access, add));
      } catch (QuipuException e) {
        if (e.outcome() == Outcome.UNKNOWN && !verbose) {
          output.note("request id: " + request);
        }
        throw e;
      }
    }

    private AddResult repeated(Access access, Add add) {
      return target.attempts().repeat(() -> access.add(add));
    }

    /**
     * Adds under an id that was made up. Counters may take no such id: they keep none, or a region
     * is to be named in it. Then the add did not apply, and is sent without one, and not repeated.
     */
    private AddResult addOnce(Access access, Add add) {
      try {
        return repeated(access, add);
      } catch (IllegalArgumentException | UnsupportedOperationException e) {
        Add bare = new Add(add.counter(), add.delta(), add.bounds(), null);
        AddResult result = access.add(bare);
        if (verbose) {
          output.note("the request was sent without an id: " + e.getMessage());
        }
        return result;
      }
    }

    private int print(Add add, AddResult result) {
      return switch (result) {
        case AddResult.Applied applied -> done(add, applied.added(), applied.valueIfKnown(), false);
        case AddResult.Replayed again -> done(add, again.added(), again.valueIfKnown(), true);
        case AddResult.Rejected rejected -> {
          String why = rejected.why().name().toLowerCase(Locale.ROOT);
          Map<String, Object> members = new LinkedHashMap<>();
          members.put("name", add.counter());
          members.put("rejected", why);
          String text = "rejected (%s): %s".formatted(why, add.counter());
          if (rejected.valueIfKnown().isPresent()) {
            members.put("value", Long.toString(rejected.valueIfKnown().getAsLong()));
            text += " is " + rejected.valueIfKnown().getAsLong();
          }
          output.print(text, members);
          yield ExitCode.REJECTED;
        }
        case AddResult.Conflict conflict -> {
          output.print(
              "rejected (conflict): the id was used for another request",
              Output.members("name", add.counter(), "rejected", "conflict"));
          yield ExitCode.REJECTED;
        }
      };
    }

    private int done(Add add, long added, OptionalLong value, boolean replayed) {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("name", add.counter());
      value.ifPresent(known -> members.put("value", Long.toString(known)));
      members.put("added", Long.toString(added));
      members.put("replayed", replayed);
      String text = value.isPresent() ? Long.toString(value.getAsLong()) : "added " + added;
      output.print(replayed ? text + " (replayed)" : text, members);
      return ExitCode.OK;
    }
  }

  @Command(name = "get", description = "Print a counter.")
  static final class GetCommand implements Callable<Integer> {
    @Mixin private Target target = new Target();
    @Mixin private Output output = new Output();

    @Parameters(paramLabel = "NAME", description = "The counter.")
    private String name = "";

    @Override
    public Integer call() {
      try (Access access = target.openToRead()) {
        Optional<Reading> reading = access.read(name);
        if (reading.isEmpty()) {
          output.note("no such counter: " + name);
          return ExitCode.FAILED;
        }
        Reading found = reading.get();
        if (found.low() != found.high()) {
          output.note(unsure(found));
        }
        output.print(Long.toString(found.value()), members(name, found));
        return ExitCode.OK;
      }
    }
  }

  private static String unsure(Reading reading) {
    String why =
        reading.uncertainties().stream()
            .map(uncertainty -> (uncertainty.cause().word() + " " + uncertainty.where()).strip())
            .collect(Collectors.joining(", "));
    return "it is not certain, but within %d to %d%s"
        .formatted(reading.low(), reading.high(), why.isEmpty() ? "" : ": " + why);
  }

  @Command(name = "list", description = "Print counters, in order of name.")
  static final class ListCommand implements Callable<Integer> {
    @Mixin private Target target = new Target();
    @Mixin private Output output = new Output();

    @Parameters(paramLabel = "PREFIX", arity = "0..1", description = "How their names start.")
    private String prefix = "";

    @Option(names = "--limit", description = "Print at most so many (default: all).")
    private long limit = Long.MAX_VALUE;

    @Override
    public Integer call() {
      if (limit < 0) {
        throw new IllegalArgumentException("--limit is %d, the least is 0".formatted(limit));
      }
      long left = limit;
      try (Access access = target.openToRead()) {
        String after = "";
        while (left > 0) {
          int size = (int) Math.min(left, Limits.PAGE_COUNTERS_MAX);
          CounterPage page = access.list(prefix, after, size);
          for (CounterPage.Entry each : page.counters()) {
            output.print(
                each.reading().value() + "\t" + each.name(), members(each.name(), each.reading()));
          }
          left -= page.counters().size();
          if (page.resumeAfter().isEmpty()) {
            break;
          }
          after = page.resumeAfter().get();
        }
      }
      return ExitCode.OK;
    }
  }

  @Command(name = "outcome", description = "Show the outcome of a request.")
  static final class OutcomeCommand implements Callable<Integer> {
    @Mixin private Target target = new Target();
    @Mixin private Output output = new Output();

    @Parameters(paramLabel = "NAME", description = "The counter.")
    private String name = "";

    @Parameters(paramLabel = "ID", description = "The id of the request.")
    private String id = "";

    @Option(names = "--cancel", description = "If it did not apply, make sure that it never will.")
    private boolean cancel;

    @Override
    public Integer call() {
      RequestId request = RequestId.of(id);
      try (Access access = target.openToRead()) {
        switch (target.attempts().repeat(() -> access.outcome(name, request, cancel))) {
          case RequestOutcome.Applied applied ->
              output.print(
                  "applied " + applied.added(),
                  Output.members("outcome", "applied", "added", Long.toString(applied.added())));
          case RequestOutcome.NotSeen notSeen ->
              output.print("not-seen", Map.of("outcome", "not-seen"));
          case RequestOutcome.Canceled canceled ->
              output.print("canceled", Map.of("outcome", "canceled"));
        }
        return ExitCode.OK;
      }
    }
  }

  @Command(
      name = "export",
      description = "Print all counters as NDJSON, which import reads.",
      footer = {"", "Views are not exported: import their log again."})
  static final class ExportCommand implements Callable<Integer> {
    @Mixin private Target target = new Target();
    @Mixin private Output output = new Output();

    @Override
    public Integer call() {
      try (Access access = target.openToRead()) {
        String after = "";
        while (true) {
          CounterPage page = access.list("", after, Limits.PAGE_COUNTERS_MAX);
          for (CounterPage.Entry each : page.counters()) {
            output.printJson(
                Output.members(
                    "name", each.name(), "value", Long.toString(each.reading().value())));
          }
          if (page.resumeAfter().isEmpty()) {
            return ExitCode.OK;
          }
          after = page.resumeAfter().get();
        }
      }
    }
  }

  @Command(
      name = "online",
      description = "Print how many are online in a room.",
      footer = {"", "Examples:", "  quipu online lobby --seen ann", "  quipu online lobby"})
  static final class OnlineCommand implements Callable<Integer> {
    @Mixin private Target target = new Target();
    @Mixin private Output output = new Output();

    @Parameters(paramLabel = "ROOM", description = "The room.")
    private String room = "";

    @Option(
        names = "--seen",
        paramLabel = "CLIENT",
        description = "Before that, note that this client was seen in it just now.")
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
          output.note("the cache may have lost some: this may be wrong");
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

  private static Map<String, Object> members(String name, Reading reading) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", name);
    members.put("value", Long.toString(reading.value()));
    members.put("low", Long.toString(reading.low()));
    members.put("high", Long.toString(reading.high()));
    return members;
  }
}
