package dev.quipu.server.cli;

import dev.quipu.region.RegionLeases;
import dev.quipu.region.RegionalCounters;
import dev.quipu.server.cli.input.DurationConverter;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.cli.serve.Topology;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows regions, and retires one that is lost. */
@Command(
    name = "regions",
    description = {
      "Show the regions of a topology as one of them sees them, or retire one that is lost.",
      "",
      "A region that is retired never counts again under its name. What it held goes",
      "to the region that retires it; what it counted and never sent is forgotten, and",
      "readings are uncertain until --accept-loss. It is rejected while the region",
      "answers, while its lease runs, and while most regions do not agree."
    },
    footer = {
      "",
      "Examples:",
      "  quipu regions --topology regions.json --region us",
      "  quipu regions --topology regions.json --region us --retire eu",
      "  quipu regions --topology regions.json --region us --accept-loss eu"
    })
final class RegionsCommand implements Callable<Integer> {
  @Mixin private Output output = new Output();

  @Option(
      names = "--topology",
      paramLabel = "FILE",
      required = true,
      description = "The regions, as for serve.")
  private Path topology = Path.of("");

  @Option(
      names = "--region",
      paramLabel = "NAME",
      required = true,
      description = "Look from this region: work on its replica.")
  private String region = "";

  @Option(names = "--retire", paramLabel = "NAME", description = "Retire this region, for ever.")
  private @Nullable String retired;

  @Option(
      names = "--window",
      paramLabel = "TIME",
      defaultValue = "24h",
      converter = DurationConverter.class,
      description = "With --retire: as for serve (default ${DEFAULT-VALUE}).")
  private Duration window = Duration.ofHours(24);

  @Option(
      names = "--destroyed",
      paramLabel = "NAME",
      split = ",",
      description = "These replicas are gone for ever: retire without their votes.")
  private Set<String> destroyed = Set.of();

  @Option(
      names = "--accept-loss",
      paramLabel = "NAME",
      description = "Nothing of this retired region is missing: read without uncertainty.")
  private @Nullable String accepted;

  @Override
  public Integer call() {
    Topology all = Topology.read(topology, Optional.of(window));
    Topology.Opened opened = all.open(region);
    try {
      String lost = retired;
      String complete = accepted;
      if (lost != null) {
        opened.requireRecord();
        retire(opened, all, lost);
      }
      if (complete != null) {
        opened.requireRecord();
        acceptLoss(opened, all, complete);
      }
      if (lost == null && complete == null) {
        opened.leases().status().forEach(this::print);
      }
      return ExitCode.OK;
    } finally {
      opened.close();
    }
  }

  private void print(RegionLeases.Status status) {
    String lease = status.confirmedUntil().map(Instant::toString).orElse("no lease");
    String state =
        status
            .successor()
            .map(successor -> "retired, its successor is " + successor)
            .or(status::ended)
            .orElse((status.answers() ? "answers" : "is silent") + ", confirmed until " + lease);
    Map<String, Object> members =
        Output.members("region", status.region(), "answers", status.answers());
    status.confirmedUntil().ifPresent(until -> members.put("confirmedUntil", until.toString()));
    status.successor().ifPresent(successor -> members.put("successor", successor));
    status.ended().ifPresent(why -> members.put("ended", why));
    output.print(status.region() + " " + state, members);
  }

  private static void acceptLoss(Topology.Opened opened, Topology topology, String lost) {
    try {
      new RegionalCounters(opened.regions(), topology.options(), opened.leases()).acceptLoss(lost);
    } catch (IllegalStateException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private void retire(Topology.Opened opened, Topology topology, String lost) {
    RegionalCounters counters =
        new RegionalCounters(opened.regions(), topology.options(), opened.leases());
    Map<String, RegionalCounters.TakenOver> all;
    try {
      all = counters.retire(lost, destroyed);
    } catch (IllegalStateException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
    for (Map.Entry<String, RegionalCounters.TakenOver> each : all.entrySet()) {
      RegionalCounters.TakenOver left = each.getValue();
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("name", each.getKey());
      members.put("counted", Long.toString(left.counted()));
      members.put("lower", Long.toString(left.lower()));
      members.put("raise", Long.toString(left.raise()));
      output.print(
          "%s: had counted %d; rights to lower it by %d and to raise it by %d are now here"
              .formatted(each.getKey(), left.counted(), left.lower(), left.raise()),
          members);
    }
  }
}
