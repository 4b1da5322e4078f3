package dev.quipu.testkit;

import dev.quipu.Counters;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.checker.ReadingOracle;
import dev.quipu.simulation.driver.LaggingDriver;
import dev.quipu.store.StoreDriver.Consistency;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One seed: ten minutes of simulated time on one counter, on a store whose replicas lag, whose
 * calls take time and fail, and whose clients crash.
 */
abstract class LaggingRun extends FaultyRun<LaggingDriver> {
  static final String PAGE = "page";
  private static final Duration TIME = Duration.ofMinutes(10);
  private static final Duration LAG = Duration.ofSeconds(1);
  private static final long STALE_MIN = 100;

  final ReadingOracle oracle = new ReadingOracle();

  LaggingRun(long seed) {
    super(
        seed,
        (time, random) -> new LaggingDriver(new MemoryDriver(), time, random, LAG),
        0.05,
        Duration.ofMillis(1),
        60);
  }

  /** Returns the counters as opened by a reader. */
  abstract Counters reader(Consistency reads);

  /** Returns how long after its request an add may leave an eventual read uncertain. */
  abstract Duration settled();

  final boolean goesOn() {
    return time.nanoTime() < TIME.toNanos();
  }

  /** Runs all clients to their end, and three readers; afterwards there are no faults. */
  @Override
  final void run(List<Runnable> clients) throws InterruptedException {
    List<Runnable> all = new ArrayList<>(clients);
    all.add(() -> read(Consistency.STRONG));
    all.add(() -> read(Consistency.EVENTUAL));
    all.add(() -> read(Consistency.EVENTUAL));
    super.run(all);
    if (below.stale() < STALE_MIN) {
      wrong.add("replicas were behind only " + below.stale() + " times: too few to prove anything");
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
        oracle
            .wrong(
                reading,
                from,
                isStrong ? time.epochMillis() : from,
                isStrong ? 0 : oracle.amountSince(from - settled().toMillis()))
            .ifPresent(why -> wrong.add("at " + start + ", " + consistency + ": " + why));
      } catch (QuipuException e) {
        // no reading is not a wrong reading
      }
      time.sleep(Duration.ofMillis(random.nextInt(1_000)));
    }
  }

  /** At the end it must be certain and correct. */
  final void check(String when, Optional<Reading> reading) {
    if (reading.isEmpty() || reading.get().low() < reading.get().high()) {
      wrong.add(when + ": it is not certain: " + reading);
      return;
    }
    oracle.wrongAtEnd(reading.get().value()).ifPresent(why -> wrong.add(when + ": " + why));
  }
}
