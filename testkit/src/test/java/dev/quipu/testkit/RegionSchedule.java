package dev.quipu.testkit;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.region.RegionLeases;
import dev.quipu.region.RegionOptions;
import dev.quipu.region.RegionalCounters;
import dev.quipu.region.Regions;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.region.GlobalTable;
import dev.quipu.simulation.region.MemoryReplica;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.random.RandomGenerator;

/** Regions whose replicas, clocks and processes a test controls step by step. */
final class RegionSchedule {
  static final String COUNTER = "s";
  static final RegionLeases.Terms TERMS =
      new RegionLeases.Terms(Duration.ofHours(1), Duration.ofSeconds(10), Duration.ofMinutes(1));

  final ManualClock clock = new ManualClock(1_800_000_000_000L);
  final RandomGenerator random = Randomness.seeded(1);
  final List<String> names;
  final List<MemoryReplica> replicas = new ArrayList<>();
  final GlobalTable<Key, Item> table;
  private final RegionOptions options;

  /** A process of a region. */
  record Process(RegionalCounters counters, RegionLeases leases) {
    AddResult add(long delta, String id) {
      return counters.add(new Add(COUNTER, delta, RequestId.of(id)));
    }

    AddResult add(long delta) {
      return counters.add(new Add(COUNTER, delta, null));
    }

    Reading read() {
      return counters.read(COUNTER).orElseThrow();
    }
  }

  RegionSchedule(Bounds bounds, String... names) {
    this.names = List.of(names);
    this.options = RegionOptions.DEFAULT.within(bounds);
    for (int i = 0; i < names.length; i++) {
      replicas.add(new MemoryReplica());
    }
    this.table = new GlobalTable<>(replicas, clock, random, Duration.ofSeconds(1));
  }

  Process in(String region) {
    return in(region, names, clock, (replica, driver) -> driver);
  }

  /** Returns a process whose calls run hooks. */
  Process during(String region, ReplicaHook... hooks) {
    return during(region, clock, hooks);
  }

  /** Returns a process with its own clock whose calls run hooks. */
  Process during(String region, Clock own, ReplicaHook... hooks) {
    return in(
        region,
        names,
        own,
        (replica, driver) -> {
          StoreDriver hooked = driver;
          for (ReplicaHook each : hooks) {
            hooked = each.hook(replica, hooked);
          }
          return hooked;
        });
  }

  /** Returns a process that crashes at a call. */
  Process crashing(String region, int at) {
    ProcessCrash crash = new ProcessCrash(at, true);
    return in(region, names, clock, (replica, driver) -> new InterceptingDriver(driver, crash));
  }

  Process in(String region, List<String> initial) {
    return in(region, initial, clock, (replica, driver) -> driver);
  }

  /** Returns a process whose wall clock differs. */
  Process in(String region, Duration skew) {
    return in(region, names, skewed(skew), (replica, driver) -> driver);
  }

  /** Returns a clock whose wall time differs. */
  Clock skewed(Duration skew) {
    return new Clock() {
      @Override
      public long epochMillis() {
        return clock.epochMillis() + skew.toMillis();
      }

      @Override
      public long nanoTime() {
        return clock.nanoTime();
      }

      @Override
      public void sleep(Duration duration) {
        clock.sleep(duration);
      }
    };
  }

  private Process in(
      String region,
      List<String> initial,
      Clock own,
      BiFunction<String, StoreDriver, StoreDriver> around) {
    RetryPolicy once =
        new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofSeconds(1));
    Map<String, Store> stores = new TreeMap<>();
    for (String name : names) {
      stores.put(
          name,
          new Store(
              around.apply(name, table.seenFrom(names.indexOf(region), names.indexOf(name))),
              own,
              random,
              once));
    }
    Regions regions = new Regions(region, initial, stores);
    RegionLeases leases = RegionLeases.of(regions, TERMS);
    return new Process(new RegionalCounters(regions, options, leases, random), leases);
  }

  /** Returns processes of some regions, with leases. */
  List<Process> running(String... some) {
    List<Process> processes = new ArrayList<>();
    for (String region : some) {
      processes.add(in(region));
    }
    processes.forEach(each -> each.leases().renew());
    return processes;
  }

  /** Loses a region's replica, with what it has not sent. */
  void lose(String region) {
    table.lose(names.indexOf(region));
    cutOff(region);
  }

  void cutOff(String region) {
    table.cutOff(names.indexOf(region));
  }

  void separate(String one, String other) {
    table.separate(names.indexOf(one), names.indexOf(other));
  }

  void heal() {
    table.heal();
    clock.advance(Regions.SILENCE.plusSeconds(1));
    table.settle();
  }

  /** Ends all leases; running processes try to renew them without success. */
  void leasesEnd(Process... running) {
    for (int i = 0; i < 4; i++) {
      clock.advance(Duration.ofMinutes(21));
      for (Process each : running) {
        each.leases().renew();
      }
    }
  }
}
