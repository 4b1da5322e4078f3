package dev.quipu.testkit.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreDriver.Measure;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.technique.MarkerItem;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What a driver must guarantee that combines concurrent adds to one item: each has its own result,
 * and counts exactly once under its id, also if replies are lost. Verified on the real store,
 * behind a proxy that counts the calls.
 */
public abstract class CombiningContract {
  /** How long the driver under test waits for a reply; {@link #open} must configure it. */
  protected static final Duration TIMEOUT = Duration.ofSeconds(20);

  private static final int THREADS = 64;
  private static final int REQUESTS = 20; // of each thread
  private static final int SHARED_IDS = 40;
  private static final double FAULTS = 0.04;
  private static final String COUNTER = "hot";
  private static final RetryPolicy PATIENT =
      new RetryPolicy(50, Duration.ofMillis(5), Duration.ofMillis(100), Duration.ofMinutes(2));

  private FaultProxy proxy;
  private StoreDriver driver;
  private Store store;

  /** For subclasses. */
  @SuppressWarnings("NullAway.Init") // JUnit calls openThroughProxy before each test
  protected CombiningContract() {}

  /** Returns the port of the real store on 127.0.0.1. */
  protected abstract int storePort();

  /** Returns the protocol of the store. */
  protected abstract Protocol protocol();

  /**
   * Opens an empty store through another port, as a user would, except for {@link #TIMEOUT}. Called
   * once in each test.
   */
  protected abstract StoreDriver open(int port) throws Exception;

  @BeforeEach
  final void openThroughProxy() throws Exception {
    proxy = FaultProxy.start(protocol(), storePort(), TIMEOUT, write -> 1);
    driver = open(proxy.port());
    store = new Store(driver, Clock.system(), Randomness.secure(), PATIENT);
    new MarkerItem(store).add(new Add(COUNTER, 1, RequestId.of("first"))); // connections exist
  }

  @AfterEach
  final void close() throws Exception {
    if (driver != null) { // null if the test was skipped before
      driver.close();
      proxy.close();
    }
  }

  private interface Caller {
    void run(int thread) throws Exception;
  }

  private static void together(Caller caller) throws Exception {
    CountDownLatch start = new CountDownLatch(1);
    try (ExecutorService executor = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int thread = i;
        running.add(
            executor.submit(() -> {
              start.await();
              caller.run(thread);
              return null;
            }));
      }
      start.countDown();
      for (Future<?> each : running) {
        each.get();
      }
    }
  }

  private long measure(Measure which) {
    return driver.measures().getOrDefault(which, 0L);
  }

  private long value() {
    return new MarkerItem(store).read(COUNTER).map(Reading::value).orElseThrow();
  }

  private long markers() {
    return ScanDriver.of(driver).count(Scan.all("counter/" + COUNTER)) - 1; // less the number
  }

  /** Amounts differ by id, so that an exact total shows which ids were counted. */
  private static Add add(String id) {
    return new Add(COUNTER, 1 + (id.hashCode() & 0xff), RequestId.of(id));
  }

  @Test
  final void eachRequestCountsOnceThoughRepliesAreLost() throws Exception {
    long seed = Long.getLong("seed", 3);
    System.out.println(getClass().getSimpleName() + ": seed " + seed);
    RandomGenerator random = Randomness.seeded(seed);
    List<WireFault> faults = List.of(WireFault.REPLY_DROPPED, WireFault.CONNECTION_RESET);
    AtomicInteger injected = new AtomicInteger();
    proxy.use(request -> {
      if (request.kind() != Protocol.Kind.WRITE) {
        return Optional.empty();
      }
      synchronized (random) {
        if (random.nextDouble() >= FAULTS && injected.get() >= 2) {
          return Optional.empty();
        }
        return Optional.of(faults.get(injected.getAndIncrement() % faults.size()));
      }
    });
    long writesBefore = proxy.ledger().writes();
    long value = value();
    MarkerItem counters = new MarkerItem(store);
    Set<String> ids = ConcurrentHashMap.newKeySet();
    Map<String, Integer> applied = new ConcurrentHashMap<>();
    together(thread -> {
      for (int i = 0; i < REQUESTS; i++) {
        String id = i % 4 == 3 ? "shared-" + (thread + i) % SHARED_IDS : thread + "-request-" + i;
        ids.add(id);
        if (definite(counters, add(id)) instanceof AddResult.Applied) {
          applied.merge(id, 1, Integer::sum);
        }
      }
    });
    proxy.use(FaultPlan.none());
    assertTrue(injected.get() >= 2, "no fault was injected");
    assertEquals(ids.stream().mapToLong(id -> add(id).delta()).sum() + value, value());
    assertEquals(ids.size() + 1, markers());
    applied.forEach((id, times) -> assertEquals(1, times, id));
    long writes = proxy.ledger().writes() - writesBefore;
    int requests = THREADS * REQUESTS;
    System.out.printf(
        "%s: %d requests by %d writes, %d faults%n",
        getClass().getSimpleName(), requests, writes, injected.get());
    assertTrue(writes < requests, () -> writes + " writes");
    assertTrue(measure(Measure.FOLDED_WRITES) < measure(Measure.FOLDED_ADDS), "not combined");
  }

  /** Repeats a request until its outcome is known. */
  private static AddResult definite(MarkerItem counters, Add add) {
    while (true) {
      try {
        AddResult result = counters.add(add);
        assertTrue(
            result instanceof AddResult.Applied || result instanceof AddResult.Replayed,
            result::toString);
        return result;
      } catch (QuipuException e) {
        assertTrue(e.reason().isTemporary(), e::toString);
      }
    }
  }

  /** If a group violates a bound, only the members are rejected that do not fit. */
  @Test
  final void aStockIsSoldExactlyOnce() throws Exception {
    int stock = THREADS + THREADS / 2;
    MarkerItem counters = new MarkerItem(store);
    counters.add(new Add(COUNTER, stock - value(), RequestId.of("delivery")));
    AtomicInteger sold = new AtomicInteger();
    AtomicInteger rejected = new AtomicInteger();
    together(thread -> {
      for (int i = 0; i < 3; i++) {
        RequestId id = RequestId.of("sale-%d-%d".formatted(thread, i));
        switch (counters.add(new Add(COUNTER, -1, Bounds.atLeast(0), id))) {
          case AddResult.Applied applied -> sold.incrementAndGet();
          case AddResult.Rejected none -> rejected.incrementAndGet();
          case AddResult other -> throw new AssertionError(other);
        }
      }
    });
    assertEquals(stock, sold.get());
    assertEquals(3 * THREADS - stock, rejected.get());
    assertEquals(0, value());
    assertEquals(stock + 2, markers());
  }

  /** Values after adds of 1, where the store returns them, are all different. */
  @Test
  final void eachAddReturnsItsOwnValue() throws Exception {
    MarkerItem counters = new MarkerItem(store);
    long before = value();
    Set<Long> values = ConcurrentHashMap.newKeySet();
    together(thread -> {
      for (int i = 0; i < REQUESTS; i++) {
        RequestId id = RequestId.of("one-%d-%d".formatted(thread, i));
        if (counters.add(new Add(COUNTER, 1, id)) instanceof AddResult.Applied applied) {
          applied.valueIfKnown().ifPresent(values::add);
        }
      }
    });
    int adds = THREADS * REQUESTS;
    assertEquals(before + adds, value());
    if (driver.profile().has(Capability.BATCH_RETURNS)) {
      assertEquals(adds, values.size());
      values.forEach(each -> assertTrue(before < each && each <= before + adds, "" + each));
    }
  }

  /** Markers of a group are stored as each of them alone would be. */
  @Test
  final void markersKeepTheirFieldsAndExpiry() throws Exception {
    Duration keep = Duration.ofHours(3);
    MarkerItem counters = new MarkerItem(store, keep);
    Instant begin = store.now();
    together(thread -> counters.add(add("kept-%02d".formatted(thread)), "reason " + thread));
    Instant end = store.now();
    for (int thread = 0; thread < THREADS; thread++) {
      String id = "kept-%02d".formatted(thread);
      assertEquals(Optional.of("reason " + thread), counters.reason(COUNTER, RequestId.of(id)), id);
      Key key = new Key("counter/" + COUNTER, "request/" + RequestId.of(id).bits());
      Item marker = driver.get(key, Consistency.STRONG).orElseThrow();
      Instant expiry = marker.expiresAt().orElseThrow();
      assertTrue(!expiry.isBefore(begin.plus(keep).minusSeconds(1)), expiry::toString);
      assertTrue(!expiry.isAfter(end.plus(keep).plusSeconds(1)), expiry::toString);
    }
    long sum = 0;
    for (int thread = 0; thread < THREADS; thread++) {
      sum += add("kept-%02d".formatted(thread)).delta();
    }
    assertEquals(1 + sum, value());
  }
}
