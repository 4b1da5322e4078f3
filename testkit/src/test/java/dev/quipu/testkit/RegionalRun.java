package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.region.RegionLeases;
import dev.quipu.region.RegionOptions;
import dev.quipu.region.RegionalCounters;
import dev.quipu.region.Regions;
import dev.quipu.simulation.driver.FaultingDriver;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.region.GlobalTable;
import dev.quipu.simulation.region.MemoryReplica;
import dev.quipu.simulation.time.VirtualTime;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * One seed of a stock that three regions sell from, on replicas that are cut off from each other,
 * by stores whose replies are lost, from processes that crash; with an oracle that sees all
 * replicas at every step.
 */
final class RegionalRun {
  static final List<String> NAMES = List.of("ap", "eu", "us");
  static final String STOCK = "stock";
  private static final RegionLeases.Terms TERMS =
      new RegionLeases.Terms(
          Duration.ofDays(1), Duration.ofSeconds(30), Duration.ofHours(12)); // one per process

  /**
   * The size of a run.
   *
   * @param pieces pieces that are delivered initially, in one region
   * @param clients clients in each region
   * @param requests requests of each client
   * @param amountMax maximum number of pieces of a request
   * @param faultRate fraction of calls that fail, from 0 to 1
   * @param deathsEach requests of a client between two crashes of its process; 0 for none
   */
  record Size(
      long pieces, int clients, int requests, long amountMax, double faultRate, int deathsEach) {}

  final VirtualTime time = new VirtualTime();
  final RandomGenerator random;
  final List<MemoryReplica> replicas = new ArrayList<>();
  final GlobalTable<Key, Item> table;
  final RegionOptions options;
  final RegionalCounters oracle;
  final List<String> wrong = new ArrayList<>();
  private final List<Long> values = new ArrayList<>(List.of(0L));
  private final Map<RequestId, Long> done = new HashMap<>();
  private final List<FaultingDriver> faultings = new ArrayList<>();
  private final Size size;
  private int running;
  long sold;
  long applied;
  long replayed;
  long replayedElsewhere;
  long heldElsewhere;
  long rejections;
  long deaths;
  long partitions;
  long soldWhileCut;
  long wideReads;
  long faults;

  RegionalRun(long seed, int cells, Bounds bounds, Size size) {
    this.random = Randomness.seeded(seed);
    this.size = size;
    this.options = RegionOptions.DEFAULT.over(cells).within(bounds);
    Map<String, Store> direct = new TreeMap<>();
    for (String name : NAMES) {
      MemoryReplica replica = new MemoryReplica();
      replicas.add(replica);
      direct.put(name, store(replica.driver()));
    }
    this.table = new GlobalTable<>(replicas, time, random, Duration.ofSeconds(1));
    Regions all = new Regions("ap", NAMES, direct);
    this.oracle = counters(all, RegionLeases.none(all));
  }

  private Store store(StoreDriver driver) {
    RetryPolicy quick =
        new RetryPolicy(2, Duration.ofMillis(5), Duration.ofMillis(10), Duration.ofSeconds(1));
    return new Store(driver, time, random, quick);
  }

  private RegionalCounters counters(Regions regions, RegionLeases leases) {
    return new RegionalCounters(regions, options, leases, random);
  }

  /** Returns leases that are renewed without faults, except for a region that is cut off. */
  private RegionLeases leases(int region) {
    Map<String, Store> seen = new TreeMap<>();
    for (int i = 0; i < NAMES.size(); i++) {
      seen.put(NAMES.get(i), store(table.seenFrom(region, i)));
    }
    RegionLeases leases = RegionLeases.of(new Regions(NAMES.get(region), NAMES, seen), TERMS);
    while (!leases.renew()) {
      time.sleep(Regions.SILENCE);
    }
    return leases;
  }

  /** Ends all leases while a region is unreachable; the next region takes over its rights. */
  RegionalCounters retire(int lost) {
    int next = (lost + 1) % NAMES.size();
    int last = (lost + 2) % NAMES.size();
    table.settle();
    table.cutOff(lost);
    time.sleep(TERMS.lease().multipliedBy(2));
    RegionLeases.of(calmly(last), TERMS).renew(); // without success, but others see its clock
    RegionalCounters successor = calm(next, RegionLeases.of(calmly(next), TERMS));
    successor.retire(NAMES.get(lost));
    successor.acceptLoss(NAMES.get(lost)); // everything it had counted was sent
    leases(next);
    leases(last);
    return calm(last, leases(last));
  }

  /** Returns a process in a region that crashes within this number of calls; 0 for never. */
  RegionalCounters process(int region, int callsMax) {
    return counters(faulty(region, callsMax), leases(region));
  }

  private Regions faulty(int region, int callsMax) {
    Map<String, Store> replicas = new TreeMap<>();
    int diesAt = callsMax == 0 ? Integer.MAX_VALUE : 1 + random.nextInt(callsMax);
    ProcessCrash crash = new ProcessCrash(diesAt, random.nextBoolean());
    for (int i = 0; i < NAMES.size(); i++) {
      int unit = i == region ? 20 : 100; // milliseconds
      StoreDriver seen = table.seenFrom(region, i);
      FaultingDriver faulty =
          new FaultingDriver(
              new InterceptingDriver(seen, watching),
              random,
              size.faultRate,
              () -> time.sleep(Duration.ofMillis(1 + random.nextInt(unit))));
      faultings.add(faulty);
      replicas.put(NAMES.get(i), store(new InterceptingDriver(faulty, crash)));
    }
    return new Regions(NAMES.get(region), NAMES, replicas);
  }

  private Regions calmly(int region) {
    Regions regions = faulty(region, 0);
    faultings.forEach(FaultingDriver::heal);
    return regions;
  }

  /** Returns a process in a region without faults. */
  RegionalCounters calm(int region) {
    return calm(region, leases(region));
  }

  private RegionalCounters calm(int region, RegionLeases leases) {
    return counters(calmly(region), leases);
  }

  long pieces() {
    return size.pieces;
  }

  private final InterceptingDriver.Interceptor watching =
      new InterceptingDriver.Interceptor() {
        @Override
        public <T> T call(Supplier<T> call) {
          T answer = call.get();
          watch();
          return answer;
        }
      };

  /** Records the value of the counter after each call. */
  private void watch() {
    long now = oracle.read(STOCK).map(Reading::value).orElse(0L);
    if (now != values.getLast()) {
      values.add(now);
      Bounds bounds = options.bounds();
      if (now < bounds.floor() || now > bounds.ceiling()) {
        wrong.add("the counter is at " + now);
      }
    }
  }

  /** Delivers pieces, requests ten times as many, and changes the faults meanwhile. */
  void run() throws InterruptedException {
    deliver();
    List<Runnable> all = new ArrayList<>();
    for (int region = 0; region < NAMES.size(); region++) {
      for (int client = 0; client < size.clients; client++) {
        int home = region;
        int number = client;
        running++;
        all.add(() -> {
          buy(home, number);
          running--;
        });
      }
      int place = region;
      all.add(() -> watchFrom(place));
    }
    all.add(this::weather);
    time.run(all);
    table.heal();
    for (FaultingDriver faulting : faultings) {
      faulting.heal();
      faults += faulting.fired().values().stream().mapToInt(each -> each).sum();
    }
    time.sleep(Regions.SILENCE.multipliedBy(2));
    table.settle();
  }

  private void deliver() {
    for (int region = 0; region < NAMES.size(); region++) {
      leases(region);
    }
    AddResult delivery = calm(0).add(new Add(STOCK, size.pieces, RequestId.of("ap/delivery")));
    assertInstanceOf(AddResult.Applied.class, delivery);
  }

  private void weather() {
    while (running > 0) {
      time.sleep(Duration.ofMillis(random.nextInt(300)));
      if (random.nextBoolean()) {
        table.heal();
      } else {
        table.cutOff(random.nextInt(NAMES.size()));
        partitions++;
      }
    }
    table.heal();
  }

  private void watchFrom(int region) {
    RegionalCounters here = process(region, 0);
    while (running > 0) {
      time.sleep(Duration.ofMillis(random.nextInt(500)));
      check(here);
    }
  }

  private void check(RegionalCounters here) {
    int from = values.size() - 1;
    Optional<Reading> read;
    try {
      read = here.read(STOCK);
    } catch (QuipuException e) {
      return; // its own replica did not respond
    }
    Reading reading = read.orElse(Reading.exact(0));
    wideReads += reading.low() < reading.high() ? 1 : 0;
    boolean isTrue =
        values.subList(from, values.size()).stream()
            .anyMatch(value -> reading.low() <= value && value <= reading.high());
    boolean isOrdered = reading.low() <= reading.value() && reading.value() <= reading.high();
    boolean isExplained = reading.low() == reading.high() == reading.uncertainties().isEmpty();
    if (!isTrue || !isOrdered || !isExplained) {
      wrong.add("read %s, it was %s".formatted(reading, values.subList(from, values.size())));
    }
  }

  private void buy(int region, int client) {
    RegionalCounters here = process(region, size.deathsEach * 4);
    for (int i = 0; i < size.requests; i++) {
      RequestId id = RequestId.of("%s/%d-%d".formatted(NAMES.get(region), client, i));
      boolean givesBack = options.bounds().ceiling() < Long.MAX_VALUE && random.nextInt(3) == 0;
      long amount = (givesBack ? -1 : 1) * (1 + random.nextLong(size.amountMax));
      try {
        buy(here, region, id, amount);
      } catch (ProcessCrash.Crash e) {
        deaths++;
        here = process(region, size.deathsEach * 4);
        settle(here, region, id, amount);
      }
    }
  }

  private void buy(RegionalCounters here, int region, RequestId id, long amount) {
    try {
      count(add(here, -amount, id), region, id, amount, false);
    } catch (QuipuException e) {
      settle(here, region, id, amount);
      return;
    }
    if (random.nextInt(5) == 0) {
      settle(here, region, id, amount);
    }
  }

  /** Repeats a request until its outcome is definite: here, or in any region. */
  private void settle(RegionalCounters here, int region, RequestId id, long amount) {
    for (int attempt = 0; ; attempt++) {
      boolean isElsewhere = random.nextBoolean();
      try {
        RegionalCounters at = isElsewhere ? process(random.nextInt(NAMES.size()), 0) : here;
        count(add(at, -amount, id), region, id, amount, isElsewhere);
        return;
      } catch (QuipuException e) {
        if (!e.reason().isTemporary() || attempt > 1_000) {
          throw e;
        }
        time.sleep(Duration.ofMillis(100));
      } catch (ProcessCrash.Crash e) {
        deaths++;
        settle(process(region, 0), region, id, amount);
        return;
      }
    }
  }

  /** A rejection for lack of pieces is justified if there were none at some moment of the call. */
  private AddResult add(RegionalCounters at, long delta, RequestId id) {
    int from = values.size() - 1;
    AddResult result = at.add(new Add(STOCK, delta, id));
    boolean isFair =
        !(result instanceof AddResult.Rejected rejected)
            || rejected.why() == Rejection.HELD_ELSEWHERE
            || values.subList(from, values.size()).stream()
                .anyMatch(value -> Rejection.of(value, delta, options.bounds()) != null);
    if (!isFair) {
      wrong.add(
          "%s of %d, it was %s".formatted(result, delta, values.subList(from, values.size())));
    }
    return result;
  }

  private void count(AddResult result, int region, RequestId id, long amount, boolean isElsewhere) {
    switch (result) {
      case AddResult.Applied yes -> {
        applied++;
        if (done.put(id, amount) != null) {
          wrong.add("applied twice: " + id);
        }
        sold += amount;
        soldWhileCut += table.isCutOff(region) ? 1 : 0;
      }
      case AddResult.Replayed again -> {
        replayed++;
        replayedElsewhere += isElsewhere ? 1 : 0;
        if (done.put(id, amount) == null) {
          sold += amount; // its first reply was lost
        }
      }
      case AddResult.Rejected no -> {
        rejections++;
        heldElsewhere += no.why() == Rejection.HELD_ELSEWHERE ? 1 : 0;
        if (done.containsKey(id)) {
          wrong.add("rejected after it was sold: " + id);
        }
      }
      case AddResult.Conflict other -> wrong.add("a conflict: " + id);
    }
  }

  @Override
  public String toString() {
    return ("sold %d in %d requests, %d of them cut off; %d replayed, %d of them elsewhere; "
            + "%d rejected, %d held elsewhere; %d deaths, %d partitions, %d faults, %d wide reads")
        .formatted(
            sold,
            applied,
            soldWhileCut,
            replayed,
            replayedElsewhere,
            rejections,
            heldElsewhere,
            deaths,
            partitions,
            faults,
            wideReads);
  }
}
