package dev.quipu.testkit.scenario;

import dev.quipu.QuipuException;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.LaggingDriver;
import dev.quipu.simulation.steps.LinkFaults;
import dev.quipu.simulation.steps.SimLink;
import dev.quipu.simulation.steps.SimProcess;
import dev.quipu.simulation.steps.StepScheduler;
import dev.quipu.store.StoreDriver;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/** The common parts of scenarios: a store, and processes on it that crash and are restarted. */
final class World extends Oracle {
  private static final int STEPS_MAX = 300_000;
  private static final Duration LAG = Duration.ofSeconds(5); // of eventual reads
  private static final Duration RESTART_MAX = Duration.ofSeconds(30);

  final StepScheduler scheduler;
  final RandomGenerator random;
  final Clock trueTime;
  final StoreDriver store;
  private final LinkFaults faults;
  private final Duration skewMax;
  private boolean isHealed;

  /** Wraps the store with missing capabilities or a planted fault. */
  interface Limit {
    /** All capabilities. */
    Limit NONE = (driver, trueTime) -> driver;

    /** Returns the store as used by all processes. */
    StoreDriver before(StoreDriver driver, Clock trueTime);
  }

  /**
   * Creates a store.
   *
   * @param skewMax maximum difference of the clock of a process from the true time
   */
  World(long seed, LinkFaults faults, Duration skewMax, Limit limit) {
    this.scheduler = new StepScheduler(seed);
    this.random = scheduler.random();
    this.trueTime = scheduler.process(Duration.ZERO);
    this.store =
        new LaggingDriver(limit.before(new MemoryDriver(), trueTime), trueTime, random, LAG);
    this.faults = faults;
    this.skewMax = skewMax;
  }

  /** Starts a process with its own threads, which is restarted whenever it was killed. */
  void process(int threads, Consumer<Store> begin, Runnable thread) {
    SimProcess process = newProcess(begin);
    for (int i = 0; i < threads; i++) {
      process.start(thread);
    }
    watch(process, threads, begin, thread);
  }

  private SimProcess newProcess(Consumer<Store> begin) {
    SimProcess process = scheduler.process(skew());
    begin.accept(store(process));
    return process;
  }

  private void watch(SimProcess process, int threads, Consumer<Store> begin, Runnable thread) {
    scheduler.after(
        scheduler.upTo(RESTART_MAX),
        () -> {
          if (!process.isAlive()) {
            process(threads, begin, thread);
          } else if (process.isRunning()) {
            watch(process, threads, begin, thread);
          }
        });
  }

  /** Returns the store as reached by a process. */
  Store store(SimProcess process) {
    return store(process, store, faults);
  }

  /** Returns another store as reached by a process: a cache. */
  Store store(SimProcess process, StoreDriver driver, LinkFaults faults) {
    SimLink link = new SimLink(scheduler, process, driver, isHealed ? LinkFaults.NONE : faults);
    links.add(link);
    return new Store(link, process, random, RetryPolicy.DEFAULT);
  }

  private Duration skew() {
    Duration both = scheduler.upTo(skewMax.multipliedBy(2));
    return both.minus(skewMax);
  }

  /** Runs until all processes have ended and all late requests have arrived. */
  void run() {
    scheduler.run(STEPS_MAX);
  }

  /** Ends all faults. */
  void heal() {
    isHealed = true;
    links.forEach(SimLink::heal);
  }

  /** Runs an action in a new process on a store without faults. */
  void calmly(Consumer<Store> work) {
    heal();
    SimProcess process = scheduler.process(Duration.ZERO);
    Store calm = store(process);
    process.start(() -> work.accept(calm));
    run();
  }

  /** Makes calls, one of which may have an unknown outcome: then another is made later. */
  static void quietly(Runnable calls) {
    try {
      calls.run();
    } catch (QuipuException e) {
      // violations show in the final state
    }
  }
}
