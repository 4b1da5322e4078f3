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

/** What every scenario has: a store, and processes on it that die and are started again. */
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

  /** Puts what a store cannot do, or what is planted, before the store. */
  interface Limit {
    /** Everything is possible. */
    Limit NONE = (driver, trueTime) -> driver;

    /** Returns the store as all processes have it. */
    StoreDriver before(StoreDriver driver, Clock trueTime);
  }

  /**
   * Creates a store.
   *
   * @param skewMax most that the clock of a process is off the true time
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

  /** A process with threads of its own, which is started again whenever it was killed. */
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

  /** The store as a process reaches it. */
  Store store(SimProcess process) {
    return store(process, store, faults);
  }

  /** Another store as a process reaches it: a cache. */
  Store store(SimProcess process, StoreDriver driver, LinkFaults faults) {
    SimLink link = new SimLink(scheduler, process, driver, isHealed ? LinkFaults.NONE : faults);
    links.add(link);
    return new Store(link, process, random, RetryPolicy.DEFAULT);
  }

  private Duration skew() {
    Duration both = scheduler.upTo(skewMax.multipliedBy(2));
    return both.minus(skewMax);
  }

  /** Runs until all processes have ended and all that is late has arrived. */
  void run() {
    scheduler.run(STEPS_MAX);
  }

  /** From now on, nothing goes wrong. */
  void heal() {
    isHealed = true;
    links.forEach(SimLink::heal);
  }

  /** Runs something in a new process on a store on which nothing goes wrong. */
  void calmly(Consumer<Store> work) {
    heal();
    SimProcess process = scheduler.process(Duration.ZERO);
    Store calm = store(process);
    process.start(() -> work.accept(calm));
    run();
  }

  /** Makes calls, of which one may get no definite answer: then another is made some time. */
  static void quietly(Runnable calls) {
    try {
      calls.run();
    } catch (QuipuException e) {
      // what may not be is seen by what is there
    }
  }
}
