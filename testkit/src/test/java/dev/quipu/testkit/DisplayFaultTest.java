package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Counters;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.display.CacheFirst;
import dev.quipu.display.DisplayCounters;
import dev.quipu.display.DisplayReading;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.Fault;
import dev.quipu.simulation.driver.FaultingDriver;
import dev.quipu.simulation.time.VirtualTime;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.StoreDriver;
import dev.quipu.technique.MarkerItem;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * A view counter in a cache that is lost now and then, in front of a store that loses requests and
 * replies, with front ends and write-backs that are paused: many seeds. The same check must detect
 * the common recipe that fills the cache by set and flushes without an id.
 */
@SuppressWarnings("CheckReturnValue") // adds that prepare the test
final class DisplayFaultTest {
  private static final int SEEDS = Soak.seeds(500);
  private static final int UNFLUSHED_MAX = 5;
  private static final String PAGE = "page";
  private static final List<Fault> FAULTS =
      List.of(Fault.THROTTLED, Fault.LOST_REQUEST, Fault.LOST_REPLY, Fault.DELAYED);

  @Test
  void lossesAreWithinTheBoundAndReported() throws Exception {
    int lost = 0;
    int losses = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Run run = new Run(seed, true);
      run.go();
      assertEquals(List.of(), run.wrong, "seed " + seed);
      lost += run.lost() > 0 ? 1 : 0;
      losses += run.losses;
    }
    assertTrue(losses > SEEDS, "the cache was lost only " + losses + " times");
    assertTrue(
        lost > SEEDS / 10, "views were lost in only " + lost + " runs: too few to prove anything");
  }

  @Test
  void withoutALossEveryAcknowledgedViewCounts() throws Exception {
    for (long seed = 1; seed <= SEEDS; seed++) {
      Run run = new Run(seed, true);
      run.lossesMax = 0;
      run.go();
      assertEquals(List.of(), run.wrong, "seed " + seed);
      assertTrue(run.lost() <= 0, "seed " + seed + " lost " + run.lost());
    }
  }

  @Test
  void theCheckCatchesTheRecipeThatSeedsBySetAndFlushesWithoutAnId() throws Exception {
    int caught = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Run run = new Run(seed, false);
      run.go();
      caught += run.wrong.isEmpty() ? 0 : 1;
    }
    assertTrue(caught > SEEDS / 2, "caught only " + caught);
  }

  /** One seed: three front ends, two write-backs and a reader, each a separate process. */
  private static final class Run {
    final List<String> wrong = new ArrayList<>();
    int losses;
    int lossesMax = 3;
    private final boolean exact;
    private final VirtualTime time = new VirtualTime();
    private final RandomGenerator random;
    private final LosingDriver memory = new LosingDriver();
    private final List<FaultingDriver> drivers = new ArrayList<>();
    private final Store cache;
    private final Store durable;
    private final Counters counters;
    private long started;
    private long answered;
    private long unknown;
    private long durably;

    Run(long seed, boolean exact) {
      this.exact = exact;
      this.random = Randomness.seeded(seed);
      this.cache = store(memory);
      this.durable = store(new MemoryDriver());
      this.counters = new MarkerItem(durable, random);
    }

    private Store store(StoreDriver driver) {
      FaultingDriver faulting =
          new FaultingDriver(driver, random, 0.05, FAULTS, () -> time.sleep(pause()));
      drivers.add(faulting);
      return new Store(faulting, time, random, RetryPolicy.DEFAULT);
    }

    private Duration pause() {
      return random.nextInt(50) == 0
          ? Duration.ofMillis(random.nextInt(4_000))
          : Duration.ofMillis(random.nextInt(5));
    }

    long lost() {
      return answered - durably;
    }

    void go() throws InterruptedException {
      time.run(
          List.of(
              this::frontEnd,
              this::frontEnd,
              this::frontEnd,
              this::writeBack,
              this::writeBack,
              this::reader,
              this::killer));
      drivers.forEach(FaultingDriver::heal);
      Process last = process();
      last.writeBack();
      last.writeBack();
      durably = counters.read(PAGE).map(Reading::value).orElse(0L);
      if (durably > answered + unknown) {
        wrong.add("durable %d, but only %d + %d views".formatted(durably, answered, unknown));
      }
      if (lost() > (long) UNFLUSHED_MAX * losses) {
        wrong.add("lost %d views in %d losses".formatted(lost(), losses));
      }
      last.counters.read(PAGE).ifPresent(this::checkLast);
    }

    private void checkLast(DisplayReading reading) {
      check(reading, answered);
      if (reading.high() - reading.value() > (long) UNFLUSHED_MAX * losses) {
        wrong.add("reported more losses than there were: " + reading);
      }
    }

    private void frontEnd() {
      DisplayCounters views = process().counters;
      for (int i = 0; i < 25; i++) {
        started++;
        try {
          views.view(PAGE, Optional.empty());
          answered++;
        } catch (QuipuException e) {
          unknown += e.outcome() == Outcome.UNKNOWN ? 1 : 0;
          started -= e.outcome() == Outcome.UNKNOWN ? 0 : 1;
        }
        time.sleep(Duration.ofMillis(random.nextInt(100)));
      }
    }

    private void writeBack() {
      Process process = process();
      for (int i = 0; i < 10; i++) {
        time.sleep(Duration.ofMillis(random.nextInt(500)));
        try {
          process.writeBack();
        } catch (QuipuException e) {
          // the next round continues
        }
      }
    }

    private void reader() {
      DisplayCounters views = process().counters;
      for (int i = 0; i < 20; i++) {
        time.sleep(Duration.ofMillis(random.nextInt(200)));
        long before = answered;
        try {
          views.read(PAGE).ifPresent(reading -> check(reading, before));
        } catch (QuipuException e) {
          // no reading
        }
      }
    }

    private void check(DisplayReading reading, long before) {
      if (reading.low() > started || reading.high() < before) {
        wrong.add("%s, but %d were answered and %d started".formatted(reading, before, started));
      }
      if (reading.low() > reading.value() || reading.value() > reading.high()) {
        wrong.add("the value is outside: " + reading);
      }
    }

    private void killer() {
      for (int i = 0; i < lossesMax; i++) {
        time.sleep(Duration.ofMillis(random.nextInt(2_000)));
        memory.lose();
        losses++;
      }
    }

    private record Process(DisplayCounters counters, Runnable round) {
      void writeBack() {
        round.run();
      }
    }

    private Process process() {
      if (exact) {
        CacheFirst own =
            new CacheFirst(cache.operations(), durable, counters, UNFLUSHED_MAX, random);
        return new Process(own, own::writeBack);
      }
      Recipe recipe = new Recipe(cache.operations(), counters, time::epochMillis);
      return new Process(recipe, recipe::writeBack);
    }
  }

  /** The common recipe: two races, and a flush that counts twice when repeated. */
  private record Recipe(AtomicOperations cache, Counters counters, Supplier<Long> millis)
      implements DisplayCounters {
    @Override
    public OptionalLong view(String name, Optional<RequestId> id) {
      OptionalLong after = cache.incr(name, 1);
      if (after.isEmpty()) {
        cache.set(name, Long.toString(durably(name) + 1), Optional.empty());
      }
      return after;
    }

    @Override
    public Optional<DisplayReading> read(String name) {
      return cache
          .get(name)
          .map(found -> found.number().orElseThrow())
          .map(is -> new DisplayReading(is, is, is, Instant.ofEpochMilli(millis.get())));
    }

    void writeBack() {
      cache
          .get(PAGE)
          .map(found -> found.number().orElseThrow() - durably(PAGE))
          .filter(more -> more > 0)
          .ifPresent(more -> counters.add(new Add(PAGE, more, null)));
    }

    private long durably(String name) {
      return counters.read(name).map(Reading::value).orElse(0L);
    }
  }
}
