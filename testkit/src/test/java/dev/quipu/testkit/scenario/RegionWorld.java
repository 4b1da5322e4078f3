package dev.quipu.testkit.scenario;

import dev.quipu.Bounds;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.region.RegionLeases;
import dev.quipu.region.RegionOptions;
import dev.quipu.region.RegionalCounters;
import dev.quipu.region.Regions;
import dev.quipu.simulation.region.GlobalTable;
import dev.quipu.simulation.region.MemoryReplica;
import dev.quipu.simulation.steps.LinkFaults;
import dev.quipu.simulation.steps.SimLink;
import dev.quipu.simulation.steps.SimProcess;
import dev.quipu.simulation.steps.StepScheduler;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/** Regions with replicas, and processes in them that crash and are restarted. */
final class RegionWorld extends Oracle {
  static final String COUNTER = "counter";
  static final Duration SLACK = Duration.ofSeconds(20);
  static final Duration BEAT = Duration.ofSeconds(30);
  static final RegionLeases.Terms TERMS =
      new RegionLeases.Terms(Duration.ofMinutes(4), SLACK, BEAT);

  /**
   * Time after which nothing is counted on a restored replica: including one call, which is slow.
   */
  static final Duration NOTICED =
      BEAT.multipliedBy(RegionLeases.BEATS_UNCHECKED).plus(Duration.ofMinutes(2));

  private static final List<String> NAMES = List.of("ap", "eu", "sa", "us");
  private static final int STEPS_MAX = 1_000_000;
  private static final Duration LAG_MAX = Duration.ofSeconds(40);
  private static final Duration RESTART_MAX = Duration.ofSeconds(30);
  private static final LinkFaults FAULTS =
      LinkFaults.ALL.within(Duration.ofMinutes(3), Duration.ofMinutes(1)).repeating(0.01);

  final RandomGenerator random;
  final GlobalTable<Key, Item> table;
  private final StepScheduler scheduler;
  private final List<MemoryReplica> replicas = new ArrayList<>();
  private final List<String> names;
  private final RegionOptions options;
  private final List<Region> processes = new ArrayList<>();
  private final Set<Integer> lost = new HashSet<>();
  private final Map<Integer, Map<Key, Item>> last = new HashMap<>(); // of lost replicas
  private LinkFaults faults;
  private boolean isCalm;

  RegionWorld(long seed, int regions, Bounds bounds) {
    this.scheduler = new StepScheduler(seed);
    this.random = scheduler.random();
    this.faults = FAULTS.paging(random.nextInt(4) == 0 ? 3 : 30); // usual pages are faster
    this.names = NAMES.subList(0, regions);
    this.options = RegionOptions.DEFAULT.over(1 + random.nextInt(2)).within(bounds);
    for (int i = 0; i < regions; i++) {
      replicas.add(new MemoryReplica());
    }
    SimProcess trueTime = scheduler.process(Duration.ZERO);
    this.table = new GlobalTable<>(replicas, trueTime, random, LAG_MAX);
  }

  /** A process in a region. */
  final class Region {
    private final int number;
    private final SimProcess process;
    private final Regions regions;
    private final RegionalCounters counters;
    private final RegionLeases leases;

    Region(int number) {
      this.number = number;
      Duration skew = scheduler.upTo(SLACK).minus(SLACK.dividedBy(2));
      this.process = scheduler.process(skew);
      Map<String, Store> stores = new TreeMap<>();
      for (int i = 0; i < names.size(); i++) {
        SimLink link = new SimLink(scheduler, process, table.seenFrom(number, i), faults);
        links.add(link);
        stores.put(names.get(i), new Store(link, process, random, policy()));
      }
      this.regions = new Regions(names.get(number), names, stores);
      this.leases = RegionLeases.of(regions, TERMS, random);
      this.counters = new RegionalCounters(regions, options, leases, random);
    }

    private RetryPolicy policy() {
      return new RetryPolicy(
          2, Duration.ofMillis(20), Duration.ofMillis(50), Duration.ofSeconds(10));
    }

    int number() {
      return number;
    }

    Regions regions() {
      return regions;
    }

    RegionalCounters counters() {
      return counters;
    }

    RegionLeases leases() {
      return leases;
    }

    void start(Runnable thread) {
      process.start(thread);
    }

    void sleep(Duration time) {
      process.sleep(time);
    }

    /** Waits for a random time up to {@code max}. */
    void pause(Duration max) {
      process.sleep(scheduler.upTo(max));
    }

    /** Renews the lease until it is no longer needed. */
    void startKeeper(BooleanSupplier isOver) {
      start(() -> {
        while (!isOver.getAsBoolean() && violations.isEmpty()) {
          try {
            leases.renewIfDue();
          } catch (QuipuException e) {
            // retried
          }
          process.sleep(Duration.ofSeconds(2));
        }
      });
    }
  }

  int regions() {
    return names.size();
  }

  String name(int region) {
    return names.get(region);
  }

  int number(String region) {
    return names.indexOf(region);
  }

  long nowNanos() {
    return scheduler.nowNanos();
  }

  /** Starts a process that is restarted whenever it was killed, except in a lost region. */
  void process(int region, Consumer<Region> begin) {
    Region process = new Region(region);
    processes.add(process);
    begin.accept(process);
    watch(process, begin);
  }

  private void watch(Region process, Consumer<Region> begin) {
    scheduler.after(
        scheduler.upTo(RESTART_MAX),
        () -> {
          if (!process.process.isAlive() && !lost.contains(process.number)) {
            process(process.number, begin);
          } else if (process.process.isRunning()) {
            watch(process, begin);
          }
        });
  }

  /** Returns a process outside the regions, which is never killed. */
  SimProcess beside() {
    return scheduler.process(Duration.ZERO);
  }

  void run() {
    scheduler.run(STEPS_MAX);
  }

  /** Ends all faults, but what is lost stays lost. */
  void calm() {
    isCalm = true;
    faults = LinkFaults.NONE;
    links.forEach(SimLink::heal);
    heal();
  }

  void cutOff(int region) {
    if (!isCalm) {
      table.cutOff(region);
    }
  }

  void heal() {
    table.heal();
  }

  /** Kills all processes of a region. */
  void kill(int region) {
    for (Region each : processes) {
      if (each.number == region && each.process.isAlive()) {
        SimProcess process = each.process;
        scheduler.after(Duration.ZERO, process::kill);
      }
    }
    lost.add(region);
  }

  void lose(int region) {
    last.put(region, replicas.get(region).copy());
    cutOffForEver(region);
  }

  void cutOffForEver(int region) {
    lost.add(region);
    table.lose(region);
  }

  boolean isLost(int region) {
    return lost.contains(region);
  }

  Map<Key, Item> backup(int region) {
    return replicas.get(region).copy();
  }

  /**
   * Returns how many items of the counter's partition have this prefix, in the replica with the
   * most.
   */
  int items(String start) {
    long most = 0;
    for (MemoryReplica replica : replicas) {
      long items =
          replica.copy().keySet().stream()
              .filter(key -> key.partition().equals("counter/" + COUNTER))
              .filter(key -> key.sort().startsWith(start))
              .count();
      most = Math.max(most, items);
    }
    return Math.toIntExact(most);
  }

  /** Returns whether the region renewed its lease since a backup, and all others know of it. */
  boolean isOlderThanABeat(int region, Map<Key, Item> backup) {
    String lease = "lease/" + names.get(region) + "@";
    Item then = backup.get(new Key("regions", lease + names.get(region)));
    long beats = then == null ? 0 : then.number("beat");
    boolean isNoticed = false;
    for (int place = 0; place < names.size(); place++) {
      if (place != region) {
        long known =
            replicas
                .get(place)
                .driver()
                .get(new Key("regions", lease + names.get(place)), Consistency.STRONG)
                .map(item -> item.number("beat"))
                .orElse(0L);
        isNoticed = known > beats;
        if (!isNoticed) {
          return false;
        }
      }
    }
    return isNoticed;
  }

  /**
   * Returns the rights that a region had in its cells, less those that it had received from others.
   * A region without cells takes its share as an initial region again.
   */
  long rightsBut(int region, Map<Key, Item> backup) {
    long share =
        backup.keySet().stream().anyMatch(key -> isOf(region, key, "cell/"))
            ? 0
            : Math.ceilDiv(options.bounds().ceiling() - options.bounds().floor(), regions());
    return share + rights(backup, region, "cell/") - rights(backup, region, "got/");
  }

  private boolean isOf(int region, Key key, String start) {
    return key.partition().equals("counter/" + COUNTER + "#region-" + names.get(region))
        && key.sort().startsWith(start);
  }

  private long rights(Map<Key, Item> items, int region, String start) {
    return items.values().stream()
        .filter(item -> isOf(region, item.key(), start))
        .mapToLong(item -> item.number("lower") + item.number("raise"))
        .sum();
  }

  /** Returns the rights that others ever gave to a region. */
  long given(int region) {
    long given = 0;
    for (int other = 0; other < names.size(); other++) {
      given += rights(replicas.get(other).copy(), other, "gave/" + names.get(region));
    }
    return given;
  }

  void restore(int region, Map<Key, Item> backup) {
    replicas.get(region).setBack(backup);
  }

  /**
   * Returns the sum of all requests that have a marker in their region, as it was when it was lost.
   */
  long counted(List<RequestId> ids) {
    long sum = 0;
    for (RequestId id : ids) {
      String home = id.text().substring(0, id.text().indexOf('/'));
      Key key = new Key("counter/" + COUNTER + "#region-" + home, "request/" + id.bits());
      int number = names.indexOf(home);
      Optional<Item> marker =
          last.containsKey(number)
              ? Optional.ofNullable(last.get(number).get(key))
              : replicas.get(number).driver().get(key, Consistency.STRONG);
      sum += marker.map(item -> item.number("added")).orElse(0L);
    }
    return sum;
  }
}
