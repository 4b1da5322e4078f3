package dev.quipu.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Reading;
import dev.quipu.store.Consistency;
import dev.quipu.store.MemoryDriver;
import dev.quipu.store.Outcome;
import dev.quipu.store.Store;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreException;
import dev.quipu.store.StoreOptions;
import dev.quipu.technique.VersionTree;
import dev.quipu.technique.VersionTreeOptions;
import dev.quipu.technique.VersionTrees;
import dev.quipu.time.Randomness;
import dev.quipu.verify.drill.VirtualTime;
import dev.quipu.verify.simulate.FaultingDriver;
import dev.quipu.verify.simulate.LaggingDriver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * A version tree on a store whose replicas lag and whose calls go wrong, by writers and pruners
 * that die at any of their calls: ten minutes of simulated time a seed.
 */
final class VersionTreeFaultTest {
  private static final int SEEDS = Integer.getInteger("quipu.seeds", 5);
  private static final Duration TIME = Duration.ofMinutes(10);
  private static final Duration LAG = Duration.ofSeconds(1);
  private static final String PAGE = "page";
  private static final VersionTreeOptions OPTIONS =
      VersionTreeOptions.DEFAULT.over(2).settling(Duration.ofSeconds(4), Duration.ofSeconds(15));

  @Test
  void noAddIsLostOrDoubledAndEveryReadLiesInItsOwnInterval() throws Exception {
    long crashes = 0;
    long folds = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Run run = new Run(seed, OPTIONS);
      run.go();
      assertEquals(List.of(), run.wrong, "seed " + seed);
      crashes += run.crashes;
      folds += run.folds;
    }
    assertTrue(crashes > 200L * SEEDS, "only " + crashes + " crashes");
    assertTrue(folds > 20L * SEEDS, "folded only " + folds + " times");
  }

  /** The same run catches roots of branches that are not closed. */
  @Test
  void foldingThatDoesNotWaitIsCaught() throws Exception {
    int caught = 0;
    for (long seed = 1; seed <= 3; seed++) {
      Run run = new Run(seed, OPTIONS);
      run.prunersAre =
          OPTIONS.settling(Duration.ofMillis(100), Duration.ofMillis(100)); // not as writers are
      run.go();
      caught += run.wrong.isEmpty() ? 0 : 1;
    }
    assertEquals(3, caught);
  }

  /** One seed: six that count, three that prune, three that read. */
  private static final class Run {
    final List<String> wrong = new ArrayList<>();
    long crashes;
    long folds;
    VersionTreeOptions prunersAre;
    private final VirtualTime time = new VirtualTime();
    private final RandomGenerator random;
    private final LaggingDriver lagging;
    private final FaultingDriver driver;
    private final VersionTreeOptions options;
    private final Truth truth = new Truth();
    private long horizon = -1;

    Run(long seed, VersionTreeOptions options) {
      this.options = options;
      this.prunersAre = options;
      random = Randomness.seeded(seed);
      lagging = new LaggingDriver(new MemoryDriver(), time, random, LAG);
      driver =
          new FaultingDriver(
              lagging, random, 0.05, () -> time.sleep(Duration.ofMillis(random.nextInt(60))));
    }

    void go() throws InterruptedException {
      List<Runnable> clients = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        clients.add(this::count);
      }
      for (int i = 0; i < 3; i++) {
        clients.add(this::prune);
      }
      clients.add(() -> read(Consistency.STRONG));
      clients.add(() -> read(Consistency.EVENTUAL));
      clients.add(() -> read(Consistency.EVENTUAL));
      time.run(clients);
      driver.heal();
      VersionTree tree = open(driver, options.reading(Consistency.EVENTUAL));
      for (int i = 0; i < 4; i++) {
        time.sleep(options.settle().plus(options.branchAge()));
        check("at the end", tree.read(PAGE));
        tree.prune(PAGE);
      }
      long left = tree.trees(PAGE).values().stream().mapToLong(each -> each.nodes().size()).sum();
      if (left > 0) {
        wrong.add(left + " values are not folded");
      }
      if (lagging.stale() < 100) {
        wrong.add("replicas were behind only " + lagging.stale() + " times: this proves nothing");
      }
    }

    private void check(String when, Optional<Reading> reading) {
      if (reading.isEmpty() || reading.get().low() < reading.get().high()) {
        wrong.add(when + ": it is not certain: " + reading);
        return;
      }
      truth.wrongAtEnd(reading.get().value()).ifPresent(why -> wrong.add(when + ": " + why));
    }

    private VersionTree open(StoreDriver on, VersionTreeOptions with) {
      return new VersionTree(new Store(on, time, random, StoreOptions.DEFAULT), random, with);
    }

    private boolean goesOn() {
      return time.nanoTime() < TIME.toNanos();
    }

    /** Dies now and then, and another takes its place. */
    private void count() {
      while (goesOn()) {
        VersionTree tree =
            open(
                new CrashingDriver(driver, 1 + random.nextInt(100), random.nextBoolean()), options);
        try {
          while (goesOn()) {
            add(tree, random.nextInt(4) == 0 ? -2 : 1 + random.nextInt(3));
            time.sleep(Duration.ofMillis(random.nextInt(500)));
          }
        } catch (CrashingDriver.Crash e) {
          crashes++;
        }
      }
    }

    private void add(VersionTree tree, long delta) {
      Truth.Asked asked = truth.ask(delta, time.epochMillis());
      try {
        tree.add(new Add(PAGE, delta, null));
        asked.acked(time.epochMillis());
      } catch (StoreException e) {
        if (e.outcome() == Outcome.NOT_APPLIED) {
          asked.refused();
        }
      }
    }

    private void prune() {
      while (goesOn()) {
        VersionTree tree =
            open(
                new CrashingDriver(driver, 1 + random.nextInt(40), random.nextBoolean()),
                prunersAre);
        try {
          while (goesOn()) {
            tree.prune(PAGE);
            for (VersionTrees each : tree.trees(PAGE).values()) {
              folds += each.root().horizonMillis() > horizon ? 1 : 0;
              horizon = Math.max(horizon, each.root().horizonMillis());
            }
            time.sleep(Duration.ofMillis(random.nextInt(3_000)));
          }
        } catch (CrashingDriver.Crash e) {
          crashes++;
        } catch (StoreException e) {
          time.sleep(Duration.ofMillis(100));
        }
      }
    }

    private void read(Consistency consistency) {
      VersionTree tree = open(driver, options.reading(consistency));
      while (goesOn()) {
        long start = time.epochMillis();
        try {
          Reading reading = tree.read(PAGE).orElse(Reading.exact(0));
          long lag = consistency == Consistency.STRONG ? 0 : LAG.toMillis();
          long from = start - lag;
          truth
              .wrong(reading, from, lag == 0 ? time.epochMillis() : from)
              .ifPresent(why -> wrong.add("at " + start + ", " + consistency + ": " + why));
        } catch (StoreException e) {
          // no answer is no wrong answer
        }
        time.sleep(Duration.ofMillis(random.nextInt(1_000)));
      }
    }
  }
}
