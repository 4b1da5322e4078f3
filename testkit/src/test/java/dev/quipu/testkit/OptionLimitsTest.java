package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Counters;
import dev.quipu.Limits;
import dev.quipu.RequestId;
import dev.quipu.backend.Backends;
import dev.quipu.display.CacheFirst;
import dev.quipu.display.DurableFirst;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLogOptions;
import dev.quipu.hits.VersionTree;
import dev.quipu.hits.VersionTreeOptions;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.presence.OnlineExact;
import dev.quipu.presence.OnlineRing;
import dev.quipu.presence.Presence;
import dev.quipu.presence.Window;
import dev.quipu.region.RegionLeases;
import dev.quipu.region.RegionOptions;
import dev.quipu.region.RegionalCollection;
import dev.quipu.region.RegionalCounters;
import dev.quipu.region.Regions;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.time.Randomness;
import dev.quipu.view.ViewOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Options and names: values at each limit are accepted, and values beyond it are rejected by name.
 */
@SuppressWarnings("CheckReturnValue") // adds that prepare the test
final class OptionLimitsTest {
  private static final Duration STEP = Duration.ofMillis(1);

  private static final Bounds STOCK = Bounds.between(0, 100);

  private final ManualClock clock = new ManualClock(1_000_000_000_000L);
  private final Store store = new Store(new MemoryDriver(), clock);

  private static void rejected(String start, Runnable call) {
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call::run);
    assertTrue(String.valueOf(e.getMessage()).startsWith(start), e.getMessage());
  }

  private static void numbers(String name, long least, long most, Consumer<Long> option) {
    assertDoesNotThrow(() -> option.accept(least));
    assertDoesNotThrow(() -> option.accept(most));
    rejected(name, () -> option.accept(least - 1));
    if (most < Integer.MAX_VALUE) {
      rejected(name, () -> option.accept(most + 1));
    }
  }

  private static void times(String name, Duration least, Duration most, Consumer<Duration> option) {
    assertDoesNotThrow(() -> option.accept(least));
    assertDoesNotThrow(() -> option.accept(most));
    rejected(name, () -> option.accept(least.minus(STEP)));
    rejected(name, () -> option.accept(most.plus(STEP)));
  }

  @Test
  void ofTheHitLog() {
    HitLogOptions options = HitLogOptions.DEFAULT;
    times(
        "settle",
        HitLogOptions.SETTLE_MIN,
        HitLogOptions.SETTLE_MAX,
        each -> options.keeping(HitLogOptions.WINDOW_MAX).settling(each));
    times("window", options.settle(), HitLogOptions.WINDOW_MAX, options::keeping);
    numbers("hitsMax", 1, Long.MAX_VALUE, options::summarizingAt);
  }

  @Test
  void ofTheVersionTree() {
    VersionTreeOptions options = VersionTreeOptions.DEFAULT;
    times(
        "settle",
        HitLogOptions.SETTLE_MIN,
        HitLogOptions.SETTLE_MAX,
        each -> options.settling(each, HitLogOptions.SETTLE_MAX));
    times(
        "branchAge",
        options.settle(),
        HitLogOptions.SETTLE_MAX,
        each -> options.settling(options.settle(), each));
    numbers("items", 1, VersionTreeOptions.ITEMS_MAX, each -> options.over(each.intValue()));
    numbers("trail", 0, VersionTreeOptions.TRAIL_MAX, each -> options.trailing(each.intValue()));
  }

  @Test
  void ofShards() {
    numbers("shards", 1, ShardOptions.SHARDS_MAX, each -> ShardOptions.fixed(each.intValue()));
    rejected("shards", () -> ShardOptions.growing(3, 2));
    ShardOptions options = ShardOptions.fixed(2);
    numbers("hotAddsPerSecond", 1, Long.MAX_VALUE, options::hotAt);
    rejected("bounds", () -> options.within(Bounds.atLeast(1)));
    rejected("bounds", () -> options.within(Bounds.atMost(-1)));
    assertDoesNotThrow(() -> options.within(Bounds.between(0, 0)));
  }

  @Test
  void ofRegions() {
    RegionOptions options = RegionOptions.DEFAULT;
    numbers("cells", 1, RegionOptions.CELLS_MAX, each -> options.over(each.intValue()));
    long most = RegionOptions.BOUND_MAX;
    assertDoesNotThrow(() -> options.within(Bounds.between(-most, most)));
    assertDoesNotThrow(() -> options.within(Bounds.between(0, 0)));
    for (Bounds wrong :
        List.of(
            Bounds.atLeast(-most - 1),
            Bounds.atMost(most + 1),
            Bounds.atLeast(1),
            Bounds.atMost(-1))) {
      rejected("bounds", () -> options.within(wrong));
    }
  }

  @Test
  void ofLeases() {
    Duration slack = Duration.ofSeconds(10);
    Duration lease = slack.multipliedBy(2).plus(STEP);
    assertDoesNotThrow(() -> new RegionLeases.Terms(lease, slack, lease.dividedBy(2)));
    rejected("lease is", () -> new RegionLeases.Terms(lease.minus(STEP), slack, Duration.ZERO));
    rejected("lease is", () -> new RegionLeases.Terms(lease, STEP.negated(), Duration.ZERO));
    rejected("lease is", () -> new RegionLeases.Terms(lease, slack, lease.dividedBy(2).plus(STEP)));
    rejected("lease is", () -> new RegionLeases.Terms(lease, slack, STEP.negated()));
  }

  @Test
  void ofPresence() {
    Duration second = Window.RESOLUTION_MIN;
    assertDoesNotThrow(() -> new Window(second.multipliedBy(Window.BUCKETS_MAX), second));
    rejected("window", () -> new Window(second.multipliedBy(Window.BUCKETS_MAX + 1), second));
    rejected("window", () -> new Window(Duration.ZERO, second));
    rejected("window", () -> new Window(second.multipliedBy(3), second.multipliedBy(2)));
    rejected("resolution", () -> new Window(second, second.minus(STEP)));
    assertDoesNotThrow(() -> Window.ofTwoKeys(Window.LENGTH_MAX));
    rejected("window", () -> Window.ofTwoKeys(Window.LENGTH_MAX.plus(STEP)));
    times("window", STEP, Window.LENGTH_MAX, each -> new OnlineExact(store, each));
  }

  @Test
  void ofDisplays() {
    MarkerItem counters = new MarkerItem(store);
    numbers(
        "unflushedMax",
        1,
        CacheFirst.UNFLUSHED_MAX,
        each -> new CacheFirst(store.operations(), store, counters, each));
    times(
        "ageMax",
        STEP,
        DurableFirst.AGE_MAX,
        each -> new DurableFirst(store.operations(), counters, clock, each));
  }

  @Test
  void ofViews() {
    rejected("keep", () -> ViewOptions.EXACT.keeping(Duration.ZERO));
  }

  @Test
  void namesOfRegions() {
    Map<String, Store> one = Map.of("eu", store);
    for (String wrong : List.of("", "EU", "a".repeat(33), "e u")) {
      rejected("region", () -> new Regions(wrong, List.of(wrong), Map.of(wrong, store)));
    }
    String longest = "a".repeat(32);
    assertDoesNotThrow(() -> new Regions(longest, List.of(longest), Map.of(longest, store)));
    rejected("region us has no replica", () -> new Regions("us", List.of("eu"), one));
    rejected("region us has no replica", () -> new Regions("eu", List.of("us"), one));
    rejected("initial regions", () -> new Regions("eu", List.of(), one));
    rejected("initial regions", () -> new Regions("eu", List.of("eu", "eu"), one));
    rejected("0 regions are configured", () -> new Regions("eu", List.of("eu"), Map.of()));
    Map<String, Store> many = new TreeMap<>();
    for (int i = 0; i < Regions.REGIONS_MAX; i++) {
      many.put("r" + i, store);
    }
    assertDoesNotThrow(() -> new Regions("r0", List.of("r0"), many));
    many.put("more", store);
    rejected("17 regions", () -> new Regions("r0", List.of("r0"), many));
    rejected("unknown region us", () -> new Regions("eu", List.of("eu"), one).replica("us"));
  }

  private List<Counters> all() {
    List<Counters> all = new ArrayList<>();
    for (TechniqueSpec spec : Techniques.ALL) {
      all.add(Backends.technique(spec, store, Randomness.seeded(1), Optional.empty()));
    }
    Regions regions = new Regions("eu", List.of("eu"), Map.of("eu", store));
    all.add(new Sharded(store, new MarkerItem(store), ShardOptions.fixed(2)));
    all.add(new HitLog(store));
    all.add(new VersionTree(store));
    all.add(new RegionalCounters(regions, RegionOptions.DEFAULT, RegionLeases.none(regions)));
    all.add(new RegionalCollection(regions));
    return all;
  }

  @Test
  void namesOfCounters() {
    RequestId id = RequestId.of("eu/1");
    String longest = "n".repeat(Limits.NAME_BYTES_MAX);
    List<Function<String, Consumer<Counters>>> calls =
        List.of(
            name -> counters -> counters.add(new Add(name, 1, null)),
            name -> counters -> counters.read(name),
            name -> counters -> counters.outcome(name, id),
            name -> counters -> counters.cancel(name, id));
    for (Counters counters : all()) {
      for (Function<String, Consumer<Counters>> call : calls) {
        for (String wrong : List.of(longest + "n", "", "\u0000")) {
          try {
            call.apply(wrong).accept(counters);
            throw new AssertionError(counters.technique() + " takes a name that is none");
          } catch (IllegalArgumentException e) {
            assertTrue(String.valueOf(e.getMessage()).startsWith("name"), e.getMessage());
          } catch (UnsupportedOperationException e) {
            // it does not support request ids
          }
        }
      }
      counters.read(longest);
    }
  }

  @Test
  void ofDividedCounters() {
    Sharded growing =
        new Sharded(store, new MarkerItem(store), ShardOptions.growing(1, 4).within(STOCK));
    for (String wrong : List.of("", "a#shard-1")) {
      rejected("name", () -> growing.grow(wrong, 2));
      rejected("name", () -> growing.repair(wrong));
      rejected("name", () -> growing.shards(wrong));
      rejected("name", () -> growing.read(wrong));
    }
    numbers("shards", 1, 4, each -> growing.grow("a", each.intValue()));
    assertEquals(4, growing.shards("a"));
    growing.add(new Add("a", 1, STOCK, null));
    assertThrows(
        UnsupportedOperationException.class,
        () -> growing.add(new Add("a", 1, Bounds.atLeast(1), null)));
    Store six = new Store(ProfiledDriver.ofBatches(new MemoryDriver(), "small", 6), clock);
    MarkerItem markers = new MarkerItem(six);
    assertDoesNotThrow(() -> new Sharded(six, markers, ShardOptions.growing(1, 4)));
    rejected("store", () -> new Sharded(six, markers, ShardOptions.growing(1, 5)));
  }

  @Test
  void namesOfRooms() {
    for (Presence presence :
        List.of(
            new OnlineExact(store, Duration.ofMinutes(5)), new OnlineRing(store, Window.DEFAULT))) {
      String room = "r".repeat(Limits.NAME_BYTES_MAX);
      String client = "c".repeat(Limits.CLIENT_ID_BYTES_MAX);
      presence.seen(room, client);
      rejected("room", () -> presence.seen(room + "r", client));
      rejected("client", () -> presence.seen(room, client + "c"));
      rejected("room", () -> presence.online(room + "r"));
      presence.online(room);
    }
  }
}
