package dev.quipu.testkit.scenario;

import dev.quipu.layer.Store;
import dev.quipu.sequence.RangeJob;
import dev.quipu.simulation.steps.LinkFaults;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** One seed of numbered records that several workers process, each exactly once. */
final class RangeRun {
  private static final int LAST = 120;
  private static final int RANGES = 8;
  private static final int ROUNDS_MAX = 400;

  private final World world;

  private RangeRun(long seed) {
    this.world = new World(seed, LinkFaults.ALL, Duration.ofMinutes(5), World.Limit.NONE);
  }

  /** Runs a seed; returns the violations. */
  static List<String> run(long seed) {
    RangeRun run = new RangeRun(seed);
    return run.world.checked(run::run);
  }

  private void run() {
    for (int i = 0; i < 3; i++) {
      Store[] own = new Store[1];
      world.process(2, store -> own[0] = store, () -> work(own[0]));
    }
    world.run();
    world.calmly(store -> {
      work(store);
      world.check(job(store).isDone(), "%d are processed at last", job(store).processed());
      for (long number = 1; number <= LAST; number++) {
        Optional<Item> done = store.get(key(number), Consistency.STRONG);
        long times = done.map(item -> item.number(Item.VALUE)).orElse(0L);
        world.check(times == 1, "%d is processed %d times", number, times);
      }
    });
  }

  private RangeJob job(Store store) {
    return new RangeJob(store, world.random, "job", LAST, RANGES);
  }

  private static Key key(long number) {
    return new Key("done", Long.toString(number));
  }

  private void work(Store store) {
    RangeJob job = job(store);
    boolean[] isDone = new boolean[1];
    for (int round = 0; round < ROUNDS_MAX && !isDone[0]; round++) {
      World.quietly(() -> {
        Optional<RangeJob.Task> task = job.take(Duration.ofMinutes(1));
        if (task.isPresent()) {
          process(task.get());
        } else {
          isDone[0] = job.isDone();
          sleep(store.clock());
        }
      });
    }
  }

  private static void process(RangeJob.Task task) {
    try (task) {
      boolean goesOn = true;
      while (goesOn && task.next().isPresent()) {
        goesOn =
            task.done(
                List.of(
                    new Write.Update(
                        key(task.next().getAsLong()),
                        List.of(new Change.Add(Item.VALUE, 1)),
                        Condition.always())));
      }
    }
  }

  private static void sleep(Clock clock) {
    try {
      clock.sleep(Duration.ofSeconds(20));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e); // simulated threads are never interrupted
    }
  }
}
