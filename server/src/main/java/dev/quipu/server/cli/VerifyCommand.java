package dev.quipu.server.cli;

import dev.quipu.layer.Store;
import dev.quipu.record.RecordGuard;
import dev.quipu.record.StoreRecord;
import dev.quipu.server.cli.access.OpenedStore;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.cli.output.ResultCommand;
import dev.quipu.shard.ShardOptions;
import dev.quipu.simulation.GuaranteeCheck;
import dev.quipu.simulation.Simulation;
import dev.quipu.simulation.drill.Drill;
import dev.quipu.simulation.drill.DrillOptions;
import dev.quipu.simulation.drill.DrillPage;
import dev.quipu.simulation.drill.DrillReport;
import dev.quipu.simulation.driver.Fault;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Verifies a technique under faults. */
@Command(
    name = "verify",
    description = {
      "Verify a technique under injected faults.",
      "",
      "With --store, runs on that store for a few seconds, and reports the error of",
      "the counters. Without, runs simulations from a seed, and checks the",
      "guarantees of the technique."
    },
    footer = {
      "",
      "Faults: throttled, lost-request, lost-reply, delayed, duplicate, client-repeats.",
      "They are injected between the technique and the client of the store, which",
      "itself is healthy. Counters are kept; their names begin with quipu-verify/.",
      "",
      "Exit code 8: a counter is not exact, or a guarantee was broken.",
      "",
      "Examples:",
      "  quipu verify --technique marker-item --seeds 10000",
      "  quipu verify --technique atomic-add --store redis://127.0.0.1:6379 --seconds 5 --html r.html"
    })
final class VerifyCommand extends ResultCommand {
  /** Options that a simulation does not have. */
  private static final List<String> OF_STORES =
      List.of(
          "--seconds",
          "--faults",
          "--rate",
          "--clients",
          "--keys",
          "--shards",
          "--give-up",
          "--html");

  @Option(
      names = "--technique",
      paramLabel = "NAME",
      required = true,
      description = "The technique.")
  private String technique = "";

  @Option(names = "--seed", paramLabel = "N", description = "The first seed (default 1).")
  private long seed = 1;

  @Option(
      names = "--seeds",
      paramLabel = "N",
      description = "Number of seeds to simulate (default 1).")
  private long seeds = 1;

  @Option(names = "--store", paramLabel = "URI", description = "The store, as for serve.")
  private @Nullable String store;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "Start adds for this number of seconds (default 10).")
  private double seconds = 10;

  @Option(
      names = "--faults",
      split = ",",
      paramLabel = "FAULT",
      defaultValue = "throttled,lost-request,lost-reply",
      description = "Inject these faults (default ${DEFAULT-VALUE}).")
  private List<String> faults = List.of();

  @Option(
      names = "--rate",
      paramLabel = "SHARE",
      description = "Share of calls with a fault, 0 to 1 (default 0.02).")
  private double rate = 0.02;

  @Option(
      names = "--clients",
      paramLabel = "N",
      description = "Number of concurrent clients (default 8).")
  private int clients = 8;

  @Option(names = "--keys", paramLabel = "N", description = "Number of counters (default 1).")
  private int keys = 1;

  @Option(names = "--shards", paramLabel = "N", description = "Shards of each counter (default 1).")
  private int shards = 1;

  @Option(
      names = "--give-up",
      description = "Do not retry after an unknown outcome (default: retry).")
  private boolean givesUp;

  @Option(
      names = "--html",
      paramLabel = "FILE",
      description = "Write an HTML report with plots to this file.")
  private @Nullable Path html;

  @Override
  public Integer call() throws IOException {
    TechniqueSpec spec = Techniques.named(technique);
    if (store != null && command.commandLine().getParseResult().hasMatchedOption("--seeds")) {
      throw new IllegalArgumentException("--seeds cannot be combined with --store; use --seconds");
    }
    return store == null ? simulate() : measure(spec, store);
  }

  private int simulate() {
    for (String option : OF_STORES) {
      if (command.commandLine().getParseResult().hasMatchedOption(option)) {
        throw new IllegalArgumentException(option + " needs --store");
      }
    }
    if (seeds < 1) {
      throw new IllegalArgumentException("--seeds is %d; it must be at least 1".formatted(seeds));
    }
    GuaranteeCheck.Report report = GuaranteeCheck.run(technique, seed, seeds);
    String verdict = report.broken().orElse("all guarantees kept");
    output.print(
        "%d runs with lost replies: %s".formatted(report.runs(), verdict),
        Output.members("runs", report.runs(), "broken", report.broken().orElse("")));
    return report.broken().isEmpty() ? ExitCode.OK : ExitCode.DRIFT;
  }

  private int measure(TechniqueSpec spec, String uri) throws IOException {
    DrillOptions options =
        DrillOptions.defaults()
            .byClients(clients)
            .on(keys, 0, 0)
            .until(Duration.ofMillis(Math.round(seconds * 1000)), Long.MAX_VALUE)
            .failing(
                rate, rate == 0 ? List.of() : faults.stream().map(VerifyCommand::fault).toList())
            .repeating(!givesUp)
            .from(seed);
    DrillReport report;
    try (OpenedStore opened = OpenedStore.of(uri)) {
      StoreRecord plain = StoreRecord.of(spec, Optional.empty());
      RecordGuard.require(
          new Store(opened.driver(), Clock.system()),
          shards == 1 ? plain : plain.divided(ShardOptions.fixed(shards)));
      report = Drill.measure(opened.driver(), Simulation.Factory.of(spec, shards), options);
    }
    output.print(text(report), members(report));
    if (html != null) {
      Files.writeString(html, DrillPage.html(report));
    }
    if (rate > 0 && !report.hasUnknowns() && report.fired().isEmpty()) {
      output.note(
          "no fault was injected, so nothing was verified; use more --seconds or a higher --rate");
      return ExitCode.FAILED;
    }
    return report.isExact() ? ExitCode.OK : ExitCode.DRIFT;
  }

  private static Fault fault(String word) {
    for (Fault fault : Fault.values()) {
      if (fault.word().equals(word)) {
        return fault;
      }
    }
    List<String> all = Stream.of(Fault.values()).map(Fault::word).toList();
    throw new IllegalArgumentException(
        "--faults has unknown fault '%s'; known faults are %s"
            .formatted(word, String.join(", ", all)));
  }

  private static String text(DrillReport report) {
    StringBuilder text =
        new StringBuilder("%s on %s%n".formatted(report.technique(), report.store()));
    for (Map.Entry<String, String> each : DrillPage.figures(report)) {
      text.append("  %-30s %s%n".formatted(each.getKey(), each.getValue()));
    }
    text.append(report.isExact() ? "exact" : "not exact");
    return text.toString();
  }

  private static Map<String, Object> members(DrillReport report) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("store", report.store());
    members.put("technique", report.technique());
    members.put("seed", report.options().seed());
    members.put("clients", report.options().clients());
    members.put("counters", report.options().keys());
    members.put("seconds", report.time().toMillis() / 1000.0);
    Map<String, Integer> fired = new LinkedHashMap<>();
    report.fired().entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(each -> fired.put(each.getKey().word(), each.getValue()));
    members.put("faults", fired);
    members.put("expected", report.expected());
    members.put("found", report.found());
    members.put("over", report.over());
    members.put("under", report.under());
    members.put("unknown", report.unknown());
    members.put("unknownResolved", report.unknownResolved());
    members.put("unknownLeft", report.unknownLeft());
    members.put("adds", report.adds());
    members.put("addsWithoutRoom", report.fullAdds());
    members.put("attempts", report.attempts());
    members.put("addsPerSecond", report.addsPerSecond());
    members.put("roundTrips", report.roundTrips());
    members.put("readUnits", report.readUnits());
    members.put("writeUnits", report.writeUnits());
    members.put("p50Millis", report.millis(50.0));
    members.put("p99Millis", report.millis(99.0));
    members.put("addsEachSecond", report.addsEachSecond());
    return members;
  }
}
