package dev.quipu.testkit.scenario;

import dev.quipu.Bounds;
import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.backend.Backends;
import dev.quipu.layer.Store;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.simulation.steps.LinkFaults;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.RequestTokens;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/** All scenarios, by name. */
final class Scenarios {
  private static final Bounds STOCK = Bounds.between(0, 12);
  private static final Duration SKEW = Duration.ofSeconds(20);
  private static final Duration CALL = Duration.ofMinutes(2);
  private static final LinkFaults BRIEF =
      LinkFaults.ALL.within(Duration.ofMinutes(1), Duration.ofMinutes(1));

  /** Runs one seed; returns the violations. */
  interface Scenario {
    List<String> run(long seed);
  }

  private Scenarios() {}

  /** Runs one seed; returns the violations, and how to replay it. */
  static Optional<String> problem(String name, Scenario scenario, long seed) {
    List<String> violations = scenario.run(seed);
    return violations.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "seed %d: %s; replay: ./dev simulate techniques --scenario %s --seed %d"
                .formatted(seed, violations, name, seed));
  }

  /** Returns the scenarios in the order of their names. */
  static Map<String, Scenario> all() {
    Map<String, Scenario> all = new TreeMap<>();
    for (TechniqueSpec spec : Techniques.ALL) {
      if (spec.equals(RequestTokens.SPEC)) {
        continue;
      }
      all.put(spec.name(), seed -> CounterRun.run(technique(spec, Bounds.none()), seed));
      if (spec.promises(Guarantee.BOUNDED)) {
        all.put(spec.name() + "-bounded", seed -> CounterRun.run(technique(spec, STOCK), seed));
      }
    }
    for (String name : List.of("marker-item", "token-set")) {
      all.put(
          "sharded-" + name, seed -> CounterRun.run(sharded(name, ShardOptions.fixed(3)), seed));
      all.put(
          "sharded-bounded-" + name,
          seed -> CounterRun.run(sharded(name, ShardOptions.fixed(3).within(STOCK)), seed));
    }
    ShardOptions growing = ShardOptions.growing(1, 8).hotAt(3);
    all.put("growing-atomic-add", seed -> CounterRun.run(sharded("atomic-add", growing), seed));
    all.put("growing-marker-item", seed -> CounterRun.run(sharded("marker-item", growing), seed));
    all.put(
        "growing-bounded-marker-item",
        seed -> CounterRun.run(sharded("marker-item", growing.within(STOCK)), seed));
    for (String name : List.of("token-set", "optimistic")) {
      all.put(
          name + "-emulated",
          seed ->
              CounterRun.run(technique(Techniques.named(name), STOCK).on(Scenarios::small), seed));
    }
    all.put("sequence", seed -> SequenceRun.run(seed, World.Limit.NONE));
    all.put("sequence-emulated", seed -> SequenceRun.run(seed, Scenarios::small));
    all.put("sequence-eventual", seed -> SequenceRun.run(seed, Scenarios::unordered));
    all.put("revisions", RevisionRun::run);
    all.put("range-job", RangeRun::run);
    all.put("locks", LockRun::run);
    all.put("holds", HoldRun::run);
    all.put("transfers", TransferRun::run);
    all.put("marker-item-forgetting", seed -> CounterRun.run(forgetting("marker-item"), seed));
    all.put("request-token", seed -> CounterRun.run(requestTokens(Bounds.none()), seed));
    all.put("request-token-bounded", seed -> CounterRun.run(requestTokens(STOCK), seed));
    all.put(
        "take-over-marker-item",
        seed -> CounterRun.run(sharded("marker-item", growing).after(Scenarios::plain), seed));
    ViewScenarios.addTo(all);
    Bounds seats = Bounds.between(0, 40);
    all.put(
        "regions-unbounded",
        seed -> RegionsRun.run(RegionsRun.Kind.PARTITIONS, Bounds.none(), seed));
    all.put("regions-collection", CollectionRun::run);
    all.put("regions", seed -> RegionsRun.run(RegionsRun.Kind.PARTITIONS, seats, seed));
    all.put("regions-retirement", seed -> RegionsRun.run(RegionsRun.Kind.RETIREMENT, seats, seed));
    all.put("regions-restore", seed -> RegionsRun.run(RegionsRun.Kind.RESTORE, seats, seed));
    return all;
  }

  private static Counters plain(Store store, RandomGenerator random) {
    return Backends.technique(MarkerItem.SPEC, store, random, Optional.empty());
  }

  private static CounterRun.Subject technique(TechniqueSpec spec, Bounds bounds) {
    CounterRun.Subject subject =
        new CounterRun.Subject(
            (store, random) -> Backends.technique(spec, store, random, Optional.empty()));
    return (spec.remembersIds() ? subject : subject.withoutIds()).within(bounds);
  }

  private static CounterRun.Subject sharded(String name, ShardOptions options) {
    TechniqueSpec spec = Techniques.named(name);
    CounterRun.Subject subject =
        new CounterRun.Subject((store, random) ->
            new Sharded(
                store, Backends.technique(spec, store, random, Optional.empty()), options, random));
    if (options.shardsMax() > options.shards()) {
      subject.beside(counters -> {
        Sharded sharded = (Sharded) counters;
        sharded.grow("counter", Math.min(2 * sharded.shards("counter"), options.shardsMax()));
      });
    }
    return (spec.remembersIds() ? subject : subject.withoutIds()).within(options.bounds());
  }

  /**
   * Request ids are forgotten after a time; clocks and late writes stay within the stated limits.
   */
  private static CounterRun.Subject forgetting(String name) {
    Duration keep = Duration.ofMinutes(6);
    return new CounterRun.Subject((store, random) ->
        Backends.technique(Techniques.named(name), store, random, Optional.of(keep)))
        .under(BRIEF, SKEW)
        .repeatedWithin(keep.minus(SKEW.multipliedBy(2)).minus(BRIEF.lateMax()).minus(CALL));
  }

  /** On a store that remembers tokens for 10 minutes. */
  private static CounterRun.Subject requestTokens(Bounds bounds) {
    return new CounterRun.Subject((store, random) ->
        Backends.technique(RequestTokens.SPEC, store, random, Optional.empty()))
        .within(bounds)
        .withoutCancellation()
        .withoutOrderOfAnswers()
        .on(ForgetfulTokens::new)
        .under(BRIEF.within(Duration.ofSeconds(30), BRIEF.pauseMax()), Duration.ofSeconds(10));
  }

  /** Returns a store without batches, updates and scans: those are emulated or unused. */
  private static StoreDriver small(StoreDriver driver, Clock trueTime) {
    return new LimitedDriver(driver, EnumSet.of(Capability.STRONG_READ));
  }

  /** Returns a store whose scans are eventual. */
  private static StoreDriver unordered(StoreDriver driver, Clock trueTime) {
    EnumSet<Capability> left = EnumSet.copyOf(driver.profile().capabilities());
    left.remove(Capability.ORDERED_SCAN);
    left.add(Capability.EVENTUAL_SCAN);
    return new LimitedDriver(driver, left);
  }
}
