package dev.quipu.server.cli;

import dev.quipu.Bounds;
import dev.quipu.Guarantee;
import dev.quipu.engine.Engine;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.region.RegionalCounters;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.ResultCommand;
import dev.quipu.simulation.advisor.Advice;
import dev.quipu.simulation.advisor.Advisor;
import dev.quipu.simulation.advisor.Prices;
import dev.quipu.simulation.advisor.Workload;
import dev.quipu.simulation.drill.DrillReport;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.StoreUri;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/** Finds the technique for a workload. */
@Command(
    name = "advise",
    description = {
      "Find the technique for a workload, by simulation.",
      "",
      "Runs each technique under the workload, in virtual time, with faults, on a",
      "store in memory with the capabilities of the named one."
    },
    footer = {
      "",
      "Examples:",
      "  quipu advise --store dynamodb --rate 2000 --keys 1 --floor 0 --retry-window 24h",
      "  quipu advise --store dynamodb --regions 3 --floor 0 --retry-window 24h",
      "  quipu advise --ask"
    })
final class AdviseCommand extends ResultCommand {
  @Option(names = "--ask", description = "Prompt for all options that are missing.")
  private boolean prompts;

  @Option(
      names = "--store",
      paramLabel = "NAME",
      description =
          "The store: memory, engine, datastore, dynamodb, memcached, postgresql, redis or simpledb"
              + " (default ${DEFAULT-VALUE}).")
  private String store = "engine";

  @Option(
      names = "--rate",
      paramLabel = "RATE",
      description = "Adds per second, all counters (default 100).")
  private double rate = 100;

  @Option(
      names = "--keys",
      paramLabel = "N",
      description = "Number of counters (default ${DEFAULT-VALUE}).")
  private long keys = 1000;

  @Option(
      names = "--hot",
      paramLabel = "SHARE",
      description = "Share of the adds that go to the hottest counter, 0 to 1 (default 0).")
  private double hot;

  @Option(names = "--floor", paramLabel = "N", description = "Lower bound of every counter.")
  private long floor = Long.MIN_VALUE;

  @Option(names = "--ceiling", paramLabel = "N", description = "Upper bound of every counter.")
  private long ceiling = Long.MAX_VALUE;

  @Option(
      names = "--retry-window",
      paramLabel = "TIME",
      description = "Maximum time until a process or queue retries a request (default 0s: never).")
  private Duration retryWindow = Duration.ZERO;

  @Option(
      names = "--reads",
      paramLabel = "RATE",
      description = "Reads per second, all counters (default 100).")
  private double reads = 100;

  @Option(
      names = "--staleness",
      paramLabel = "TIME",
      description = "Maximum acceptable age of a value that is read (default 0s).")
  private Duration staleness = Duration.ZERO;

  @Option(
      names = "--regions",
      paramLabel = "N",
      description = "Number of regions that write (default 1).")
  private int regions = 1;

  @Option(
      names = "--adds-per-counter",
      paramLabel = "N",
      description = "Maximum number of adds to one counter over its lifetime (default 0: unknown).")
  private long addsPerCounter;

  @Option(
      names = "--fault-rate",
      paramLabel = "SHARE",
      description = "Share of the calls to the store that fail, 0 to 1 (default ${DEFAULT-VALUE}).")
  private double faultRate = 0.001;

  @Option(
      names = "--drift",
      paramLabel = "N",
      description = "Maximum acceptable error of a counter, per add (default 0: exact).")
  private double drift;

  @Option(
      names = "--latency",
      paramLabel = "TIME",
      description = "Latency of one call to the store (default: typical of the store).")
  private @Nullable Duration latency;

  @Option(
      names = "--prices",
      paramLabel = "FILE",
      description = "Price list to use (default: built in).")
  private @Nullable Path prices;

  private static final List<String> QUESTIONS =
      List.of(
          "--store",
          "--rate",
          "--keys",
          "--hot",
          "--floor",
          "--ceiling",
          "--retry-window",
          "--reads",
          "--staleness",
          "--regions",
          "--adds-per-counter",
          "--drift");

  @Override
  public Integer call() throws IOException {
    if (prompts) {
      return command.parent().commandLine().execute(prompted());
    }
    Prices dated = prices == null ? Prices.builtIn() : prices(prices);
    StoreProfile profile = profile(store);
    Duration each = latency == null ? Advisor.usualLatency(profile.name()) : latency;
    Workload workload =
        new Workload(
            rate,
            keys,
            hot,
            Bounds.between(floor, ceiling),
            retryWindow,
            reads,
            staleness,
            regions,
            addsPerCounter,
            faultRate,
            drift);
    Advice advice = new Advisor(profile, each, dated).advise(workload);
    output.print(text(advice, dated), members(advice, dated));
    return advice.best().isPresent() ? ExitCode.OK : ExitCode.FAILED;
  }

  /** Prompts for missing options, and returns the complete command line. */
  private String[] prompted() throws IOException {
    List<String> arguments = new ArrayList<>(List.of("advise"));
    for (OptionSpec given : command.commandLine().getParseResult().matchedOptions()) {
      if (!given.longestName().equals("--ask")) {
        arguments.add(given.longestName() + "=" + given.originalStringValues().getFirst());
      }
    }
    BufferedReader answers =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String name : QUESTIONS) {
      OptionSpec option = command.findOption(name);
      if (command.commandLine().getParseResult().hasMatchedOption(name)) {
        continue;
      }
      output.note(String.join(" ", option.description()) + ":");
      String answer = answers.readLine();
      if (answer != null && !answer.isBlank()) {
        arguments.add(name + "=" + answer.strip());
      }
    }
    return arguments.toArray(String[]::new);
  }

  private static StoreProfile profile(String name) {
    return switch (name) {
      case "memory" -> new MemoryDriver().profile();
      case "engine" -> Engine.storeProfile();
      default -> {
        String uri = name.contains("://") ? name : name + "://host/table";
        try {
          yield StoreProvider.of(StoreUri.parse(uri)).fullProfile();
        } catch (IllegalArgumentException e) {
          throw new IllegalArgumentException(
              "--store: %s, engine, memory".formatted(e.getMessage()), e);
        }
      }
    };
  }

  private static Prices prices(Path file) {
    try {
      return Prices.of(file);
    } catch (IOException | IllegalArgumentException e) { // missing, or not properties
      throw new IllegalArgumentException(
          "cannot read %s (--prices): it must be a file of properties".formatted(file), e);
    }
  }

  private static String guarantees(Advice.Option option) {
    return option.spec().guarantees().stream()
        .sorted()
        .map(Guarantee::sentence)
        .collect(Collectors.joining("; "));
  }

  private String text(Advice advice, Prices prices) {
    StringBuilder text = new StringBuilder();
    if (advice.best().isPresent()) {
      Advice.Option best = advice.best().get();
      text.append("Use %s%s.%n".formatted(best.spec().name(), divided(best)));
      text.append("  %s%n".formatted(best.spec().summary()));
      text.append("  After a lost reply: %s.%n".formatted(best.spec().afterLostReply()));
      text.append("  Guarantees: %s.%n%n".formatted(guarantees(best)));
      best.java().lines().forEach(line -> text.append("  %s%n".formatted(line)));
      if (!best.serve().isEmpty()) {
        text.append("%n".formatted());
        best.serve().lines().forEach(line -> text.append("  %s%n".formatted(line)));
      }
    } else {
      text.append("No technique meets all requirements on this store.%n".formatted());
      if (regions > 1) {
        text.append(
            "If one region writes, and the others read its replica, any technique works: use"
                + " --regions 1.%n".formatted());
      }
    }
    text.append(
        "%nSimulated under this workload (prices as of %s, in US dollars):%n"
            .formatted(prices.date()));
    for (Advice.Option option : advice.options()) {
      text.append(line(option));
      option.against().forEach(why -> text.append("      %s%n".formatted(why)));
    }
    return text.toString().stripTrailing();
  }

  private static String divided(Advice.Option option) {
    if (option.shards() == 1) {
      return "";
    }
    boolean isRegional = option.spec().name().equals(RegionalCounters.SPEC.name());
    return (isRegional ? " over %d cells" : " over %d shards").formatted(option.shards());
  }

  private static String line(Advice.Option option) {
    String name = (option.isFit() ? "  + " : "  - ") + option.spec().name() + divided(option);
    Optional<DrillReport> report = option.predicted();
    if (report.isEmpty()) {
      return name + System.lineSeparator();
    }
    return String.format(
        Locale.ROOT,
        "%-40s %s, drift %.0f per million adds, p99 %.1f ms, %.1f write units per add%n",
        name,
        dollars(option.dollarsPerMonth()),
        1e6 * report.get().driftPerAdd(),
        report.get().millis(99.0),
        report.get().eachAdd(report.get().writeUnits()));
  }

  private static String dollars(OptionalDouble dollars) {
    return dollars.isEmpty()
        ? "price unknown"
        : String.format(Locale.ROOT, "$%.2f per month", dollars.getAsDouble());
  }

  private static Map<String, Object> members(Advice advice, Prices prices) {
    List<Map<String, Object>> options = new ArrayList<>();
    for (Advice.Option option : advice.options()) {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("technique", option.spec().name());
      members.put("fit", option.isFit());
      members.put("against", option.against());
      members.put("shards", option.shards());
      members.put("afterLostReply", option.spec().afterLostReply());
      option
          .predicted()
          .ifPresent(report -> {
            members.put("driftPerAdd", report.driftPerAdd());
            members.put("p50Millis", report.millis(50.0));
            members.put("p99Millis", report.millis(99.0));
            members.put("writeUnits", report.eachAdd(report.writeUnits()));
            members.put("roundTrips", report.eachAdd(report.roundTrips()));
          });
      option
          .dollarsPerMonth()
          .ifPresent(dollars -> members.put("dollarsPerMonth", Math.round(dollars * 100) / 100.0));
      members.put(
          "guarantees", option.spec().guarantees().stream().sorted().map(Enum::name).toList());
      members.put("java", option.java());
      if (!option.serve().isEmpty()) {
        members.put("serve", option.serve());
      }
      options.add(members);
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("technique", advice.best().map(option -> option.spec().name()).orElse(""));
    members.put("pricesOf", prices.date());
    members.put("options", options);
    return members;
  }
}
