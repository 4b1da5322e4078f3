package dev.quipu.server.cli;

import dev.quipu.Limits;
import dev.quipu.region.RegionLeases;
import dev.quipu.region.RegionalCounters;
import dev.quipu.region.TakenOver;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.cli.output.ResultCommand;
import dev.quipu.server.cli.serve.Topology;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shows regions, and retires a lost one. */
@Command(
    name = "regions",
    description = {
      "Show the regions of a topology as seen by one of them, or retire a lost one.",
      "",
      "A retired region never counts again under its name. Its rights go to the",
      "region that retires it; adds that it never replicated are lost, and readings",
      "are uncertain until --accept-loss. Retiring is rejected while the region",
      "responds, while its lease is valid, and without a quorum of the regions."
    },
    footer = {
      "",
      "Examples:",
      "  quipu regions --topology regions.json --region us",
      "  quipu regions --topology regions.json --region us --retire eu",
      "  quipu regions --topology regions.json --region us --accept-loss eu"
    })
final class RegionsCommand extends ResultCommand {
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
      description = "Use the replica of this region.")
  private String region = "";

  @Option(names = "--retire", paramLabel = "NAME", description = "Retire this region permanently.")
  private @Nullable String retired;

  @Option(
      names = "--window",
      paramLabel = "TIME",
      description = "With --retire: as for serve (default 24h).")
  private Duration window = Duration.ofHours(24);

  @Option(
      names = "--destroyed",
      paramLabel = "NAME",
      split = ",",
      description = "Retire without the votes of these regions, whose replicas are destroyed.")
  private Set<String> destroyed = Set.of();

  @Option(
      names = "--accept-loss",
      paramLabel = "NAME",
      description = "Accept that adds of this retired region may be lost; end the uncertainty.")
  private @Nullable String accepted;

  @Override
  public Integer call() {
    Topology all = Topology.read(topology, Optional.of(Limits.checkRetention("--window", window)));
    if (retired != null || accepted != null) {
      all.requireRights(retired != null ? "--retire" : "--accept-loss");
    }
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
    String lease = status.confirmedUntil().map(Instant::toString).orElse("none");
    String state =
        status
            .successor()
            .map(successor -> "retired, successor " + successor)
            .or(status::ended)
            .orElse(
                (status.answers() ? "responds" : "does not respond") + ", lease until " + lease);
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
    Map<String, TakenOver> all;
    try {
      all = counters.retire(lost, destroyed);
    } catch (IllegalStateException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
    for (Map.Entry<String, TakenOver> each : all.entrySet()) {
      TakenOver left = each.getValue();
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("name", each.getKey());
      members.put("counted", Long.toString(left.counted()));
      members.put("lower", Long.toString(left.lower()));
      members.put("raise", Long.toString(left.raise()));
      output.print(
          "%s: counted %d; took over the rights to subtract %d and to add %d"
              .formatted(each.getKey(), left.counted(), left.lower(), left.raise()),
          members);
    }
  }
}
