package dev.quipu.server.cli.serve;

import dev.quipu.Bounds;
import dev.quipu.Counters;
import dev.quipu.Limits;
import dev.quipu.ScaleRules;
import dev.quipu.backend.Backends;
import dev.quipu.backend.ScaledCounters;
import dev.quipu.layer.Store;
import dev.quipu.record.RecordGuard;
import dev.quipu.record.StoreRecord;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.store.StoreProfile;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options for counting; all servers of a store must have the same. */
public final class CountingFlags {
  @Option(
      names = "--technique",
      paramLabel = "NAME",
      description =
          "Technique on a store other than the engine (quipu techniques lists them; default:"
              + " the one with the strongest guarantees).")
  private @Nullable String technique;

  @Mixin private TechniqueFlags options = new TechniqueFlags();

  @Option(
      names = "--shards",
      paramLabel = "N",
      description =
          "Divide each counter into this number of items of another store, 1 to 64 (default 1)."
              + " Bounds of single adds are then not supported; use --floor and --ceiling.")
  private int shards = 1;

  @Option(
      names = "--floor",
      paramLabel = "N",
      description = "Lower bound of all counters, 0 or less.")
  private long floor = Long.MIN_VALUE;

  @Option(
      names = "--ceiling",
      paramLabel = "N",
      description = "Upper bound of all counters, 0 or more.")
  private long ceiling = Long.MAX_VALUE;

  @Option(
      names = "--window",
      paramLabel = "TIME",
      description = "Keep request ids for at least this time (default 24h).")
  private Duration window = Duration.ofHours(24);

  @Option(
      names = "--scale",
      split = ",",
      paramLabel = "PATTERN=SCALE",
      description =
          "Let new counters that match a name or PREFIX* have this number of digits after the"
              + " point, 0 to 18, such as 'budget/*=2'; may be repeated.")
  private List<String> scales = List.of();

  ScaleRules scales() {
    return ScaleRules.parse(scales);
  }

  Duration window() {
    return Limits.checkRetention("--window", window);
  }

  /** Returns whether an option is set that the engine does not support. */
  boolean areForOtherStores() {
    return technique != null || isDivided() || options.areSet();
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
   * Checks the options that do not depend on the store, before it is opened: one that cannot be
   * reached would hide a usage error.
   *
   * @throws IllegalArgumentException naming the wrong option
   */
  public void check() {
    window();
    shardOptions();
    requireOneMeaning();
    if (technique != null) {
      Techniques.named(technique);
    }
    options.keeping(window);
  }

  /** Rejects bounds of all counters that mean different numbers at different scales. */
  private void requireOneMeaning() {
    boolean isFixed =
        (floor != Long.MIN_VALUE && floor != 0) || (ceiling != Long.MAX_VALUE && ceiling != 0);
    if (!scales().isEmpty() && isFixed) {
      throw new IllegalArgumentException(
          "--floor and --ceiling of all counters must be 0 with --scale, since counters of several"
              + " scales have no other number in common; pass bounds with each add");
    }
  }

  private TechniqueSpec spec(StoreProfile profile) {
    String name = technique;
    return name == null ? Techniques.bestFor(profile) : Techniques.named(name);
  }

  /** Opens the counters of a store that is not the engine. */
  public Counters counters(Store on) {
    Technique plain =
        Backends.technique(spec(on.profile()), on, Randomness.secure(), options.keeping(window()));
    options.observe(plain, on);
    Counters counters = isDivided() ? new Sharded(on, plain, shardOptions()) : plain;
    return new ScaledCounters(counters, scales());
  }

  /**
   * Checks that these options work on a store.
   *
   * @throws IllegalArgumentException naming what the store or the technique lacks
   */
  public void requireWorksOn(Store store) {
    counters(store);
  }

  /**
   * Returns a guard for a store with these options, which has not read the record yet.
   *
   * @throws IllegalArgumentException if these options do not work on the store
   */
  public RecordGuard guard(Store store) {
    requireWorksOn(store); // otherwise the record would be compared with one that cannot be adopted
    return new RecordGuard(store, record(store.profile()), adopt(store.profile()));
  }

  /**
   * Requires that the record of a store agrees with the options.
   *
   * @throws IllegalArgumentException if there is a disagreement
   */
  public static void require(Optional<String> disagreement) {
    disagreement.ifPresent(why -> {
      throw new IllegalArgumentException(why);
    });
  }

  /** Returns the record of a store with these options. */
  public StoreRecord record(StoreProfile profile) {
    StoreRecord plain =
        StoreRecord.of(spec(profile), Optional.of(window()))
            .with(options.keeping(window()).recorded())
            .scaled(scales());
    return isDivided() ? plain.divided(shardOptions()) : plain;
  }

  /** Returns the command that writes {@link #record} to a store. */
  private String adopt(StoreProfile profile) {
    StringBuilder command = new StringBuilder("quipu adopt STORE-URI");
    command.append(" --technique ").append(spec(profile).name());
    record(profile)
        .options()
        .forEach((name, value) ->
            command.append(
                (name.equals("scale") ? " --%s '%s'" : " --%s %s").formatted(name, value)));
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
