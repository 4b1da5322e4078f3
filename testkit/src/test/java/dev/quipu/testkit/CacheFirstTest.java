package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.display.CacheFirst;
import dev.quipu.display.DisplayReading;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.Fault;
import dev.quipu.simulation.driver.FaultingDriver;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.simulation.time.VirtualTime;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Write-behind counters: what is shown, flushed, lost and reported. */
@SuppressWarnings("CheckReturnValue") // adds that prepare the test
final class CacheFirstTest {
  private static final Optional<RequestId> NO_ID = Optional.empty();
  private static final int MAX = 10;

  private final VirtualTime time = new VirtualTime();
  private final LosingDriver memory = new LosingDriver();
  private final Store cache = new Store(memory, time);
  private final Store durable = new Store(new MemoryDriver(), time);
  private final Technique counters = new MarkerItem(durable);
  private final CacheFirst views = process();

  private CacheFirst process() {
    return new CacheFirst(cache.operations(), durable, counters, MAX);
  }

  private long view() {
    return views.view("page", NO_ID).orElseThrow();
  }

  private long durably() {
    return counters.read("page").orElseThrow().value();
  }

  private DisplayReading read() {
    return views.read("page").orElseThrow();
  }

  private static DisplayReading reading(long value, long low, long high) {
    return new DisplayReading(value, low, high, Instant.EPOCH);
  }

  @Test
  void aViewIsShownAtOnceAndIsDurableAfterTheWriteBack() {
    counters.add(new Add("page", 100, null));
    assertEquals(101, view());
    assertEquals(102, view());
    assertEquals(reading(102, 100, 102), read());
    assertEquals(100, durably());
    views.writeBack();
    assertEquals(102, durably());
    assertEquals(reading(102, 102, 102), read());
    views.writeBack();
    process().writeBack();
    assertEquals(102, durably(), "what was flushed is not flushed again");
    assertEquals(OptionalLong.of(103), process().view("page", NO_ID));
  }

  @Test
  void aPageWithoutViewsShowsTheDurableCounter() {
    assertEquals(Optional.empty(), views.read("page"));
    counters.add(new Add("page", 3, null));
    assertEquals(reading(3, 3, 3), read());
  }

  @Test
  void aLossTakesAtMostUnflushedViewsAndIsReported() {
    for (int i = 0; i < 5; i++) {
      view();
    }
    views.writeBack();
    view();
    memory.lose();
    assertEquals(reading(5, 5, 5 + MAX), read(), "6 views: one is lost");
    assertEquals(6, view());
    memory.lose();
    assertEquals(6, process().view("page", NO_ID).orElseThrow());
    assertEquals(5 + 1 + 2 * MAX, read().high());
  }

  @Test
  void aViewBeyondTheLimitIsFlushedBeforeItIsAnswered() {
    for (int i = 1; i <= 5 * MAX; i++) {
      assertEquals(i, view());
      long held = counters.read("page").map(is -> is.value()).orElse(0L);
      assertTrue(i - held < MAX, i + " views, durable are " + held);
    }
  }

  @Test
  void aViewBeforeAnythingCouldBeginIsNotCounted() {
    FaultingDriver faulting =
        new FaultingDriver(
            new MemoryDriver(), Randomness.seeded(1), 1, List.of(Fault.LOST_REQUEST), () -> {});
    RetryPolicy once =
        new RetryPolicy(1, Duration.ofNanos(1), Duration.ofNanos(2), Duration.ofDays(1));
    Store away = new Store(faulting, time, Randomness.seeded(1), once);
    CacheFirst lossy = new CacheFirst(cache.operations(), away, new MarkerItem(away), MAX);
    QuipuException first =
        assertThrows(QuipuException.class, () -> lossy.view("page", NO_ID), "nothing can begin");
    assertEquals(Outcome.NOT_APPLIED, first.outcome());
  }

  @Test
  void aViewThatCannotBeFlushedIsUnknownAndCountsOnceWhenItIs() {
    Unwritable unwritable = new Unwritable(counters);
    CacheFirst through = new CacheFirst(cache.operations(), durable, unwritable, MAX);
    for (int i = 1; i < MAX; i++) {
      through.view("page", NO_ID);
    }
    unwritable.isAway = true;
    QuipuException e = assertThrows(QuipuException.class, () -> through.view("page", NO_ID));
    assertEquals(Outcome.UNKNOWN, e.outcome());
    unwritable.isAway = false;
    assertEquals(MAX + 1, through.view("page", NO_ID).orElseThrow());
    assertEquals(MAX, durably(), "what was lost on the way back was applied once");
    through.writeBack();
    assertEquals(MAX + 1, durably());
  }

  /** Applies each add, and loses the replies while it is unreachable. */
  private static final class Unwritable implements Technique {
    private final Technique held;
    boolean isAway;

    Unwritable(Technique held) {
      this.held = held;
    }

    @Override
    public TechniqueSpec spec() {
      return held.spec();
    }

    @Override
    public AddResult add(Add add) {
      AddResult result = held.add(add);
      if (isAway) {
        throw new OutcomeUnknownException(Reason.TIMEOUT, "a reply is lost", null);
      }
      return result;
    }

    @Override
    public Optional<Reading> read(String counter) {
      return held.read(counter);
    }

    @Override
    public CounterPage list(String prefix, String after, int limit) {
      return held.list(prefix, after, limit);
    }
  }

  @Test
  void aProcessThatDiedWhileItFilledTheCacheIsReplacedAfterASecond() {
    time.sleep(Duration.ofSeconds(10));
    long start = time.nanoTime();
    FaultingDriver dies =
        new FaultingDriver(memory, Randomness.seeded(1), 1, List.of(Fault.LOST_REQUEST), () -> {});
    CacheFirst dying = new CacheFirst(new Store(dies, time).operations(), durable, counters, MAX);
    assertThrows(QuipuException.class, () -> dying.view("page", NO_ID));
    assertEquals(1, view());
    long waited = time.nanoTime() - start;
    assertTrue(waited >= 1_000_000_000L && waited < 2_000_000_000L, waited + " ns");
    assertEquals(
        reading(1, 0, 1),
        new DisplayReading(read().value(), read().low(), read().high(), Instant.EPOCH),
        "nothing was lost");
  }

  @Test
  void whileTheCacheIsNotFilledAReaderSeesTheDurableCounter() {
    counters.add(new Add("page", 3, null));
    FaultingDriver dies =
        new FaultingDriver(memory, Randomness.seeded(1), 1, List.of(Fault.LOST_REQUEST), () -> {});
    CacheFirst dying = new CacheFirst(new Store(dies, time).operations(), durable, counters, MAX);
    assertThrows(QuipuException.class, () -> dying.view("page", NO_ID));
    assertEquals(reading(3, 3, 3), read());
  }

  @Test
  void theDurableStoreNeedsOrder() {
    Set<Capability> less = EnumSet.copyOf(durable.profile().capabilities());
    less.remove(Capability.ORDERED_SCAN);
    Store without = new Store(new LimitedDriver(new MemoryDriver(), less), time);
    assertThrows(
        IllegalArgumentException.class,
        () -> new CacheFirst(cache.operations(), without, counters, MAX));
  }

  @Test
  void flushedViewsDoNotCountTowardsTheLimit() {
    for (int i = 1; i < MAX; i++) {
      view();
    }
    views.writeBack();
    view();
    assertEquals(MAX - 1, durably());
  }

  /** Returns the cache key of the number. */
  private String cacheKey() {
    List<String> tokens = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      Scan all = Scan.all("display/" + Integer.toHexString(i));
      durable.scanAll(all, page -> page.forEach(item -> item.text("token").ifPresent(tokens::add)));
    }
    assertEquals(1, tokens.size());
    return "display:" + tokens.getFirst();
  }

  /** Otherwise the view that raises the number to what was flushed would never be flushed. */
  @Test
  void aNumberThatWasBelowWhatIsFlushedIsLost() {
    for (int i = 0; i < 5; i++) {
      view();
    }
    views.writeBack();
    cache.operations().set(cacheKey(), "4", Optional.empty());
    assertEquals(6, view());
    assertEquals(reading(6, 5, 6 + MAX), read());
    views.writeBack();
    assertEquals(6, durably());
  }

  @Test
  void aViewBeyondTheLimitWhoseCacheIsLostAtOnceIsUnknown() {
    CallScript script = new CallScript();
    Store losing = new Store(script.around(memory), time);
    CacheFirst unlucky = new CacheFirst(losing.operations(), durable, counters, MAX);
    for (int i = 1; i < MAX; i++) {
      unlucky.view("page", NO_ID);
    }
    script.after(CallScript.to("value/"), memory::lose);
    QuipuException e = assertThrows(QuipuException.class, () -> unlucky.view("page", NO_ID));
    assertEquals(Outcome.UNKNOWN, e.outcome());
    assertEquals("counted in a cache that has lost page", e.getMessage());
    assertEquals(0, counters.read("page").map(Reading::value).orElse(0L));
  }

  @Test
  void aCachedTextThatIsNotANumberIsNotWrittenBack() {
    view();
    cache.operations().set(cacheKey(), "one", Optional.empty());
    QuipuException e = assertThrows(QuipuException.class, views::writeBack);
    assertEquals(Reason.CORRUPT, e.reason());
    assertEquals("malformed number in the cache for page", e.getMessage());
  }

  @Test
  void aWriteBackThatFailsForOneCounterIsDoneForTheOthersAndFails() {
    Unwritable unwritable = new Unwritable(counters);
    CacheFirst through = new CacheFirst(cache.operations(), durable, unwritable, MAX);
    List<String> names = List.of("AaAa", "BBBB", "AaBB"); // of one hash code
    names.forEach(name -> through.view(name, NO_ID));
    unwritable.isAway = true;
    QuipuException e = assertThrows(QuipuException.class, through::writeBack);
    assertEquals(Outcome.UNKNOWN, e.outcome());
    assertEquals("a reply is lost", e.getMessage());
    unwritable.isAway = false;
    through.writeBack();
    for (String name : names) {
      assertEquals(Optional.of(Reading.exact(1)), counters.read(name));
    }
  }

  @Test
  void ofManyProcessesThatMissOneReadsTheDatabase() throws Exception {
    List<Runnable> processes = new ArrayList<>();
    List<Long> shown = new ArrayList<>();
    FaultingDriver slow =
        new FaultingDriver(memory, Randomness.seeded(1), 0, () -> time.sleep(Duration.ofMillis(1)));
    FaultingDriver slowDurable =
        new FaultingDriver(
            new MemoryDriver(), Randomness.seeded(1), 0, () -> time.sleep(Duration.ofMillis(3)));
    Store on = new Store(slowDurable, time);
    Technique counted = new MarkerItem(on);
    counted.add(new Add("page", 1_000, null));
    for (int i = 0; i < 64; i++) {
      CacheFirst process =
          new CacheFirst(
              new Store(slow, time).operations(), on, counted, 1_000, Randomness.seeded(i));
      processes.add(() -> shown.add(process.view("page", NO_ID).orElseThrow()));
    }
    int before = slowDurable.applied();
    time.run(processes);
    assertEquals(64, shown.stream().distinct().count(), "each view was shown its own number");
    assertEquals(1_064, shown.stream().mapToLong(each -> each).max().orElseThrow());
    assertTrue(slowDurable.applied() - before <= 4, slowDurable.applied() - before + " writes");
  }
}
