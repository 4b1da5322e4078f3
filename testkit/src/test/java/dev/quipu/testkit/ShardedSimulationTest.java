package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Bounds;
import dev.quipu.backend.Backends;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.simulation.GuaranteeCheck;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.Optimistic;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.technique.TokenSet;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.time.Randomness;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Shards keep the guarantees of their technique, and their own, on every seed. */
final class ShardedSimulationTest {
  private static final int SEEDS = Soak.seeds(400);
  private static final Bounds STOCK = Bounds.between(0, 8);

  static List<TechniqueSpec> splittable() {
    return List.of(
        AtomicAdd.SPEC, Optimistic.SPEC, Optimistic.WITH_HISTORY, MarkerItem.SPEC, TokenSet.SPEC);
  }

  static List<TechniqueSpec> growable() {
    return splittable().stream().filter(spec -> !spec.equals(TokenSet.SPEC)).toList();
  }

  static List<TechniqueSpec> all() {
    return Techniques.ALL.stream().filter(spec -> !spec.name().equals("item-collection")).toList();
  }

  @ParameterizedTest
  @MethodSource("splittable")
  void boundsHoldOverAllShards(TechniqueSpec below) {
    ShardOptions three = ShardOptions.fixed(3).within(STOCK);
    kept(below, three, three);
  }

  @ParameterizedTest
  @MethodSource("growable")
  void nothingIsLostWhileACounterGrows(TechniqueSpec below) {
    ShardOptions growing = ShardOptions.growing(1, 4).hotAt(2);
    kept(below, growing, growing.within(STOCK));
  }

  @ParameterizedTest
  @MethodSource("growable")
  void promisesHoldOnTheLeastLoadedShardToo(TechniqueSpec below) {
    ShardOptions growing =
        ShardOptions.growing(2, 4).hotAt(3).choosing(ShardOptions.Choice.LEAST_LOADED);
    kept(below, growing, growing.within(STOCK));
  }

  @ParameterizedTest
  @MethodSource("all")
  void shardsByThemselvesKeepWhatTheyStandOn(TechniqueSpec below) {
    ShardOptions three = ShardOptions.fixed(3);
    kept(below, three, three);
  }

  private static void kept(TechniqueSpec below, ShardOptions free, ShardOptions bounded) {
    GuaranteeCheck.Opener opener =
        (store, random, bounds) ->
            open(below, store, random, bounds.isNone() ? unbounded(free) : bounded);
    Store store = new Store(new MemoryDriver(), new ManualClock(0));
    TechniqueSpec spec = open(below, store, Randomness.seeded(1), bounded).spec();
    GuaranteeCheck.Report report = GuaranteeCheck.run(spec, opener, 1, SEEDS);
    assertEquals(Optional.empty(), report.broken());
    assertTrue(report.runs() > SEEDS / 2, "replies were lost in only " + report.runs() + " runs");
  }

  private static ShardOptions unbounded(ShardOptions options) {
    return options.within(Bounds.none());
  }

  private static Technique open(
      TechniqueSpec below, Store store, RandomGenerator random, ShardOptions options) {
    Technique technique = Backends.technique(below, store, random, Optional.empty());
    return new Sharded(store, technique, options, random);
  }
}
