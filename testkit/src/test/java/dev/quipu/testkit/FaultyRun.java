package dev.quipu.testkit;

import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.simulation.driver.FaultingDriver;
import dev.quipu.simulation.time.VirtualTime;
import dev.quipu.store.StoreDriver;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.random.RandomGenerator;

/**
 * One seed: clients in simulated time on a store whose calls take time and fail, and whose
 * processes crash.
 */
class FaultyRun<D extends StoreDriver> {
  final List<String> wrong = new ArrayList<>();
  final VirtualTime time = new VirtualTime();
  final RandomGenerator random;
  final D below;
  final FaultingDriver driver;
  long crashes;

  /**
   * Opens a store.
   *
   * @param below creates the store without faults
   * @param faultRate fraction of calls that fail, 0 to 1
   * @param unit unit of the latency of calls
   * @param units exclusive maximum latency, in units
   */
  FaultyRun(
      long seed,
      BiFunction<VirtualTime, RandomGenerator, D> below,
      double faultRate,
      Duration unit,
      int units) {
    this.random = Randomness.seeded(seed);
    this.below = below.apply(time, random);
    this.driver =
        new FaultingDriver(
            this.below,
            random,
            faultRate,
            () -> time.sleep(unit.multipliedBy(random.nextInt(units))));
  }

  final Store store(StoreDriver on) {
    return new Store(on, time, random, RetryPolicy.DEFAULT);
  }

  /** Returns the store of a process that crashes within this number of calls. */
  final Store crashing(int callsMax) {
    return store(ProcessCrash.of(driver, 1 + random.nextInt(callsMax), random.nextBoolean()));
  }

  /** Runs all clients to their end; afterwards there are no faults. */
  void run(List<Runnable> clients) throws InterruptedException {
    time.run(clients);
    driver.heal();
  }
}
