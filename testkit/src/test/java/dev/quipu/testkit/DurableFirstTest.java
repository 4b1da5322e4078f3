package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.display.CacheFirst;
import dev.quipu.display.DisplayReading;
import dev.quipu.display.DurableFirst;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.Fault;
import dev.quipu.simulation.driver.FaultingDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.simulation.time.VirtualTime;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Cache-aside counters: what is shown, how old it is, and how rarely the durable counter is read.
 */
final class DurableFirstTest {
  private static final Duration AGE = Duration.ofSeconds(5);
  private static final Optional<RequestId> NO_ID = Optional.empty();

  private final ManualClock clock = new ManualClock(1_000_000);
  private final LosingDriver memory = new LosingDriver();
  private final Asked durable = new Asked(new MarkerItem(new Store(new MemoryDriver(), clock)));
  private final DurableFirst views =
      new DurableFirst(new Store(memory, clock).operations(), durable, clock, AGE);

  /** Counts its reads. */
  private static final class Asked implements Technique {
    private final Technique counters;
    int reads;

    Asked(Technique counters) {
      this.counters = counters;
    }

    @Override
    public TechniqueSpec spec() {
      return counters.spec();
    }

    @Override
    public AddResult add(Add add) {
      return counters.add(add);
    }

    @Override
    public Optional<Reading> read(String counter) {
      reads++;
      return counters.read(counter);
    }

    @Override
    public CounterPage list(String prefix, String after, int limit) {
      return counters.list(prefix, after, limit);
    }
  }

  private long shown() {
    return views.read("page").orElseThrow().value();
  }

  @Test
  void theShownNumberIsExactAndOfLimitedAge() {
    views.view("page", NO_ID);
    assertEquals(
        new DisplayReading(1, 1, 1, Instant.ofEpochMilli(1_000_000)),
        views.read("page").orElseThrow());
    views.view("page", NO_ID);
    clock.advance(AGE.minusMillis(1));
    assertEquals(1, shown(), "it is still young enough");
    assertEquals(1, durable.reads);
    clock.advance(Duration.ofMillis(1));
    assertEquals(2, shown());
    assertEquals(2, durable.reads);
  }

  @Test
  void aCounterThatWasNeverWrittenIsRememberedToo() {
    assertEquals(Optional.empty(), views.read("page"));
    assertEquals(Optional.empty(), views.read("page"));
    assertEquals(1, durable.reads);
    views.view("page", NO_ID);
    clock.advance(AGE);
    assertEquals(1, shown());
  }

  @Test
  void aViewCountsOnceUnderItsId() {
    Optional<RequestId> id = Optional.of(RequestId.of("view-1"));
    views.view("page", id);
    views.view("page", id);
    assertEquals(1, shown());
  }

  @Test
  void aLostCacheLosesNothingAndNothingInventedIsShown() {
    views.view("page", NO_ID);
    assertEquals(1, shown());
    views.view("page", NO_ID);
    memory.lose();
    assertEquals(2, shown());
  }

  @Test
  void anUnreachableCacheIsNotNeeded() {
    FaultingDriver away =
        new FaultingDriver(
            new MemoryDriver(), Randomness.seeded(1), 1, List.of(Fault.THROTTLED), () -> {});
    RetryPolicy once =
        new RetryPolicy(1, Duration.ofNanos(1), Duration.ofNanos(2), Duration.ofDays(1));
    DurableFirst through =
        new DurableFirst(
            new Store(away, clock, Randomness.seeded(1), once).operations(), durable, clock, AGE);
    through.view("page", NO_ID);
    assertEquals(1, through.read("page").orElseThrow().value());
  }

  @Test
  void ofManyReadersOneRebuilds() throws Exception {
    VirtualTime time = new VirtualTime();
    FaultingDriver slow =
        new FaultingDriver(
            new MemoryDriver(), Randomness.seeded(1), 0, () -> time.sleep(Duration.ofMillis(1)));
    FaultingDriver slower =
        new FaultingDriver(
            new MemoryDriver(), Randomness.seeded(1), 0, () -> time.sleep(Duration.ofMillis(100)));
    Asked asked = new Asked(new MarkerItem(new Store(slower, time)));
    asked.add(new Add("page", 7, null));
    List<Runnable> readers = new ArrayList<>();
    List<Long> shown = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      DurableFirst process =
          new DurableFirst(
              new Store(slow, time).operations(), asked, time, AGE, Randomness.seeded(i));
      readers.add(() -> {
        for (int round = 0; round < 3; round++) {
          shown.add(process.read("page").orElseThrow().value());
          time.sleep(AGE);
        }
      });
    }
    time.run(readers);
    assertEquals(64 * 3, shown.stream().filter(value -> value == 7).count());
    assertTrue(
        asked.reads <= 4, "64 readers asked the durable counter %d times".formatted(asked.reads));
  }

  @Test
  void invalidOptionsAreRejectedImmediately() {
    Store store = new Store(new MemoryDriver(), clock);
    assertThrows(
        IllegalArgumentException.class,
        () -> new DurableFirst(store.operations(), durable, clock, Duration.ZERO));
    assertThrows(
        IllegalArgumentException.class,
        () -> new DurableFirst(store.operations(), durable, clock, Duration.ofHours(2)));
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class,
            () -> new CacheFirst(store.operations(), store, new AtomicAdd(store), 10));
    assertTrue(String.valueOf(e.getMessage()).contains("marker-item"), e.getMessage());
    for (long max : List.of(0L, CacheFirst.UNFLUSHED_MAX + 1)) {
      assertThrows(
          IllegalArgumentException.class,
          () -> new CacheFirst(store.operations(), store, durable, max));
    }
    CacheFirst cacheFirst = new CacheFirst(store.operations(), store, durable, 10);
    assertThrows(
        UnsupportedOperationException.class,
        () -> cacheFirst.view("page", Optional.of(RequestId.of("x"))));
    assertThrows(IllegalArgumentException.class, () -> cacheFirst.view("", NO_ID));
    assertThrows(IllegalArgumentException.class, () -> cacheFirst.read("a\nb"));
    assertThrows(IllegalArgumentException.class, () -> views.read(""));
    QuipuException reused =
        assertThrows(
            QuipuException.class,
            () -> {
              durable.add(new Add("page", 5, RequestId.of("other")));
              views.view("page", Optional.of(RequestId.of("other")));
            });
    assertEquals(Reason.INVALID, reused.reason());
  }
}
