package dev.quipu.simpledb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Counters;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLogOptions;
import dev.quipu.hits.VersionTree;
import dev.quipu.hits.VersionTreeOptions;
import dev.quipu.layer.Store;
import dev.quipu.simpledbserver.SimpleDbFault;
import dev.quipu.simpledbserver.SimpleDbOptions;
import dev.quipu.simpledbserver.SimpleDbServer;
import dev.quipu.simulation.checker.ReadingOracle;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The easy way and the hard way over the wire: sixteen writers, replicas that lag up to a second,
 * and one reply in twenty dropped after the write was applied.
 */
@SuppressWarnings("CheckReturnValue") // adds before the measured ones
final class BothWaysTest {
  private static final int WRITERS = 16;
  private static final int ADDS = 60;
  private static final int READS_MIN = 10; // per reader, independent of the speed of writers
  private static final double DROPPED = 0.05;
  private static final Duration LAG = Duration.ofSeconds(1);
  private static final Duration SETTLE = Duration.ofSeconds(20);
  private static final Duration SETTLED = SETTLE.multipliedBy(3); // or its branch is old
  private static final String PAGE = "page";

  private final ShiftedClock clock = new ShiftedClock();
  private final SimpleDbServer server =
      SimpleDbServer.start(SimpleDbOptions.DEFAULT.lagging(LAG, 11).countingInPartsOf(100), clock);
  private final List<SimpleDbDriver> drivers = new ArrayList<>();
  private final ReadingOracle oracle = new ReadingOracle();

  @AfterEach
  void close() {
    drivers.forEach(SimpleDbDriver::close);
    server.close();
  }

  private Store store() {
    SimpleDbClient client =
        new SimpleDbClient(
            server.endpoint(),
            new SimpleDbClient.Credentials("key", "secret", Optional.empty()),
            Duration.ofSeconds(10),
            clock);
    SimpleDbDriver driver =
        SimpleDbDriver.open(client, List.of("first", "second", "third"), client::close);
    driver.createDomains();
    drivers.add(driver);
    return new Store(driver, clock);
  }

  private static HitLogOptions hitLog() {
    return HitLogOptions.DEFAULT.settling(SETTLE).keeping(SETTLE);
  }

  private static VersionTreeOptions versionTree() {
    return VersionTreeOptions.DEFAULT.settling(SETTLE, SETTLE.multipliedBy(2));
  }

  @Test
  void theEasyWayIsExactWithStatedUncertainty() throws Exception {
    List<HitLog> summarisers =
        IntStream.range(0, 3).mapToObj(i -> new HitLog(store(), hitLog())).toList();
    run(
        reads -> new HitLog(store(), hitLog().reading(reads)),
        true,
        () -> summarisers.forEach(HitLog::rollUpDue));
    HitLog last = new HitLog(store(), hitLog().reading(Consistency.EVENTUAL));
    clock.advance(SETTLE.plus(LAG));
    assertEquals(Reading.exact(oracle.sum()), last.read(PAGE).orElseThrow());
    for (int i = 0; i < 3; i++) { // summed, then confirmed, then swept
      last.rollUpDue();
      clock.advance(SETTLE.multipliedBy(3));
    }
    assertEquals(Reading.exact(oracle.sum()), last.read(PAGE).orElseThrow());
    clock.advance(LAG);
    assertEquals(0, last.stored(PAGE).stored());
    assertEquals(Reading.exact(oracle.sum()), last.read(PAGE).orElseThrow());
  }

  @Test
  void theHardWayIsExactWithStatedUncertainty() throws Exception {
    VersionTree pruner = new VersionTree(store(), versionTree());
    run(
        reads -> new VersionTree(store(), versionTree().reading(reads)),
        false,
        () -> pruner.prune(PAGE));
    VersionTree last = new VersionTree(store(), versionTree().reading(Consistency.EVENTUAL));
    clock.advance(SETTLE.plus(LAG));
    assertEquals(Reading.exact(oracle.sum()), last.read(PAGE).orElseThrow());
    for (int i = 0; i < 4; i++) {
      clock.advance(SETTLE.multipliedBy(3));
      last.prune(PAGE);
    }
    clock.advance(LAG);
    assertEquals(Reading.exact(oracle.sum()), last.read(PAGE).orElseThrow());
    assertTrue(last.trees(PAGE).values().stream().allMatch(tree -> tree.nodes().isEmpty()));
  }

  /** Runs writers until they finish, with readers and cleanup in parallel. */
  private void run(Function<Consistency, Counters> opener, boolean hasIds, Runnable tidy)
      throws Exception {
    server.use(Map.of(SimpleDbFault.REPLY_DROPPED, DROPPED));
    AtomicBoolean done = new AtomicBoolean();
    ConcurrentSkipListSet<String> wrong = new ConcurrentSkipListSet<>();
    List<Long> reads = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> writers = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        Counters counters = opener.apply(Consistency.STRONG);
        writers.add(threads.submit(() -> write(counters, writer, hasIds)));
      }
      List<Future<Long>> others = new ArrayList<>();
      for (Consistency consistency : Consistency.values()) {
        Counters counters = opener.apply(consistency);
        others.add(threads.submit(() -> read(counters, consistency, done, wrong)));
      }
      others.add(
          threads.submit(() -> {
            while (!done.get()) {
              try {
                tidy.run();
              } catch (QuipuException e) {
                // its outcome is unknown: retry
              }
              clock.advance(Duration.ofMillis(500));
            }
            return 100L;
          }));
      try {
        for (Future<?> each : writers) {
          each.get();
        }
      } finally {
        done.set(true);
      }
      for (Future<Long> each : others) {
        reads.add(each.get());
      }
    }
    server.use(Map.of());
    assertEquals(List.of(), List.copyOf(wrong));
    assertTrue(reads.stream().allMatch(count -> count >= READS_MIN), "reads: " + reads);
    int dropped = server.fired().getOrDefault(SimpleDbFault.REPLY_DROPPED, 0);
    assertTrue(dropped > WRITERS, "only " + dropped + " replies were dropped");
    assertEquals((long) WRITERS * ADDS, oracle.acked());
  }

  private void write(Counters counters, int writer, boolean hasIds) {
    RandomGenerator random = Randomness.seeded(writer);
    for (int i = 0; i < ADDS; i++) {
      long delta = random.nextInt(4) == 0 ? -2 : 1 + random.nextInt(2);
      RequestId id =
          hasIds && random.nextBoolean() ? RequestId.of("writer " + writer + " add " + i) : null;
      ReadingOracle.Pending pending = oracle.begin(delta, clock.epochMillis());
      addUntilKnown(counters, new Add(PAGE, delta, id));
      pending.acked(clock.epochMillis());
    }
  }

  /** Retries an unknown outcome under its request id; without one, the test fails. */
  private static void addUntilKnown(Counters counters, Add add) {
    for (int attempt = 0; ; attempt++) {
      try {
        counters.add(add);
        return;
      } catch (QuipuException e) {
        if (e.outcome() == Outcome.UNKNOWN && (add.id() == null || attempt == 20)) {
          throw e;
        }
      }
    }
  }

  private long read(
      Counters counters,
      Consistency consistency,
      AtomicBoolean done,
      ConcurrentSkipListSet<String> wrong) {
    long reads = 0;
    while (!done.get() || reads < READS_MIN) {
      long start = clock.epochMillis();
      Reading reading;
      try {
        reading = counters.read(PAGE).orElse(Reading.exact(0));
      } catch (QuipuException e) {
        continue; // the clock was advanced during the read
      }
      reads++;
      boolean isStrong = consistency == Consistency.STRONG;
      long from = isStrong ? start : start - LAG.toMillis();
      oracle
          .wrong(
              reading,
              from,
              isStrong ? clock.epochMillis() : from,
              isStrong ? 0 : oracle.amountSince(from - SETTLED.toMillis()))
          .ifPresent(why -> wrong.add(consistency + ": " + why));
    }
    return reads;
  }
}
