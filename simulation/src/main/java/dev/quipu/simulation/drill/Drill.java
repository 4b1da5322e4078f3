package dev.quipu.simulation.drill;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Counters;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.simulation.Simulation;
import dev.quipu.simulation.driver.FaultingDriver;
import dev.quipu.simulation.time.VirtualTime;
import dev.quipu.store.StoreDriver;
import dev.quipu.technique.CounterItems;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;
import org.HdrHistogram.ConcurrentHistogram;

/**
 * Runs clients that add to counters by a technique, on a store whose calls fail at random, and then
 * verifies the counters. On a real store it measures; on an in-memory store, in virtual time, the
 * same code predicts.
 */
public final class Drill {
  private static final int ATTEMPTS_MAX = 50;
  private static final int READS_MAX = 50;
  private static final int SECONDS_KEPT_MAX = 86_400;

  private final DrillOptions options;
  private final Clock clock;
  private final FaultingDriver faulting;
  private final MeteredDriver metered;
  private final Store store;
  private final Counters counters;
  private final String prefix;

  private final AtomicLongArray asked;
  private final AtomicLong begun = new AtomicLong();
  private final LongAdder attempts = new LongAdder();
  private final LongAdder full = new LongAdder();
  private final LongAdder unknownLeft = new LongAdder();
  private final AtomicLongArray eachSecond = new AtomicLongArray(SECONDS_KEPT_MAX);
  private final ConcurrentHistogram micros = new ConcurrentHistogram(3);
  private long startNanos;

  private Drill(
      StoreDriver driver,
      Simulation.Factory technique,
      DrillOptions options,
      Clock clock,
      RandomGenerator random,
      String prefix) {
    this.options = options;
    this.clock = clock;
    this.prefix = prefix;
    this.metered =
        new MeteredDriver(driver, clock, random, options.readLatency(), options.writeLatency());
    this.faulting =
        new FaultingDriver(
            metered,
            Randomness.seeded(options.seed()),
            options.faultRate(),
            options.faults(),
            () -> {});
    this.store = new Store(faulting, clock, random, RetryPolicy.DEFAULT);
    this.counters = technique.open(store, random);
    this.asked = new AtomicLongArray(options.keys());
  }

  /**
   * Measures on a real store, in real time. The counters stay there, under names that begin with
   * {@code quipu-verify/}.
   *
   * @throws QuipuException if the store cannot be read at the end
   */
  public static DrillReport measure(
      StoreDriver driver, Simulation.Factory technique, DrillOptions options) {
    RandomGenerator random = Randomness.secure();
    String prefix = CounterItems.VERIFICATION + RequestId.random(random).bits() + "/";
    Drill drill = new Drill(driver, technique, options, Clock.system(), random, prefix);
    return drill.run(Drill::together);
  }

  /** Predicts on an in-memory store, in virtual time: each seed gives one prediction. */
  public static DrillReport predict(
      StoreDriver driver, Simulation.Factory technique, DrillOptions options) {
    VirtualTime time = new VirtualTime();
    RandomGenerator random = Randomness.seeded(options.seed() + 1);
    Drill drill = new Drill(driver, technique, options, time, random, "predicted/");
    return drill.run(time::run);
  }

  /** Runs clients until all have ended. */
  private interface Runner {
    void run(List<Runnable> clients) throws InterruptedException;
  }

  private static void together(List<Runnable> clients) throws InterruptedException {
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<?> each : clients.stream().map(executor::submit).toList()) {
        each.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("a client failed", e.getCause());
    }
  }

  private DrillReport run(Runner runner) {
    List<Runnable> clients = new ArrayList<>();
    for (int i = 0; i < options.clients(); i++) {
      int number = i;
      clients.add(() -> client(number));
    }
    startNanos = clock.nanoTime();
    try {
      runner.run(clients);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
    Duration time = Duration.ofNanos(clock.nanoTime() - startNanos);
    Store.Statistics statistics = store.statistics();
    long readUnits = metered.readUnits();
    long writeUnits = metered.writeUnits();
    faulting.heal();
    return report(time, statistics, readUnits, writeUnits);
  }

  private DrillReport report(
      Duration time, Store.Statistics statistics, long readUnits, long writeUnits) {
    long expected = 0;
    long found = 0;
    long over = 0;
    long under = 0;
    for (int key = 0; key < options.keys(); key++) {
      long wanted = asked.get(key);
      long value = wanted == 0 ? 0 : read(key);
      expected += wanted;
      found += value;
      over += Math.max(0, value - wanted);
      under += Math.max(0, wanted - value);
    }
    Map<Double, Double> percentiles = new HashMap<>();
    for (double percentile : DrillReport.PERCENTILES) {
      percentiles.put(percentile, micros.getValueAtPercentile(percentile) / 1000.0);
    }
    return new DrillReport(
        store.profile().name(),
        counters.technique(),
        options,
        time,
        expected,
        found,
        over,
        under,
        Math.min(begun.get(), options.addsMax()),
        attempts.sum(),
        full.sum(),
        faulting.fired(),
        statistics.unknowns(),
        unknownLeft.sum(),
        statistics.calls(),
        readUnits,
        writeUnits,
        metered.meanRead(),
        metered.meanWrite(),
        percentiles,
        seconds(time));
  }

  private List<Long> seconds(Duration time) {
    List<Long> seconds = new ArrayList<>();
    for (int i = 0; i <= Math.min(time.toSeconds(), SECONDS_KEPT_MAX - 1); i++) {
      seconds.add(eachSecond.get(i));
    }
    return seconds;
  }

  private long read(int key) {
    for (int i = 1; ; i++) {
      try {
        return counters.read(name(key)).map(Reading::value).orElse(0L);
      } catch (QuipuException e) {
        if (i == READS_MAX || !e.reason().isTemporary()) {
          throw e;
        }
      }
    }
  }

  private String name(int key) {
    return prefix + key;
  }

  private void client(int number) {
    RandomGenerator random = Randomness.seeded(options.seed() * 1_000_003 + number);
    long end = startNanos + options.time().toNanos();
    double everyNanos =
        options.addsPerSecond() == 0 ? 0 : 1e9 * options.clients() / options.addsPerSecond();
    double next = startNanos + everyNanos * random.nextDouble();
    for (int i = 0; ; i++) {
      if (everyNanos > 0) {
        sleepUntil((long) next);
        next += everyNanos;
      }
      if (clock.nanoTime() >= end || begun.incrementAndGet() > options.addsMax()) {
        return;
      }
      boolean hot = random.nextDouble() < options.hotShare();
      add(number, i, hot ? 0 : random.nextInt(options.keys()));
    }
  }

  private void sleepUntil(long nanos) {
    try {
      clock.sleep(Duration.ofNanos(Math.max(0, nanos - clock.nanoTime())));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private void add(int client, int number, int key) {
    RequestId id =
        counters.remembersIds() ? RequestId.of("client " + client + " add " + number) : null;
    Add add = new Add(name(key), 1, id);
    long from = clock.nanoTime();
    asked.incrementAndGet(key);
    for (int attempt = 1; !isDone(add, key, attempt); attempt++) {
      // retries
    }
    long took = clock.nanoTime() - from;
    micros.recordValue(Math.max(1, took / 1_000));
    long second = (clock.nanoTime() - startNanos) / 1_000_000_000;
    eachSecond.incrementAndGet((int) Math.min(second, SECONDS_KEPT_MAX - 1));
  }

  /** Makes one call; returns whether the client is done with the add. */
  private boolean isDone(Add add, int key, int attempt) {
    attempts.increment();
    try {
      return switch (counters.add(add)) {
        case AddResult.Applied applied -> true;
        case AddResult.Replayed again -> true;
        case AddResult.Rejected rejected ->
            throw new IllegalStateException("rejected without bounds: " + rejected);
        case AddResult.Conflict conflict ->
            throw new IllegalStateException("conflict for an unchanged request");
      };
    } catch (QuipuException e) {
      if (e.reason() == Reason.FULL) {
        full.increment();
        asked.decrementAndGet(key);
        return true;
      }
      boolean unknown = e.outcome() == Outcome.UNKNOWN;
      if (!unknown && !e.reason().isTemporary()) {
        throw e;
      }
      boolean givesUp = attempt == ATTEMPTS_MAX || (unknown && !options.repeats());
      if (givesUp && unknown) {
        unknownLeft.increment();
      } else if (givesUp) {
        asked.decrementAndGet(key); // it certainly did not count, and the caller knows that
      }
      return givesUp;
    }
  }
}
