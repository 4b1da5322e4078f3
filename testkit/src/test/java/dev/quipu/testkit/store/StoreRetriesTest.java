package dev.quipu.testkit.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.driver.LimitedDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.MarkerItem;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** The calls that a store retries, and its behavior under contention. */
final class StoreRetriesTest {
  private static final Key KEY = new Key("p", "s");
  private static final Write ADD =
      new Write.Update(KEY, List.of(new Change.Add(Item.VALUE, 1)), Condition.always());

  private final ManualClock clock = new ManualClock(1_000_000);
  private final MemoryDriver memory = new MemoryDriver();

  /** Returns a store whose first calls fail. */
  private Store failing(int calls, QuipuException failure) {
    int[] left = {calls};
    InterceptingDriver driver =
        new InterceptingDriver(
            memory,
            new InterceptingDriver.Interceptor() {
              @Override
              public <T> T call(Supplier<T> call) {
                if (left[0]-- > 0) {
                  throw failure;
                }
                return call.get();
              }
            });
    return new Store(driver, clock);
  }

  @Test
  void aCallIsMadeAgainIfItCertainlyHadNoEffectAndMaySucceed() {
    for (Reason reason : Reason.values()) {
      for (boolean isKnown : new boolean[] {true, false}) {
        QuipuException failure =
            isKnown
                ? new NotAppliedException(reason, "failed")
                : new OutcomeUnknownException(reason, "failed", null);
        Store store = failing(2, failure);
        long start = clock.nanoTime();
        String what = reason + " " + failure.outcome();
        if (isKnown && reason.isTemporary()) {
          assertInstanceOf(WriteResult.Applied.class, store.write(ADD), what);
          assertEquals(new Store.Statistics(3, 2, 0, 2), store.statistics(), what);
          assertTrue(clock.nanoTime() > start, what);
        } else {
          assertSame(failure, assertThrows(QuipuException.class, () -> store.write(ADD)), what);
          long unknowns = isKnown ? 0 : 1;
          assertEquals(new Store.Statistics(1, 0, unknowns, 0), store.statistics(), what);
        }
      }
    }
  }

  @Test
  void aStoreThatStaysAwayIsGivenUpAfterSomeAttempts() {
    QuipuException failure = new NotAppliedException(Reason.UNAVAILABLE, "away");
    Store store = failing(Integer.MAX_VALUE, failure);
    assertSame(failure, assertThrows(QuipuException.class, () -> store.write(ADD)));
    assertEquals(new Store.Statistics(8, 7, 0, 7), store.statistics());
  }

  /**
   * Returns a store without native updates, where another client writes between each read and
   * write.
   */
  private Store crowded(int times) {
    int[] left = {times};
    LimitedDriver limited = new LimitedDriver(memory, Set.of(Capability.STRONG_READ));
    InterceptingDriver driver =
        new InterceptingDriver(
            limited,
            new InterceptingDriver.Interceptor() {
              @Override
              public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
                if (left[0]-- > 0) {
                  memory.write(ADD);
                }
                return call.get();
              }
            });
    return new Store(driver, clock);
  }

  @Test
  void anUpdateThatAnotherCameBetweenIsComputedAgain() {
    assertInstanceOf(WriteResult.Applied.class, crowded(3).write(ADD));
    assertEquals(4, memory.get(KEY, Consistency.STRONG).orElseThrow().number(Item.VALUE));
  }

  @Test
  void anUpdateThatOthersAlwaysComeBetweenIsNotApplied() {
    Store store = crowded(Integer.MAX_VALUE);
    QuipuException why = assertThrows(QuipuException.class, () -> store.write(ADD));
    assertEquals(Outcome.NOT_APPLIED, why.outcome());
    assertEquals(Reason.THROTTLED, why.reason());
    assertEquals(8, memory.get(KEY, Consistency.STRONG).orElseThrow().number(Item.VALUE));
  }

  @Test
  void anUpdateOfAnExpiredItemBeginsAnew() {
    Store store = new Store(new LimitedDriver(memory, Set.of(Capability.STRONG_READ)), clock);
    Instant expiry = store.now().plusMillis(1);
    store.write(
        new Write.Put(
            KEY, Map.of(Item.VALUE, new Field.Number(9)), Optional.of(expiry), Condition.always()));
    clock.advance(Duration.ofMillis(1));
    assertInstanceOf(WriteResult.Applied.class, store.write(ADD));
    assertEquals(1, store.get(KEY, Consistency.STRONG).orElseThrow().number(Item.VALUE));
    Write bounded = ADD.when(new Condition.Within(Item.VALUE, 0, 1));
    assertInstanceOf(WriteResult.ConditionFailed.class, store.write(bounded));
  }

  @Test
  void aDeleteOfAnExpiredItemIsAppliedInABatch() {
    Store store = new Store(memory, clock);
    Instant expiry = store.now().plusMillis(1);
    store.write(new Write.Put(KEY, Map.of(), Optional.of(expiry), Condition.always()));
    Item item = store.get(KEY, Consistency.STRONG).orElseThrow();
    Write delete = new Write.Delete(KEY, new Condition.Absent());
    assertInstanceOf(WriteResult.ConditionFailed.class, store.writeAll(List.of(delete), null));
    clock.advance(Duration.ofMillis(1));
    assertInstanceOf(WriteResult.Applied.class, store.writeAll(List.of(delete), null));
    assertEquals(Optional.empty(), memory.get(item.key(), Consistency.STRONG));
  }

  /** Retries of a request and of its calls share one budget, or they would multiply. */
  @Test
  void aRequestIsNotSentMoreOftenThanThePolicySays() {
    for (int every : new int[] {1, 2, 3, 8}) { // which of the failures is unknown
      int[] failures = {0};
      InterceptingDriver driver =
          new InterceptingDriver(
              memory,
              new InterceptingDriver.Interceptor() {
                @Override
                public <T> T call(Supplier<T> call) {
                  throw ++failures[0] % every == 0
                      ? new OutcomeUnknownException(Reason.TIMEOUT, "lost", null)
                      : new NotAppliedException(Reason.UNAVAILABLE, "away");
                }
              });
      Store store = new Store(driver, clock);
      MarkerItem counters = new MarkerItem(store);
      assertThrows(QuipuException.class, () -> counters.add(new Add("a", 1, RequestId.random())));
      assertTrue(store.statistics().calls() <= 9, every + ": " + store.statistics());
    }
  }

  /** Each time there is another item, which has expired. */
  @Test
  void aWriteThatOthersAlwaysComeBetweenIsGivenUpAfterSomeAttempts() {
    int[] writes = {0};
    InterceptingDriver driver =
        new InterceptingDriver(
            memory,
            new InterceptingDriver.Interceptor() {
              @Override
              public WriteResult write(List<Write> all, Supplier<WriteResult> call) {
                Version version = new Version("v" + ++writes[0]);
                Item expired = new Item(KEY, Map.of(), version, Optional.of(Instant.EPOCH));
                return new WriteResult.ConditionFailed(KEY, Optional.of(expired));
              }
            });
    Store store = new Store(driver, clock);
    Write put = new Write.Put(KEY, Map.of(), Optional.empty(), new Condition.Absent());
    QuipuException e = assertThrows(QuipuException.class, () -> store.write(put));
    assertEquals(Reason.THROTTLED, e.reason());
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertTrue(String.valueOf(e.getMessage()).startsWith("gave up after 8 attempts in "));
    assertEquals(9, writes[0], "the one for the expired item, and eight attempts");
  }

  @Test
  void callsShareTheAttemptsOfTheInnermostWhole() {
    Store store = new Store(memory, clock);
    RetryPolicy.Attempts outer = store.attempts();
    RetryPolicy.Attempts inner = store.attempts();
    store.sharing(
        outer,
        () -> {
          assertSame(outer, store.attempts());
          assertSame(inner, store.sharing(inner, store::attempts));
          assertSame(outer, store.attempts(), "the inner whole has ended");
          assertNotSame(outer, new Store(memory, clock).attempts(), "of another store");
          return KEY;
        });
    assertNotSame(outer, store.attempts());
    assertNotSame(inner, store.attempts());
  }
}
