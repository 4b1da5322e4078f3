package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLogOptions;
import dev.quipu.simulation.checker.ReadingOracle;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.testkit.pace.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Hits, summaries and sweeps on a store whose replicas lag and whose calls fail, by summarizers
 * that race and crash at any of their calls: ten minutes of simulated time per seed.
 */
final class HitLogFaultTest {
  private static final int SEEDS = Soak.seeds(2);
  private static final HitLogOptions OPTIONS =
      HitLogOptions.DEFAULT
          .settling(Duration.ofSeconds(4))
          .keeping(Duration.ofSeconds(20))
          .summarizingAt(50);

  @Test
  void noHitIsLostOrDoubledAndEveryReadLiesInItsOwnInterval() throws Exception {
    long crashes = 0;
    long summaries = 0;
    long swept = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Run run = new Run(seed, OPTIONS);
      run.go();
      assertEquals(List.of(), run.wrong, "seed " + seed);
      crashes += run.crashes;
      summaries += run.summaries;
      swept += run.swept;
    }
    assertTrue(crashes > 100L * SEEDS, "only " + crashes + " crashes");
    assertTrue(summaries > 100L * SEEDS, "only " + summaries + " summaries");
    assertTrue(swept > 200L * SEEDS, "only " + swept + " hits were swept");
  }

  /** The same run detects summaries of hits that have not settled. */
  @Test
  void summariesThatDoNotWaitAreCaught() throws Exception {
    HitLogOptions hasty = OPTIONS.settling(Duration.ofMillis(400));
    int caught = 0;
    for (long seed = 1; seed <= 2; seed++) {
      Run run = new Run(seed, hasty);
      run.go();
      caught += run.wrong.isEmpty() ? 0 : 1;
    }
    assertEquals(2, caught);
  }

  /** Four clients that count, four that summarize. */
  private static final class Run extends LaggingRun {
    long summaries;
    long swept;
    private final HitLogOptions options;
    private long requests;

    Run(long seed, HitLogOptions options) {
      super(seed);
      this.options = options;
    }

    @Override
    HitLog reader(Consistency reads) {
      return new HitLog(store(driver), random, options.reading(reads));
    }

    @Override
    Duration settled() {
      return options.settle();
    }

    void go() throws InterruptedException {
      List<Runnable> clients = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        clients.add(this::count);
        clients.add(this::summarise);
      }
      run(clients);
      time.sleep(options.settle().multipliedBy(2));
      HitLog hits = reader(Consistency.EVENTUAL);
      check("settled", hits.read(PAGE));
      hits.rollUpDue();
      check("rolled up", hits.read(PAGE));
      time.sleep(options.window().plus(options.settle().multipliedBy(3)));
      hits.rollUpDue();
      hits.rollUpDue();
      check("swept", hits.read(PAGE));
      for (String partition : List.of("hits/" + PAGE, "amounts/" + PAGE, "hits-due")) {
        long left = ScanDriver.of(driver).count(Scan.all(partition));
        if (left > 0) {
          wrong.add(left + " items are left in " + partition);
        }
      }
    }

    private void count() {
      HitLog hits = reader(Consistency.STRONG);
      while (goesOn()) {
        long delta = random.nextInt(4) == 0 ? random.nextLong(-3, 4) : 1;
        if (delta != 0) {
          boolean hasId = random.nextBoolean();
          add(hits, new Add(PAGE, delta, hasId ? RequestId.of("request " + requests++) : null));
        }
        time.sleep(Duration.ofMillis(random.nextInt(500)));
      }
    }

    private void add(HitLog hits, Add add) {
      ReadingOracle.Pending pending = oracle.begin(add.delta(), time.epochMillis());
      for (int attempt = 0; attempt < 20; attempt++) {
        try {
          AddResult result = hits.add(add);
          if (!(result instanceof AddResult.Applied) && !(result instanceof AddResult.Replayed)) {
            wrong.add(add + " is answered by " + result);
          }
          pending.acked(time.epochMillis());
          if (random.nextInt(4) == 0 && add.id() != null) {
            hits.add(add); // repeat
          }
          return;
        } catch (QuipuException e) {
          if (add.id() == null) {
            return; // unknown
          }
        }
      }
    }

    /** Crashes at some call, and is restarted. */
    private void summarise() {
      while (goesOn()) {
        HitLog hits = new HitLog(crashing(60), random, options);
        try {
          while (goesOn()) {
            if (random.nextBoolean()) {
              summaries += hits.rollUp(PAGE).isStored() ? 1 : 0;
              swept += hits.sweep(PAGE);
            } else {
              summaries += hits.rollUpDue();
            }
            time.sleep(Duration.ofMillis(random.nextInt(2_000)));
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
