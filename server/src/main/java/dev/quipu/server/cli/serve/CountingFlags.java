package dev.quipu.server.cli.serve;

import dev.quipu.Bounds;
import dev.quipu.Counters;
import dev.quipu.backend.Backends;
import dev.quipu.layer.Store;
import dev.quipu.record.RecordGuard;
import dev.quipu.record.StoreRecord;
import dev.quipu.server.cli.input.DurationConverter;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.store.StoreProfile;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.time.Randomness;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say how counters are kept: those that all servers of a store agree on. */
public final class CountingFlags {
  @Option(
      names = "--technique",
      paramLabel = "NAME",
      description =
          "How to count on another store (quipu techniques lists them; default: the one that"
              + " promises most).")
  private @Nullable String technique;

  @Option(
      names = "--shards",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Divide each counter over this many items of another store, 1 to 64 (default 1). Bounds of"
              + " single adds cannot be kept then; --floor and --ceiling are, of all counters.")
  private int shards;

  @Option(
      names = "--floor",
      paramLabel = "N",
      description = "Reject adds to any counter that would go below this, 0 or less.")
  private long floor = Long.MIN_VALUE;

  @Option(
      names = "--ceiling",
      paramLabel = "N",
      description = "Reject adds to any counter that would go above this, 0 or more.")
  private long ceiling = Long.MAX_VALUE;

  @Option(
      names = "--window",
      paramLabel = "TIME",
      defaultValue = "24h",
      converter = DurationConverter.class,
      description = "Remember request ids for at least this time (default ${DEFAULT-VALUE}).")
  private Duration window = Duration.ofHours(24);

  @Option(
      names = "--region",
      paramLabel = "NAME",
      description =
          "Count in this one of several regions, on its own replica of a table; with --topology,"
              + " and without --store. Only counters are served then.")
  private @Nullable String region;

  @Option(
      names = "--topology",
      paramLabel = "FILE",
      description =
          "The regions, in JSON, the same in all of them: initial, regions with their stores,"
              + " floor, ceiling, cells, lease, slack.")
  private @Nullable Path topology;

  /** The region to count in, and the file of all. */
  public record InRegion(String own, Topology topology) {
    public Topology.Opened open() {
      return topology.open(own);
    }
  }

  Duration window() {
    return window;
  }

  /** Whether there is an option that the engine does not take. */
  boolean areForOtherStores() {
    return technique != null || isDivided();
  }

  private boolean isDivided() {
    return shards != 1 || !bounds().isNone();
  }

  private Bounds bounds() {
    return Bounds.between(floor, ceiling);
  }

  private ShardOptions shardOptions() {
    return ShardOptions.fixed(shards).within(bounds());
  }

  /**
   * The region to count in; empty to count on one store.
   *
   * @throws IllegalArgumentException for options that do not go together, or a malformed file
   */
  public Optional<InRegion> inRegion() {
    String own = region;
    Path file = topology;
    if (own == null && file == null) {
      return Optional.empty();
    }
    if (own == null || file == null) {
      throw new IllegalArgumentException("--region and --topology go together");
    }
    if (areForOtherStores()) {
      throw new IllegalArgumentException(
          "the topology says where a region counts and within what bounds: --technique, --shards,"
              + " --floor and --ceiling do not go with it");
    }
    return Optional.of(new InRegion(own, Topology.read(file, Optional.of(window))));
  }

  private TechniqueSpec spec(StoreProfile profile) {
    String name = technique;
    return name == null ? Techniques.bestFor(profile) : Techniques.named(name);
  }

  /** Opens the counters of a store that is not the engine. */
  public Counters counters(Store on) {
    Technique plain =
        Backends.technique(spec(on.profile()), on, Randomness.secure(), Optional.of(window));
    return isDivided() ? new Sharded(on, plain, shardOptions()) : plain;
  }

  /**
   * Passes if these options can be had on a store.
   *
   * @throws IllegalArgumentException naming what the store or the technique lacks
   */
  public void requireWorksOn(Store store) {
    counters(store);
  }

  /**
   * Guards a store that is counted on by these options; it has not read the record yet.
   *
   * @throws IllegalArgumentException if these options cannot be had on the store
   */
  public RecordGuard guard(Store store) {
    requireWorksOn(store); // else the record would be compared with one that nobody can adopt
    return new RecordGuard(store, record(store.profile()), adopt(store.profile()));
  }

  /** What a store that is counted on by these options has in its record. */
  public StoreRecord record(StoreProfile profile) {
    StoreRecord plain = StoreRecord.of(spec(profile), Optional.of(window));
    return isDivided() ? plain.divided(shardOptions()) : plain;
  }

  /** The command that puts {@link #record} into a store. */
  private String adopt(StoreProfile profile) {
    StringBuilder command = new StringBuilder("quipu adopt STORE-URI");
    command.append(" --technique ").append(spec(profile).name());
    if (isDivided()) {
      command.append(" --shards ").append(shards);
      if (floor != Long.MIN_VALUE) {
        command.append(" --floor ").append(floor);
      }
      if (ceiling != Long.MAX_VALUE) {
        command.append(" --ceiling ").append(ceiling);
      }
    }
    record(profile)
        .window()
        .map(StoreRecord::text)
        .ifPresent(time -> command.append(" --window ").append(time));
    return command.toString();
  }
}
