package dev.quipu.simulation.advisor;

import dev.quipu.Bounds;
import dev.quipu.Guarantee;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLogOptions;
import dev.quipu.hits.VersionTree;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.shard.ShardOptions;
import dev.quipu.simulation.Simulation;
import dev.quipu.simulation.drill.Drill;
import dev.quipu.simulation.drill.DrillOptions;
import dev.quipu.simulation.drill.DrillReport;
import dev.quipu.simulation.driver.Fault;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.StoreProfile.WriteGroup;
import dev.quipu.technique.RequestTokens;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.technique.TokenSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;

/**
 * Finds the technique for a workload: runs the code of each technique under it, on an in-memory
 * store with the capabilities of the real one, in virtual time, while calls fail.
 *
 * @param profile the store
 * @param latency latency of one call
 */
public record Advisor(StoreProfile profile, Duration latency, Prices prices) {
  private static final long ADDS_MIN = 4_000;
  private static final long ADDS_MAX = 20_000;
  private static final int CLIENTS_MAX = 64;
  private static final int KEYS_SIMULATED_MAX = 1_000;
  private static final double UNITS_PER_ITEM_SECOND = 1_000; // of DynamoDB, one partition
  private static final double ROOM = 0.7; // usable fraction of that
  private static final double ITEM_BYTES = 250; // a marker or a change, with its keys
  private static final double READ_WORK = 0.2; // of a write, as billed by DynamoDB
  private static final double DAY_SECONDS = 86_400;

  /** Returns the latency to assume for a store where none is given. */
  public static Duration usualLatency(String store) {
    return switch (store) {
      case "dynamodb" -> Duration.ofMillis(5);
      case "postgresql" -> Duration.ofMillis(2);
      case "redis", "memcached" -> Duration.ofMillis(1);
      case "simpledb" -> Duration.ofMillis(20);
      default -> Duration.ofNanos(200_000);
    };
  }

  /** Evaluates every technique. */
  public Advice advise(Workload load) {
    List<Advice.Option> options = new ArrayList<>();
    for (TechniqueSpec spec : Techniques.ALL) {
      options.add(option(load.regions() > 1 ? RegionalAdvice.of(spec) : spec, load));
    }
    if (load.regions() > 1) {
      options.add(option(RegionalAdvice.COUNTERS, load));
    }
    options.sort(
        Comparator.comparing((Advice.Option option) -> !option.isFit())
            .thenComparingDouble(option -> option.dollarsPerMonth().orElse(0))
            .thenComparingDouble(Advice.Option::workPerAdd));
    Optional<Advice.Option> best = options.stream().filter(Advice.Option::isFit).findFirst();
    return new Advice(best, options);
  }

  private Advice.Option option(TechniqueSpec spec, Workload load) {
    List<String> against = against(spec, load);
    if (!spec.worksOn(profile)) {
      return new Advice.Option(
          spec,
          1,
          against,
          Optional.empty(),
          OptionalDouble.empty(),
          Double.MAX_VALUE,
          java(spec, 1, load),
          serve(spec, 1, load));
    }
    int shards = shards(spec, load);
    if (shards > ShardOptions.SHARDS_MAX) {
      against.add(
          "%.0f adds per second to one counter need more than %d shards"
              .formatted(load.hottest(), ShardOptions.SHARDS_MAX));
      shards = 1;
    }
    int divided = canBeDivided(spec, load) ? shards : 1;
    if (divided < shards) {
      against.add("one item cannot sustain %.0f adds per second".formatted(load.hottest()));
    }
    DrillReport report = predict(spec, load, divided);
    if (Math.abs(report.driftPerAdd()) > load.driftAllowed()) {
      against.add(
          "drifts by %.0f per million adds, at %.0f faults per million calls"
              .formatted(1e6 * report.driftPerAdd(), 1e6 * load.faultRate()));
    }
    Use use = use(spec, load, report, divided);
    OptionalDouble dollars =
        prices.month(profile.name(), use.writeUnits, use.readUnits, use.keptBytes);
    double work = (use.writeUnits + use.readUnits * READ_WORK) / load.addsPerSecond();
    return new Advice.Option(
        spec,
        divided,
        against,
        Optional.of(report),
        dollars,
        work,
        java(spec, divided, load),
        serve(spec, divided, load));
  }

  private String serve(TechniqueSpec spec, int cells, Workload load) {
    boolean isSuitable =
        load.regions() > 1 && RegionalAdvice.against(spec, profile.name(), load).isEmpty();
    return isSuitable ? RegionalAdvice.serve(spec, cells, load) : "";
  }

  private List<String> against(TechniqueSpec spec, Workload load) {
    List<String> against = new ArrayList<>();
    if (!spec.worksOn(profile)) {
      Set<Capability> missing = EnumSet.noneOf(Capability.class);
      missing.addAll(spec.needs());
      missing.removeAll(profile.capabilities());
      against.add("%s lacks %s".formatted(profile.name(), missing));
    }
    if (!load.bounds().isNone() && !spec.promises(Guarantee.BOUNDED)) {
      against.add("does not support bounds");
    }
    if (!load.retryWindow().isZero() && !spec.remembersIds()) {
      against.add(
          "does not support request ids, so a repeat by another process counts the add twice");
    }
    if (spec.equals(RequestTokens.SPEC) && load.retryWindow().compareTo(RequestTokens.WINDOW) > 0) {
      against.add(
          "detects repeats for %d minutes only".formatted(RequestTokens.WINDOW.toMinutes()));
    }
    boolean isSlots = spec.equals(TokenSet.SPEC);
    if (isSlots && (load.addsPerCounter() == 0 || load.addsPerCounter() > TokenSet.SLOTS_MAX)) {
      against.add("accepts at most %d adds per counter".formatted(TokenSet.SLOTS_MAX));
    }
    if (load.regions() > 1) {
      against.addAll(RegionalAdvice.against(spec, profile.name(), load));
    }
    return against;
  }

  private static boolean isItemCollection(TechniqueSpec spec) {
    return spec.name().equals("item-collection");
  }

  /** Returns whether a technique stores adds in separate items anyway. */
  private static boolean isSpread(TechniqueSpec spec) {
    return isItemCollection(spec) || spec.equals(HitLog.SPEC) || spec.equals(VersionTree.SPEC);
  }

  private boolean canBeDivided(TechniqueSpec spec, Workload load) {
    return load.bounds().isNone() || (spec.promises(Guarantee.BOUNDED) && !isTokens(spec));
  }

  private static boolean isTokens(TechniqueSpec spec) {
    return spec.equals(RequestTokens.SPEC);
  }

  /**
   * Returns enough shards to keep one item below the store's sustained rate; one if no rate is
   * stated.
   */
  private int shards(TechniqueSpec spec, Workload load) {
    double here = load.hottest() / (RegionalAdvice.isCounters(spec) ? load.regions() : 1);
    double needed = here / (addsPerItemSecond(spec) * ROOM);
    int shards = 1;
    while (shards < needed && shards <= ShardOptions.SHARDS_MAX) {
      shards *= 2;
    }
    return shards;
  }

  private double addsPerItemSecond(TechniqueSpec spec) {
    boolean isPartition =
        profile.writeGroup().filter(group -> group.scope() == Atomicity.PARTITION).isPresent();
    if (isSpread(spec) && !isPartition) {
      return Double.POSITIVE_INFINITY;
    }
    if (profile.name().equals("dynamodb")) {
      boolean isBatch = spec.needs().contains(Capability.ATOMIC_BATCH) || isTokens(spec);
      return UNITS_PER_ITEM_SECOND / (isBatch ? 4 : 1);
    }
    return profile.writeGroup().map(WriteGroup::writesPerSecond).orElse(Integer.MAX_VALUE);
  }

  private DrillReport predict(TechniqueSpec spec, Workload load, int shards) {
    int keys = (int) Math.min(load.keys(), KEYS_SIMULATED_MAX);
    // A few more clients than are busy concurrently, so that the rate is kept.
    double busy = load.addsPerSecond() * latency.toNanos() / 1e9 * 4;
    int clients = (int) Math.max(2, Math.min(CLIENTS_MAX, Math.ceil(busy)));
    double rate = Math.min(load.addsPerSecond(), clients / (latency.toNanos() / 1e9));
    DrillOptions options =
        DrillOptions.defaults()
            .byClients(clients)
            .on(keys, load.hotShare(), rate)
            .until(DrillOptions.TIME_MAX, adds(spec, load))
            .at(latency, latency)
            .repeating(spec.remembersIds());
    boolean fails = load.faultRate() > 0;
    List<Fault> faults = List.of(Fault.THROTTLED, Fault.LOST_REQUEST, Fault.LOST_REPLY);
    DrillOptions all = options.failing(load.faultRate(), fails ? faults : List.of());
    StoreDriver memory = new LimitedDriver(new MemoryDriver(), capabilities());
    Simulation.Factory factory =
        RegionalAdvice.isCounters(spec)
            ? RegionalAdvice.factory(shards)
            : Simulation.Factory.of(spec, shards);
    return Drill.predict(memory, factory, all);
  }

  private Set<Capability> capabilities() {
    Set<Capability> both = EnumSet.copyOf(profile.capabilities());
    both.retainAll(new MemoryDriver().profile().capabilities());
    return both;
  }

  /** Returns enough adds to make the result insensitive to randomness. */
  private static long adds(TechniqueSpec spec, Workload load) {
    if (spec.equals(TokenSet.SPEC)) {
      return TokenSet.SLOTS;
    }
    return Math.clamp((long) (200 / Math.max(1e-9, load.faultRate())), ADDS_MIN, ADDS_MAX);
  }

  /** What a technique consumes of a store per second, and what it stores there. */
  private record Use(double writeUnits, double readUnits, double keptBytes) {}

  private Use use(TechniqueSpec spec, Workload load, DrillReport report, int shards) {
    double writes = load.addsPerSecond() * report.eachAdd(report.writeUnits());
    double readsOfAdds = load.addsPerSecond() * report.eachAdd(report.readUnits());
    double kept = spec.perAdd().itemsKept() * load.addsPerSecond() * keptSeconds(spec, load);
    double reads = load.readsPerSecond();
    double unitsPerRead = Math.max(shards, spec.perRead().roundTrips());
    if (isItemCollection(spec)) {
      double everySecond = load.staleness().toMillis() / 1000.0;
      reads = everySecond == 0 ? reads : Math.min(reads, load.keys() / everySecond);
      unitsPerRead = 2 + Math.max(1, kept / load.keys() * ITEM_BYTES / 4096);
    }
    int copies = load.regions(); // a write is repeated in each region, and a read asks all of them
    return new Use(
        writes * copies, readsOfAdds + reads * unitsPerRead * copies, kept * ITEM_BYTES * copies);
  }

  /**
   * Returns how long markers and changes are stored: changes are folded once no repeat can arrive.
   */
  private static double keptSeconds(TechniqueSpec spec, Workload load) {
    return isTokens(spec) ? DAY_SECONDS : Math.max(60, load.retryWindow().toSeconds());
  }

  private String java(TechniqueSpec spec, int shards, Workload load) {
    if (load.regions() > 1 && RegionalAdvice.against(spec, profile.name(), load).isEmpty()) {
      return RegionalAdvice.java(spec, shards, load, bounds(load.bounds()));
    }
    Duration keep = load.retryWindow();
    String arguments = "store";
    if (spec.name().equals("marker-item") && !keep.isZero()) {
      arguments = "store, Duration.parse(\"%s\")".formatted(keep);
    }
    if (spec.equals(HitLog.SPEC) && keep.compareTo(HitLogOptions.DEFAULT.window()) > 0) {
      arguments = "store, HitLogOptions.DEFAULT.keeping(Duration.parse(\"%s\"))".formatted(keep);
    }
    String below = "%s(%s)".formatted(creator(spec), arguments);
    String within = load.bounds().isNone() ? "" : ".within(%s)".formatted(bounds(load.bounds()));
    String technique =
        shards == 1
            ? below
            : "new Sharded(store, %s, ShardOptions.fixed(%d)%s)".formatted(below, shards, within);
    String bounded =
        load.bounds().isNone() ? "" : ".withBounds(%s)".formatted(bounds(load.bounds()));
    return """
    Quipu quipu = Backends.on(driver, store -> %s);
    Counter counter = quipu.counter(name)%s;
    AddResult result = counter.add(amount%s);
    """
        .formatted(technique, bounded, spec.remembersIds() ? ", RequestId.of(request)" : "");
  }

  private static String creator(TechniqueSpec spec) {
    return switch (spec.name()) {
      case "atomic-add" -> "new AtomicAdd";
      case "optimistic" -> "new Optimistic";
      case "optimistic-with-history" -> "Optimistic.withHistory";
      case "request-token" -> "new RequestTokens";
      case "marker-item" -> "new MarkerItem";
      case "item-collection" -> "new ItemCollection";
      case "token-set" -> "new TokenSet";
      case "hit-log" -> "new HitLog";
      case "version-tree" -> "new VersionTree";
      case "regional" -> "Backends.inRegions"; // where its regions or bounds are not supported
      default -> throw new IllegalArgumentException("no class for " + spec.name());
    };
  }

  private static String bounds(Bounds bounds) {
    if (bounds.ceiling() == Long.MAX_VALUE) {
      return "Bounds.atLeast(%dL)".formatted(bounds.floor());
    }
    return bounds.floor() == Long.MIN_VALUE
        ? "Bounds.atMost(%dL)".formatted(bounds.ceiling())
        : "Bounds.between(%dL, %dL)".formatted(bounds.floor(), bounds.ceiling());
  }
}
