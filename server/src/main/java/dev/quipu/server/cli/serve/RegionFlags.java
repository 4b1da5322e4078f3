package dev.quipu.server.cli.serve;

import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for counting in a region. */
public final class RegionFlags {
  @Option(
      names = "--region",
      paramLabel = "NAME",
      description =
          "Count in this region, on its own replica of a table; requires --topology. Only counters"
              + " are supported.")
  private @Nullable String region;

  @Option(
      names = "--topology",
      paramLabel = "FILE",
      description =
          "File with all regions in JSON, identical in all of them: initial, regions with their"
              + " stores, technique, floor, ceiling, cells, lease, slack.")
  private @Nullable Path topology;

  /** The region to count in, and the topology. */
  public record InRegion(String own, Topology topology) {
    /** Opens the regions. */
    public Topology.Opened open() {
      return topology.open(own);
    }
  }

  /**
   * Returns the region of this server; empty for a single store.
   *
   * @throws IllegalArgumentException for conflicting options, or a malformed file
   */
  public Optional<InRegion> of(CountingFlags counting) {
    String own = region;
    Path file = topology;
    if (own == null && file == null) {
      return Optional.empty();
    }
    if (own == null || file == null) {
      throw new IllegalArgumentException("--region and --topology must be used together");
    }
    if (counting.areForOtherStores() || !counting.scales().isEmpty()) {
      throw new IllegalArgumentException(
          "--technique, its options, --scale, --shards, --floor and --ceiling conflict with --topology, which"
              + " has the stores and bounds");
    }
    return Optional.of(new InRegion(own, Topology.read(file, Optional.of(counting.window()))));
  }
}
