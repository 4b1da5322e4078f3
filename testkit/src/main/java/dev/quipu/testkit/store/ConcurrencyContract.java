package dev.quipu.testkit.store;

import static dev.quipu.testkit.store.StoreFixture.applied;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.store.Condition;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.testkit.ConcurrentClients;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The contract of concurrent calls. */
interface ConcurrencyContract extends StoreFixture {
  @Test
  default void noAddIsLostAmongManyWriters() throws Exception {
    List<List<Long>> values =
        ConcurrentClients.run(
            8,
            client -> {
              List<Long> returned = new ArrayList<>();
              for (int i = 0; i < 50; i++) {
                returned.add(
                    applied(add("hot", 1, Condition.always())).after().orElseThrow().number(N));
              }
              return returned;
            });
    assertEquals(400, item("hot").number(N));
    HashSet<Long> distinct = new HashSet<>();
    values.forEach(distinct::addAll);
    assertEquals(400, distinct.size());
  }

  @Test
  default void aBoundHoldsAmongManyWriters() throws Exception {
    List<Integer> taken =
        ConcurrentClients.run(
            8,
            client -> {
              int done = 0;
              for (int i = 0; i < 20; i++) {
                Condition within = new Condition.Within(N, -50, 0);
                done += add("stock", -1, within) instanceof WriteResult.Applied ? 1 : 0;
              }
              return done;
            });
    assertEquals(50, taken.stream().mapToInt(Integer::intValue).sum());
    assertEquals(-50, item("stock").number(N));
  }

  @Test
  default void addsOfDifferentSignsAndBoundsAddUp() throws Exception {
    List<Long> sums =
        ConcurrentClients.run(
            8,
            client -> {
              long sum = 0;
              for (int i = 0; i < 30; i++) {
                long delta = (client + i) % 2 == 0 ? 3 : -2;
                Condition condition =
                    i % 3 == 0 ? Condition.always() : new Condition.Within(N, -10, 10);
                sum += add("mixed", delta, condition) instanceof WriteResult.Applied ? delta : 0;
              }
              return sum;
            });
    assertEquals(sums.stream().mapToLong(Long::longValue).sum(), item("mixed").number(N));
  }

  @Test
  default void oneOfManyWritersCreatesAnItem() throws Exception {
    for (int round = 0; round < 5; round++) {
      String sort = "new" + round;
      List<Boolean> made =
          ConcurrentClients.run(
              8,
              client -> put(sort, client, new Condition.Absent()) instanceof WriteResult.Applied);
      assertEquals(1, made.stream().filter(each -> each).count());
      assertEquals(made.indexOf(true), item(sort).number(N));
    }
  }

  @Test
  @Needs(Capability.ATOMIC_BATCH)
  default void batchesOfManyWritersKeepTheirSum() throws Exception {
    List<Integer> moved =
        ConcurrentClients.run(
            8,
            client -> {
              int done = 0;
              for (int i = 0; i < 40; i++) {
                List<Write> batch =
                    List.of(
                        new Write.Update(
                            StoreFixture.key("account" + (client + i) % 4),
                            List.of(new Change.Add(N, -1)),
                            new Condition.Within(N, -20, 20)),
                        new Write.Update(
                            StoreFixture.key("account" + (client + i + 1) % 4),
                            List.of(new Change.Add(N, 1)),
                            new Condition.Within(N, -20, 20)));
                done += store().writeAll(batch, null) instanceof WriteResult.Applied ? 1 : 0;
                assertEquals(0, sumOfAccounts());
              }
              return done;
            });
    assertTrue(moved.stream().mapToInt(Integer::intValue).sum() > 0);
  }

  /** Returns the sum at one moment: a partially visible batch would show. */
  private long sumOfAccounts() {
    return store()
        .getAll(Stream.of(0, 1, 2, 3).map(i -> StoreFixture.key("account" + i)).toList())
        .stream()
        .mapToLong(found -> found.map(item -> item.number(N)).orElse(0L))
        .sum();
  }
}
