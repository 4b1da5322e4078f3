package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.Uncertainty;
import dev.quipu.layer.ForwardingDriver;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.region.RegionalCollection;
import dev.quipu.region.Regions;
import dev.quipu.simulation.driver.FaultingDriver;
import dev.quipu.simulation.region.GlobalTable;
import dev.quipu.simulation.time.VirtualTime;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.Write;
import dev.quipu.technique.ItemCollection;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Changes that go to all regions, and merges that readers there do not notice. */
final class RegionalCollectionTest {
  private static final int SEEDS = Soak.seeds(100);
  private static final List<String> NAMES = List.of("ap", "eu", "us");
  private static final String LIKES = "likes";

  /** One seed: regions that count, and all of which try to merge all the time. */
  private static final class Run {
    final VirtualTime time = new VirtualTime();
    final RandomGenerator random;
    final GlobalTable<Key, Item> table;
    final List<FaultingDriver> faultings = new ArrayList<>();
    final List<String> wrong = new ArrayList<>();
    double faultRate;
    long sum;
    long merged;
    int running;

    Run(long seed, double faultRate) {
      this.random = Randomness.seeded(seed);
      this.faultRate = faultRate;
      this.table = GlobalTable.inMemory(NAMES.size(), time, random, Duration.ofSeconds(3));
    }

    Regions regions(int region) {
      RetryPolicy quick =
          new RetryPolicy(8, Duration.ofMillis(5), Duration.ofMillis(10), Duration.ofSeconds(1));
      Map<String, Store> stores = new TreeMap<>();
      for (int i = 0; i < NAMES.size(); i++) {
        FaultingDriver faulty =
            new FaultingDriver(
                table.seenFrom(region, i),
                random,
                faultRate,
                () -> time.sleep(Duration.ofMillis(random.nextInt(20))));
        faultings.add(faulty);
        stores.put(NAMES.get(i), new Store(faulty, time, random, quick));
      }
      return new Regions(NAMES.get(region), NAMES, stores);
    }

    RegionalCollection in(int region) {
      return new RegionalCollection(regions(region), random);
    }

    void heal() {
      faultRate = 0;
      table.heal();
      faultings.forEach(FaultingDriver::heal);
      time.sleep(Regions.SILENCE.multipliedBy(2));
      table.settle();
    }

    /** Adds, and repeats some of the adds in other regions. */
    void count(int region, int adds) {
      for (int i = 0; i < adds; i++) {
        long delta = random.nextLong(-7, 13);
        if (delta != 0) {
          sum += delta;
          Add add = new Add(LIKES, delta, RequestId.of(region + " " + i));
          send(region, add);
          if (random.nextInt(3) == 0) {
            send(random.nextInt(NAMES.size()), add);
          }
        }
      }
    }

    private void send(int region, Add add) {
      RegionalCollection here = in(region);
      for (int attempt = 0; ; attempt++) {
        try {
          AddResult result = here.add(add);
          assertTrue(
              result instanceof AddResult.Applied || result instanceof AddResult.Replayed,
              result.toString());
          return;
        } catch (QuipuException e) {
          if (attempt > 100) {
            throw e;
          }
        }
      }
    }

    void merge(int region, int calls, Duration window) {
      RegionalCollection here = in(region);
      for (int i = 0; i < calls; i++) {
        time.sleep(Duration.ofMillis(random.nextInt(400)));
        try {
          merged += here.merge(LIKES, window);
        } catch (QuipuException e) {
          // it waits for a region, or the outcome is unknown: the next call continues
        }
      }
    }
  }

  @Test
  void nothingIsLostHoweverRegionsMerge() throws InterruptedException {
    long merged = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Run run = new Run(seed, 0.05);
      List<Runnable> all = new ArrayList<>();
      for (int i = 0; i < NAMES.size(); i++) {
        int region = i;
        all.add(() -> run.count(region, 20));
        all.add(() -> run.merge(region, 40, Duration.ofSeconds(30)));
        all.add(() -> run.merge(region, 40, Duration.ofSeconds(30)));
      }
      all.add(() -> {
        for (int i = 0; i < 5; i++) {
          run.time.sleep(Duration.ofSeconds(1));
          run.table.cutOff(run.random.nextInt(NAMES.size()));
          run.time.sleep(Duration.ofMillis(500));
          run.table.heal();
        }
      });
      run.time.run(all);
      run.heal();
      run.time.sleep(Duration.ofSeconds(31)); // no repeat comes any more
      for (int i = 0; i < 10; i++) {
        run.merge(i % NAMES.size(), 1, Duration.ofSeconds(30));
        run.heal();
      }
      merged += run.merged;
      for (int i = 0; i < NAMES.size(); i++) {
        assertEquals(Optional.of(run.sum), run.in(i).readHere(LIKES), "seed " + seed);
        Optional<Reading> everywhere = run.in(i).read(LIKES);
        assertEquals(Optional.of(Reading.exact(run.sum)), everywhere, "seed " + seed);
      }
    }
    assertTrue(merged > SEEDS * 30L, "only " + merged + " were merged: too few to prove anything");
  }

  /** While merges are replicated, in any order, every region reads the same as before. */
  @Test
  void readersDoNotNoticeAMerge() throws InterruptedException {
    long merged = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Run run = new Run(seed, 0);
      run.count(0, 30);
      run.heal();
      List<Runnable> all = new ArrayList<>();
      for (int i = 0; i < NAMES.size(); i++) {
        int region = i;
        run.running++;
        all.add(() -> {
          run.merge(region, 40, Duration.ZERO);
          run.running--;
        });
        all.add(() -> {
          while (run.running > 0) {
            long read = run.in(region).readHere(LIKES).orElseThrow();
            if (read != run.sum) {
              run.wrong.add(NAMES.get(region) + " read " + read + ", not " + run.sum);
            }
          }
        });
      }
      run.time.run(all);
      merged += run.merged;
      assertEquals(List.of(), run.wrong, "seed " + seed);
    }
    assertTrue(merged > SEEDS * 20L, "only " + merged + " were merged: too few to prove anything");
  }

  /**
   * What regions avoid: merging in one region, and reading in another before all of it has arrived.
   */
  @Test
  void thePlainMergeIsNoticed() {
    long noticed = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Run run = new Run(seed, 0);
      run.count(0, 30);
      run.heal();
      new ItemCollection(run.regions(0).here(), run.random).compact(LIKES, Duration.ZERO);
      run.time.sleep(Duration.ofMillis(1_500)); // half of it has arrived
      Regions eu = run.regions(1);
      long read = new ItemCollection(eu.here(), run.random).read(LIKES).orElseThrow().value();
      noticed += read == run.sum ? 0 : 1;
    }
    assertTrue(noticed > SEEDS / 2, "noticed in only " + noticed);
  }

  /** A region that has not received a change would take its repeat for a new one. */
  @Test
  void onlyWhatAllRegionsHaveIsMerged() {
    Run run = new Run(1, 0);
    RegionalCollection ap = run.in(0);
    for (int i = 0; i < 20; i++) {
      ap.add(new Add(LIKES, 1, RequestId.of("late " + i)));
    }
    int merged = ap.merge(LIKES, Duration.ZERO);
    long come =
        Math.min(run.in(1).readHere(LIKES).orElse(0L), run.in(2).readHere(LIKES).orElse(0L));
    assertTrue(merged <= come && come < 20, "%d merged, %d have come".formatted(merged, come));
  }

  @Test
  void aSilentRegionIsReported() {
    Run run = new Run(1, 0);
    RegionalCollection ap = run.in(0);
    RequestId id = RequestId.of("one");
    assertInstanceOf(AddResult.Applied.class, ap.add(new Add(LIKES, 5, id)));
    run.table.cutOff(2);
    Reading reading = ap.read(LIKES).orElseThrow();
    assertEquals("us", reading.uncertainties().getFirst().where());
    assertEquals(5, reading.value());
    assertThrows(QuipuException.class, () -> ap.merge(LIKES, Duration.ZERO));
    assertThrows(QuipuException.class, () -> ap.outcome(LIKES, RequestId.of("two")));
    assertInstanceOf(RequestOutcome.Applied.class, run.in(1).outcome(LIKES, id));
    assertThrows(UnsupportedOperationException.class, () -> ap.cancel(LIKES, id));
  }

  @Test
  void theOutcomeIsKnownWhereverTheChangeIs() {
    Run run = new Run(1, 0);
    RequestId id = RequestId.of("one");
    run.in(0).add(new Add(LIKES, 5, id));
    RequestOutcome there = run.in(2).outcome(LIKES, id);
    assertEquals(5, ((RequestOutcome.Applied) there).added());
    assertEquals(new RequestOutcome.NotSeen(), run.in(2).outcome(LIKES, RequestId.of("two")));
    assertEquals("item-collection", run.in(2).spec().name());
    run.heal();
    List<CounterPage.Entry> listed = run.in(2).list("", "", 10).counters();
    assertEquals(List.of(LIKES), listed.stream().map(CounterPage.Entry::name).toList());
    assertEquals(Reading.exact(5), listed.getFirst().reading());
  }

  /** In an order in which a partial sum exceeds 64 bits. */
  @Test
  void onlyTheWholeSumMustHave64Bits() {
    Run run = new Run(1, 0);
    run.send(0, new Add(LIKES, Long.MAX_VALUE, RequestId.of("one")));
    run.send(1, new Add(LIKES, Long.MAX_VALUE, RequestId.of("two")));
    run.heal();
    Reading beyond = run.in(0).read(LIKES).orElseThrow();
    assertEquals(Long.MAX_VALUE, beyond.value());
    assertEquals(Uncertainty.Cause.OVERFLOW, beyond.uncertainties().getFirst().cause());
    run.send(2, new Add(LIKES, -Long.MAX_VALUE, RequestId.of("three")));
    run.send(0, new Add(LIKES, 4 - Long.MAX_VALUE, RequestId.of("four")));
    run.heal();
    assertEquals(Optional.of(Reading.exact(4)), run.in(0).read(LIKES));
    assertEquals(Optional.of(4L), run.in(1).readHere(LIKES));
    run.merge(0, 5, Duration.ZERO);
    run.heal();
    assertEquals(4, run.merged);
    assertEquals(Optional.of(Reading.exact(4)), run.in(2).read(LIKES));
  }

  /** Every read sees another step of the sum, and takes a second. */
  @Test
  void aReadEndsThoughMergesComeBetween() {
    VirtualTime time = new VirtualTime();
    MemoryDriver memory = new MemoryDriver();
    StoreDriver merging =
        new ForwardingDriver() {
          private long step;

          @Override
          protected StoreDriver driver() {
            return memory;
          }

          @Override
          public Page scan(Scan scan) {
            time.sleep(Duration.ofSeconds(1));
            Key sum = new Key("counter/" + LIKES, "merged/ap");
            Map<String, Field> fields = Map.of("step", new Field.Number(++step));
            memory.write(new Write.Put(sum, fields, Optional.empty(), Condition.always()));
            return memory.scan(scan);
          }
        };
    Store store = new Store(merging, time, Randomness.seeded(1), RetryPolicy.DEFAULT);
    Regions one = new Regions("ap", List.of("ap"), Map.of("ap", store));
    RegionalCollection collection = new RegionalCollection(one, Randomness.seeded(2));
    QuipuException merged = assertThrows(QuipuException.class, () -> collection.readHere(LIKES));
    assertEquals(Reason.THROTTLED, merged.reason());
    assertTrue(time.nanoTime() < Duration.ofSeconds(20).toNanos());
  }
}
