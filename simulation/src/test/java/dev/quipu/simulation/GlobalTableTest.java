package dev.quipu.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.RequestId;
import dev.quipu.backend.Backends;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.simulation.region.GlobalTable;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.ItemCollection;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.Optimistic;
import dev.quipu.technique.RequestTokens;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.TokenSet;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Counters that several regions write, with last-writer-wins conflict resolution. */
@SuppressWarnings("CheckReturnValue") // adds before the regions are cut off
final class GlobalTableTest {
  private static final int SEEDS = 50;
  private static final int REGIONS = 3;
  private static final int ADDS = 60;
  private static final String COUNTER = "stock";
  private static final Duration LAG = Duration.ofSeconds(1);

  private final ManualClock clock = new ManualClock(1_800_000_000_000L);

  private List<Counters> on(GlobalTable<?, ?> table, TechniqueSpec spec, RandomGenerator random) {
    List<Counters> counters = new ArrayList<>();
    for (int i = 0; i < REGIONS; i++) {
      Store store = new Store(table.region(i), clock, random, RetryPolicy.DEFAULT);
      counters.add(Backends.technique(spec, store, random, Optional.empty()));
    }
    return counters;
  }

  private static void add(Counters counters, long delta, @Nullable RequestId id) {
    assertInstanceOf(AddResult.Applied.class, counters.add(new Add(COUNTER, delta, id)));
  }

  /** It was 4; one region takes 1, another takes 2, and all report 2. */
  @Test
  void theLaterWriteWinsAndTheOtherIsLost() {
    GlobalTable<Key, Item> table = GlobalTable.inMemory(REGIONS, clock, Randomness.seeded(1), LAG);
    List<Counters> regions = on(table, AtomicAdd.SPEC, Randomness.seeded(1));
    regions.getFirst().add(new Add(COUNTER, 4, null));
    table.settle();
    regions.get(0).add(new Add(COUNTER, -1, null));
    regions.get(1).add(new Add(COUNTER, -2, null));
    table.settle();
    for (Counters region : regions) {
      assertEquals(2, region.read(COUNTER).orElseThrow().value());
    }
  }

  static Stream<TechniqueSpec> inOneItem() {
    return Stream.of(
        AtomicAdd.SPEC,
        Optimistic.SPEC,
        Optimistic.WITH_HISTORY,
        RequestTokens.SPEC,
        MarkerItem.SPEC,
        TokenSet.SPEC);
  }

  /**
   * While regions are separated each counts alone; then only the changes of the last writer remain.
   */
  @ParameterizedTest
  @MethodSource("inOneItem")
  void aNumberInOneItemKeepsOneRegionsAdds(TechniqueSpec spec) {
    for (long seed = 1; seed <= SEEDS; seed++) {
      Apart run = new Apart(seed, spec);
      assertEquals(run.ofLastRegion, run.found, spec.name() + ", seed " + seed);
    }
  }

  @Test
  void aCollectionOfItemsKeepsAll() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      Apart run = new Apart(seed, ItemCollection.SPEC);
      assertEquals(run.ofAll, run.found, "seed " + seed);
    }
  }

  /** A run in which all regions are cut off from each other, and reconnected at the end. */
  private final class Apart {
    final long ofAll;
    final long ofLastRegion;
    final long found;

    Apart(long seed, TechniqueSpec spec) {
      RandomGenerator random = Randomness.seeded(seed);
      GlobalTable<Key, Item> table = GlobalTable.inMemory(REGIONS, clock, random, LAG);
      List<Counters> regions = on(table, spec, random);
      for (int i = 0; i < REGIONS; i++) {
        table.cutOff(i);
      }
      long[] sums = new long[REGIONS];
      int last = 0;
      for (int i = 0; i < ADDS; i++) {
        last = random.nextInt(REGIONS);
        long delta = random.nextLong(1, 10);
        RequestId id = RequestId.of("seed " + seed + " add " + i);
        add(regions.get(last), delta, spec.promises(Guarantee.IDEMPOTENT) ? id : null);
        sums[last] += delta;
        clock.advance(Duration.ofMillis(random.nextInt(100)));
      }
      table.heal();
      table.settle();
      ofAll = sums[0] + sums[1] + sums[2];
      ofLastRegion = sums[last];
      found = regions.getFirst().read(COUNTER).orElseThrow().value();
      for (Counters region : regions) {
        assertEquals(found, region.read(COUNTER).orElseThrow().value(), "seed " + seed);
      }
    }
  }
}
