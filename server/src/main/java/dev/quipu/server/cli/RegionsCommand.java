package dev.quipu.server.cli;

import dev.quipu.technique.RegionLeases;
import dev.quipu.technique.RegionalCounters;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
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
      "A region that is retired never counts again under its name. What it held goes to the region",
      "that retires it; what it counted and never sent is forgotten. It is refused while the region",
      "answers, while its lease runs, and while another region is silent."
    },
    footer = {
      "",
      "Examples:",
      "  quipu regions --topology regions.json --region us",
      "  quipu regions --topology regions.json --region us --retire eu"
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
      converter = ServeCommand.DurationConverter.class,
      description = "With --retire: as for serve (default ${DEFAULT-VALUE}).")
  private Duration window = Duration.ofHours(24);

  @Override
  public Integer call() {
    Topology all = Topology.read(topology, Optional.of(window));
    Topology.Opened opened = all.open(region);
    try {
      String lost = retired;
      if (lost == null) {
        opened.leases().status().forEach(this::print);
      } else {
        opened.requireRecord();
        retire(opened, all, lost);
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
            .heir()
            .map(heir -> "retired, its heir is " + heir)
            .orElse((status.answers() ? "answers" : "is silent") + ", confirmed until " + lease);
    Map<String, Object> members =
        Output.members("region", status.region(), "answers", status.answers());
    status.confirmedUntil().ifPresent(until -> members.put("confirmedUntil", until.toString()));
    status.heir().ifPresent(heir -> members.put("heir", heir));
    output.print(status.region() + " " + state, members);
  }

  private void retire(Topology.Opened opened, Topology all, String lost) {
    RegionalCounters counters =
        new RegionalCounters(opened.regions(), all.options(), opened.leases());
    Map<String, RegionalCounters.Estate> estates;
    try {
      estates = counters.retire(lost);
    } catch (IllegalStateException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
    for (Map.Entry<String, RegionalCounters.Estate> each : estates.entrySet()) {
      RegionalCounters.Estate left = each.getValue();
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
