package dev.quipu.verify;

import dev.quipu.Counters;
import dev.quipu.Reading;
import dev.quipu.store.Consistency;
import dev.quipu.store.MemoryDriver;
import dev.quipu.store.Store;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreException;
import dev.quipu.store.StoreOptions;
import dev.quipu.time.Randomness;
import dev.quipu.verify.checker.TimedTruth;
import dev.quipu.verify.drill.VirtualTime;
import dev.quipu.verify.simulate.FaultingDriver;
import dev.quipu.verify.simulate.LaggingDriver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * One seed: ten minutes of simulated time on one counter, on a store whose replicas lag, whose
 * calls take time and go wrong, and whose clients die.
 */
abstract class LaggingRun {
  static final String PAGE = "page";
  private static final Duration TIME = Duration.ofMinutes(10);
  private static final Duration LAG = Duration.ofSeconds(1);
  private static final long STALE_MIN = 100;

  final List<String> wrong = new ArrayList<>();
  final VirtualTime time = new VirtualTime();
  final TimedTruth truth = new TimedTruth();
  final RandomGenerator random;
  final FaultingDriver driver;
  long crashes;
  private final LaggingDriver lagging;

  LaggingRun(long seed) {
    random = Randomness.seeded(seed);
    lagging = new LaggingDriver(new MemoryDriver(), time, random, LAG);
    driver =
        new FaultingDriver(
            lagging, random, 0.05, () -> time.sleep(Duration.ofMillis(random.nextInt(60))));
  }

  /** The counters as a reader opens them. */
  abstract Counters reader(Consistency reads);

  final Store store(StoreDriver on) {
    return new Store(on, time, random, StoreOptions.DEFAULT);
  }

  /** The store of a process that dies within so many calls. */
  final Store dying(int callsMax) {
    return store(new CrashingDriver(driver, 1 + random.nextInt(callsMax), random.nextBoolean()));
  }

  final boolean goesOn() {
    return time.nanoTime() < TIME.toNanos();
  }

  /** All clients until they are done, and three readers; from then on nothing goes wrong. */
  final void run(List<Runnable> clients) throws InterruptedException {
    List<Runnable> all = new ArrayList<>(clients);
    all.add(() -> read(Consistency.STRONG));
    all.add(() -> read(Consistency.EVENTUAL));
    all.add(() -> read(Consistency.EVENTUAL));
    time.run(all);
    driver.heal();
    if (lagging.stale() < STALE_MIN) {
      wrong.add("replicas were behind only " + lagging.stale() + " times: this proves nothing");
    }
  }

  private void read(Consistency consistency) {
    Counters counters = reader(consistency);
    while (goesOn()) {
      long start = time.epochMillis();
      try {
        Reading reading = counters.read(PAGE).orElse(Reading.exact(0));
        boolean isStrong = consistency == Consistency.STRONG;
        long from = isStrong ? start : start - LAG.toMillis();
        truth
            .wrong(reading, from, isStrong ? time.epochMillis() : from)
            .ifPresent(why -> wrong.add("at " + start + ", " + consistency + ": " + why));
      } catch (StoreException e) {
        // no answer is no wrong answer
      }
      time.sleep(Duration.ofMillis(random.nextInt(1_000)));
    }
  }

  /** At the end it must be certain, and right. */
  final void check(String when, Optional<Reading> reading) {
    if (reading.isEmpty() || reading.get().low() < reading.get().high()) {
      wrong.add(when + ": it is not certain: " + reading);
      return;
    }
    truth.wrongAtEnd(reading.get().value()).ifPresent(why -> wrong.add(when + ": " + why));
  }
}
