package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.hits.VersionTree;
import dev.quipu.hits.VersionTreeOptions;
import dev.quipu.hits.VersionTrees;
import dev.quipu.simulation.checker.ReadingOracle;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.testkit.pace.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A version tree on a store whose replicas lag and whose calls fail, by writers and pruners that
 * crash at any of their calls: ten minutes of simulated time per seed.
 */
final class VersionTreeFaultTest {
  private static final int SEEDS = Soak.seeds(2);
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

  /** The same run detects roots of branches that are not closed. */
  @Test
  void foldingThatDoesNotWaitIsCaught() throws Exception {
    int caught = 0;
    for (long seed = 1; seed <= 3; seed++) {
      Run run = new Run(seed, OPTIONS);
      run.prunersAre =
          OPTIONS.settling(Duration.ofMillis(100), Duration.ofMillis(100)); // unlike writers
      run.go();
      caught += run.wrong.isEmpty() ? 0 : 1;
    }
    assertEquals(3, caught);
  }

  /** Six clients that count, three that prune. */
  private static final class Run extends LaggingRun {
    long folds;
    VersionTreeOptions prunersAre;
    private final VersionTreeOptions options;
    private long horizon = -1;

    Run(long seed, VersionTreeOptions options) {
      super(seed);
      this.options = options;
      this.prunersAre = options;
    }

    @Override
    VersionTree reader(Consistency reads) {
      return new VersionTree(store(driver), random, options.reading(reads));
    }

    @Override
    Duration settled() {
      return options.settle().plus(options.branchAge());
    }

    void go() throws InterruptedException {
      List<Runnable> clients = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        clients.add(this::count);
      }
      for (int i = 0; i < 3; i++) {
        clients.add(this::prune);
      }
      run(clients);
      VersionTree tree = reader(Consistency.EVENTUAL);
      for (int i = 0; i < 4; i++) {
        time.sleep(options.settle().plus(options.branchAge()));
        check("at the end", tree.read(PAGE));
        tree.prune(PAGE);
      }
      long left = tree.trees(PAGE).values().stream().mapToLong(each -> each.nodes().size()).sum();
      if (left > 0) {
        wrong.add(left + " values are not folded");
      }
    }

    /** Crashes now and then, and another process takes its place. */
    private void count() {
      while (goesOn()) {
        VersionTree tree = new VersionTree(crashing(100), random, options);
        try {
          while (goesOn()) {
            add(tree, random.nextInt(4) == 0 ? -2 : 1 + random.nextInt(3));
            time.sleep(Duration.ofMillis(random.nextInt(500)));
          }
        } catch (ProcessCrash.Crash e) {
          crashes++;
        }
      }
    }

    private void add(VersionTree tree, long delta) {
      ReadingOracle.Pending pending = oracle.begin(delta, time.epochMillis());
      try {
        tree.add(new Add(PAGE, delta, null));
        pending.acked(time.epochMillis());
      } catch (QuipuException e) {
        if (e.outcome() == Outcome.NOT_APPLIED) {
          pending.rejected();
        }
      }
    }

    private void prune() {
      while (goesOn()) {
        VersionTree tree = new VersionTree(crashing(40), random, prunersAre);
        try {
          while (goesOn()) {
            tree.prune(PAGE);
            for (VersionTrees each : tree.trees(PAGE).values()) {
              folds += each.root().horizonMillis() > horizon ? 1 : 0;
              horizon = Math.max(horizon, each.root().horizonMillis());
            }
            time.sleep(Duration.ofMillis(random.nextInt(3_000)));
          }
        } catch (ProcessCrash.Crash e) {
          crashes++;
        } catch (QuipuException e) {
          time.sleep(Duration.ofMillis(100));
        }
      }
    }
  }
}
