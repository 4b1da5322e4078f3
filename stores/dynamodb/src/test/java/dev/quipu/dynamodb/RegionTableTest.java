package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.backend.Backends;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.region.RegionLeases;
import dev.quipu.region.RegionOptions;
import dev.quipu.region.RegionalCollection;
import dev.quipu.region.RegionalCounters;
import dev.quipu.region.Regions;
import dev.quipu.simulation.region.GlobalTable;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.ItemCollection;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.Optimistic;
import dev.quipu.technique.RequestTokens;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.TokenSet;
import dev.quipu.time.Randomness;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * Measures each technique on a counter that three regions write, on three servers of DynamoDB Local
 * with connected streams. The test compares the page; {@code -Dquipu.docs.write=true} writes it.
 */
final class RegionTableTest {
  private static final Path PAGE = Path.of("../../docs/reference/regions.md");
  private static final List<String> NAMES = List.of("ap", "eu", "us");
  private static final int ADDS = 30;
  private static final long STOCK = 30;
  private static final String COUNTER = "stock";
  private static final String HEAD =
      """
      # Counts of several regions

      Measured on three servers of DynamoDB Local, one per region, whose streams are connected
      like those of a global table: whole items, and of two writes to one item the later wins. %d
      adds of 1 to 9 are distributed over the regions at random.

      - *cut off*: no region receives writes of another until all adds are done. The oracle: for a
        number in one item, the adds of the region that wrote last; otherwise all.
      - *lag*: writes of a region reach the others within a second, in any order. The oracle: the
        same adds on a table in memory.
      - *sold*: of a stock of %d, while the regions are cut off from each other: what each sells
        before it rejects.

      In the end all regions read the same value, which is `found`.

      | technique | requested | cut off: oracle | found | lost | lag: oracle | found | lost | sold |
      |---|---|---|---|---|---|---|---|---|
      """
          .formatted(ADDS, STOCK);
  private static final String FOOT =
      """

      `regional-collection` and `regional` are [item collection over
      regions](../concepts/regional-collection.md) and [counters over
      regions](../concepts/regional-counters.md).

      Made by a test (RegionTableTest), which compares it.
      """;

  /** A technique in one region, with replication from the others. */
  private interface Technique {
    Counters open(Regions regions, RandomGenerator random);
  }

  /** Opens a table; the source of randomness also sets the delay of each change. */
  private interface Opener {
    GlobalTable<?, ?> open(ManualClock clock, RandomGenerator random);
  }

  private final List<GlobalTables.Global> opened = new ArrayList<>();

  private static List<TechniqueSpec> plain() {
    return List.of(
        AtomicAdd.SPEC,
        Optimistic.SPEC,
        Optimistic.WITH_HISTORY,
        RequestTokens.SPEC,
        MarkerItem.SPEC,
        ItemCollection.SPEC,
        TokenSet.SPEC);
  }

  @Test
  void thePageTellsWhatIsMeasured() throws IOException {
    StringBuilder page = new StringBuilder(HEAD);
    for (TechniqueSpec spec : plain()) {
      Technique technique =
          (regions, random) -> Backends.technique(spec, regions.here(), random, Optional.empty());
      boolean isOneItem = !spec.equals(ItemCollection.SPEC);
      row(page, spec, spec.name(), technique, isOneItem);
    }
    row(
        page,
        RegionalCollection.SPEC,
        "regional-collection",
        (regions, random) -> new RegionalCollection(regions, random),
        false);
    row(
        page,
        RegionalCounters.SPEC,
        "regional",
        (regions, random) ->
            new RegionalCounters(
                regions,
                RegionOptions.DEFAULT.within(Bounds.atLeast(0)),
                RegionLeases.none(regions),
                random),
        false);
    page.append(FOOT);
    opened.forEach(GlobalTables.Global::close);
    if (Boolean.getBoolean("quipu.docs.write")) {
      Files.writeString(PAGE, page.toString());
    }
    assertEquals(Files.readString(PAGE), page.toString());
  }

  /** From 4, one region takes 1 and another takes 2; all regions converge on 2. */
  @Test
  void theLaterWriteWinsAndTheOtherIsLost() {
    Technique atomic = (regions, random) -> new AtomicAdd(regions.here());
    Run run = new Run(this::inDynamoDb, AtomicAdd.SPEC, atomic);
    run.add(0, 4, 0, Bounds.none());
    run.healed();
    run.add(0, -1, 1, Bounds.none());
    run.add(1, -2, 2, Bounds.none());
    run.healed();
    assertEquals(2, run.found());
    opened.forEach(GlobalTables.Global::close);
  }

  private GlobalTable<?, ?> inDynamoDb(ManualClock clock, RandomGenerator random) {
    GlobalTables.Global global = GlobalTables.open(clock, random, Duration.ofSeconds(1));
    opened.add(global);
    return global.table();
  }

  private static GlobalTable<?, ?> inMemory(ManualClock clock, RandomGenerator random) {
    return GlobalTable.inMemory(NAMES.size(), clock, random, Duration.ofSeconds(1));
  }

  private void row(
      StringBuilder page, TechniqueSpec spec, String name, Technique technique, boolean isOneItem) {
    Run apart = new Run(this::inDynamoDb, spec, technique);
    apart.add(true);
    long oracleApart = isOneItem ? apart.ofLastRegion : apart.ofAll;
    Run late = new Run(this::inDynamoDb, spec, technique);
    late.add(false);
    Run oracle = new Run(RegionTableTest::inMemory, spec, technique);
    oracle.add(false);
    assertEquals(late.ofAll, oracle.ofAll);
    assertEquals(oracleApart, apart.found(), name);
    assertEquals(oracle.found(), late.found(), name);
    if (isOneItem) {
      assertNotEquals(apart.ofAll, apart.found(), name);
    } else {
      assertEquals(late.ofAll, late.found(), name);
    }
    String sold =
        spec.promises(Guarantee.BOUNDED)
            ? Long.toString(new Run(this::inDynamoDb, spec, technique).sell())
            : "keeps no floor";
    page.append(
        "| `%s` | %d | %d | %d | %d | %d | %d | %d | %s |%n"
            .formatted(
                name,
                apart.ofAll,
                oracleApart,
                apart.found(),
                apart.ofAll - apart.found(),
                oracle.found(),
                late.found(),
                late.ofAll - late.found(),
                sold));
  }

  /** A table with a counter that all regions write. */
  private static final class Run {
    private final ManualClock clock = new ManualClock(1_800_000_000_000L);
    private final RandomGenerator chance = Randomness.seeded(7);
    private final GlobalTable<?, ?> table;
    private final TechniqueSpec spec;
    private final List<Counters> regions = new ArrayList<>();
    private final long[] sums = new long[NAMES.size()];
    long ofAll;
    long ofLastRegion;

    Run(Opener opener, TechniqueSpec spec, Technique technique) {
      this.table = opener.open(clock, Randomness.seeded(8));
      this.spec = spec;
      for (int i = 0; i < NAMES.size(); i++) {
        RandomGenerator random = Randomness.seeded(9 + i);
        regions.add(technique.open(seenFrom(i, random), random));
      }
    }

    private Regions seenFrom(int region, RandomGenerator random) {
      Map<String, Store> stores = new TreeMap<>();
      for (int i = 0; i < NAMES.size(); i++) {
        StoreDriver seen = table.seenFrom(region, i);
        stores.put(NAMES.get(i), new Store(seen, clock, random, RetryPolicy.DEFAULT));
      }
      return new Regions(NAMES.get(region), NAMES, stores);
    }

    private AddResult add(int region, long delta, int number, Bounds bounds) {
      String name = NAMES.get(region) + "/" + number;
      RequestId id = spec.remembersIds() ? RequestId.of(name) : null;
      return regions.get(region).add(new Add(COUNTER, delta, bounds, id));
    }

    void add(boolean cutOff) {
      if (cutOff) {
        cutOffAll();
      }
      int last = 0;
      for (int i = 0; i < ADDS; i++) {
        last = chance.nextInt(NAMES.size());
        long delta = chance.nextLong(1, 10);
        add(last, delta, i, Bounds.none());
        sums[last] += delta;
        ofAll += delta;
        clock.advance(Duration.ofMillis(chance.nextInt(200)));
      }
      ofLastRegion = sums[last];
      healed();
    }

    private void cutOffAll() {
      for (int i = 0; i < NAMES.size(); i++) {
        table.cutOff(i);
      }
    }

    private void healed() {
      table.heal();
      table.settle();
      clock.advance(Regions.SILENCE.plusSeconds(1));
    }

    long found() {
      Reading found = regions.getFirst().read(COUNTER).orElseThrow();
      for (Counters region : regions) {
        assertEquals(Optional.of(found), region.read(COUNTER), spec.name());
      }
      assertEquals(Reading.exact(found.value()), found);
      return found.value();
    }

    /** Each region sells independently until it rejects. */
    long sell() {
      Bounds floor = Bounds.atLeast(0);
      add(0, STOCK, 0, floor);
      table.settle();
      add(1, -1, 0, floor); // now two regions have some
      table.settle();
      cutOffAll();
      long sold = 1;
      for (int region = 0; region < NAMES.size(); region++) {
        for (int i = 1; add(region, -1, i, floor) instanceof AddResult.Applied; i++) {
          sold++;
        }
      }
      return sold;
    }
  }
}
