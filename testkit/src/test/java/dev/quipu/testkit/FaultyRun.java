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
 * One seed: clients in simulated time on a store whose calls take time and go wrong, and whose
 * processes die.
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
   * @param below makes the store that nothing goes wrong on
   * @param faultRate how many calls go wrong, 0 to 1
   * @param unit of the time that calls take
   * @param units how many of them, less than that
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

  /** The store of a process that dies within so many calls. */
  final Store crashing(int callsMax) {
    return store(ProcessCrash.of(driver, 1 + random.nextInt(callsMax), random.nextBoolean()));
  }

  /** All clients until they are done; from then on nothing goes wrong. */
  void run(List<Runnable> clients) throws InterruptedException {
    time.run(clients);
    driver.heal();
  }
}
