package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.CounterPage;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.ForwardingDriver;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.Technique;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Divided counters on a store that loses what it held, or the answers to what precedes an add. */
final class ShardLossTest {
  private static final ShardOptions ALONE = ShardOptions.fixed(2);
  private static final ShardOptions STOCK = ShardOptions.fixed(4).within(Bounds.between(0, 100));

  private final ManualClock clock = new ManualClock(1_000_000);
  private MemoryDriver memory = new MemoryDriver();

  /** A store that can be emptied under its clients. */
  private final class Emptied extends ForwardingDriver {
    @Override
    protected StoreDriver driver() {
      return memory;
    }
  }

  private Sharded open(StoreDriver driver, ShardOptions options) {
    Store store = new Store(driver, clock);
    return new Sharded(store, new MarkerItem(store), options, Randomness.seeded(1));
  }

  private static void applied(Technique counters, long delta, String id) {
    AddResult result = counters.add(new Add("a", delta, RequestId.of(id)));
    assertInstanceOf(AddResult.Applied.class, result, id);
  }

  private static List<String> names(Technique counters) {
    return counters.list("", "", 10).counters().stream().map(CounterPage.Entry::name).toList();
  }

  @Test
  void shardsThatActTogetherGoOnAfterTheStoreLostItsContent() {
    for (ShardOptions options : List.of(STOCK, ShardOptions.growing(1, 8))) {
      Sharded counters = open(new Emptied(), options);
      Sharded other = open(new Emptied(), options);
      applied(counters, 5, "one");
      applied(other, 6, "two");
      if (options.shardsMax() > options.shards()) {
        counters.grow("a", options.shardsMax());
      }
      memory = new MemoryDriver();
      assertEquals(Optional.empty(), counters.read("a"));
      applied(counters, 7, "three");
      applied(other, 8, "four");
      assertInstanceOf(AddResult.Replayed.class, other.add(new Add("a", 7, RequestId.of("three"))));
      assertEquals(Optional.of(Reading.exact(15)), counters.read("a"));
      assertEquals(Optional.of(Reading.exact(15)), open(new Emptied(), options).read("a"));
      assertEquals(List.of("a"), names(counters));
      memory = new MemoryDriver();
    }
  }

  @Test
  void shardsByThemselvesRestoreAPlanThatTheStoreLost() throws InterruptedException {
    Sharded counters = open(new Emptied(), ALONE);
    applied(counters, 5, "one");
    memory = new MemoryDriver();
    clock.sleep(Duration.ofSeconds(10));
    for (int i = 0; i < 4; i++) {
      applied(counters, 1, "after" + i);
    }
    Sharded fresh = open(new Emptied(), ALONE);
    applied(fresh, 1, "fresh");
    assertEquals(5, fresh.read("a").orElseThrow().value());
    assertEquals(List.of("a"), names(fresh));
  }

  /**
   * Returns a driver that loses the replies to some writes.
   *
   * @param times the number of writes; every other one is applied
   */
  private StoreDriver losing(Predicate<List<Write>> which, int[] times) {
    return new InterceptingDriver(
        memory,
        new InterceptingDriver.Interceptor() {
          @Override
          public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
            if (which.test(writes) && times[0] > 0) {
              times[0]--;
              if (times[0] % 2 == 0 && times[0] < 10) {
                assertNotNull(call.get());
              }
              throw new OutcomeUnknownException(Reason.UNAVAILABLE, "disconnected from db:1", null);
            }
            return call.get();
          }
        });
  }

  private static boolean isPlan(List<Write> writes) {
    return writes.getFirst().key().sort().equals("shards");
  }

  private static boolean isName(List<Write> writes) {
    return writes.getFirst().key().partition().startsWith("counters/");
  }

  @Test
  void anAddWhosePreparationGotNoAnswerIsNotApplied() {
    for (Predicate<List<Write>> what :
        List.<Predicate<List<Write>>>of(ShardLossTest::isPlan, ShardLossTest::isName)) {
      for (ShardOptions options : List.of(STOCK, ALONE)) {
        memory = new MemoryDriver();
        Sharded counters = open(losing(writes -> what.test(writes), new int[] {1_000}), options);
        for (Optional<RequestId> id :
            List.of(Optional.<RequestId>empty(), Optional.of(RequestId.of("id")))) {
          QuipuException e =
              assertThrows(
                  QuipuException.class, () -> counters.add(new Add("seats", 1, id.orElse(null))));
          assertEquals(Outcome.NOT_APPLIED, e.outcome(), e.getMessage());
          assertTrue(e.getMessage().startsWith("counter seats was not changed"), e.getMessage());
          assertTrue(e.getMessage().contains("disconnected from db:1"), e.getMessage());
        }
      }
    }
  }

  @Test
  void lostAnswersToThePreparationAreAskedForAgain() {
    for (Predicate<List<Write>> what :
        List.<Predicate<List<Write>>>of(ShardLossTest::isPlan, ShardLossTest::isName)) {
      for (ShardOptions options : List.of(STOCK, ALONE)) {
        memory = new MemoryDriver();
        Sharded counters = open(losing(what, new int[] {4}), options);
        assertInstanceOf(AddResult.Applied.class, counters.add(new Add("a", 1, null)));
        assertEquals(Optional.of(Reading.exact(1)), counters.read("a"));
      }
    }
  }

  /** The plan that the first attempt was sent by is not that of the second. */
  @Test
  void anAddWithAnIdIsRepeatedByThePlanThatChangedMeanwhile() {
    String bits = RequestId.of("lost").bits();
    for (int lost : new int[] {1, 2}) { // applied, or not
      memory = new MemoryDriver();
      ShardOptions growing = ShardOptions.growing(1, 8);
      Sharded other = open(memory, growing);
      applied(other, 5, "first");
      int[] times = {lost};
      StoreDriver slow =
          new InterceptingDriver(
              losing(writes -> writes.getFirst().key().sort().contains(bits), times),
              new InterceptingDriver.Interceptor() {
                @Override
                public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
                  try {
                    return call.get();
                  } catch (QuipuException e) {
                    other.grow("a", 8);
                    throw e;
                  }
                }
              });
      Sharded counters = open(slow, growing);
      AddResult answer = counters.add(new Add("a", 1, RequestId.of("lost")));
      assertTrue(
          answer instanceof AddResult.Applied || answer instanceof AddResult.Replayed,
          answer::toString);
      assertEquals(0, times[0]);
      assertEquals(Optional.of(Reading.exact(6)), other.read("a"));
    }
  }
}
