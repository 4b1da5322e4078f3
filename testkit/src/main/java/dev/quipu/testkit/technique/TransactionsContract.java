package dev.quipu.testkit.technique;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Counters;
import dev.quipu.NotAppliedException;
import dev.quipu.Quipu;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.TransactionResult.Added;
import dev.quipu.Transactions;
import dev.quipu.backend.Backends;
import dev.quipu.layer.Store;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.simulation.driver.FaultingDriver;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.technique.CounterItems;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.technique.TokenSet;
import dev.quipu.testkit.ConcurrentClients;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.time.Randomness;
import dev.quipu.transaction.StoredTransactions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The contract of transactions over several counters, on every store. */
public abstract class TransactionsContract extends EmptyStoreFixture {
  private static final RequestId ID = RequestId.of("transaction-1");
  private static final Bounds NOT_NEGATIVE = Bounds.atLeast(0);
  private static final int ACCOUNTS = 6;
  private static final long EACH = 20;

  /** For subclasses. */
  protected TransactionsContract() {}

  private Transactions open() {
    return open(store);
  }

  private Transactions open(Store on) {
    assumeTrue(
        MarkerItem.SPEC.over(Atomicity.STORE).worksOn(on.profile()),
        () -> on.profile().name() + " has no batches over all items");
    return new StoredTransactions(new MarkerItem(on), on, Randomness.secure());
  }

  static Add add(String counter, long delta, Bounds bounds) {
    return new Add(counter, delta, bounds, null);
  }

  private static List<Add> transfer(String from, String to, long amount) {
    return List.of(add(from, -amount, NOT_NEGATIVE), add(to, amount, Bounds.none()));
  }

  private long value(String counter) {
    return new MarkerItem(store).read(counter).map(Reading::value).orElse(0L);
  }

  private static TransactionResult.Applied applied(TransactionResult result) {
    return assertInstanceOf(TransactionResult.Applied.class, result);
  }

  private static List<Add> singleAdds(int count) {
    return IntStream.range(0, count).mapToObj(i -> add("c" + i, i + 1, Bounds.none())).toList();
  }

  @Test
  final void allAddsAreAppliedAndARepeatReturnsTheFirstAnswer() {
    Transactions transactions = open();
    applied(transactions.commit(RequestId.of("fund"), List.of(add("a", 5, Bounds.none()))));
    TransactionResult.Applied first = applied(transactions.commit(ID, transfer("a", "b", 3)));
    List<Added> expected = List.of(new Added("a", -3, 2), new Added("b", 3, 3));
    assertEquals(new TransactionResult.Applied(expected, false), first);
    applied(transactions.commit(RequestId.of("later"), List.of(add("b", 9, Bounds.none()))));
    assertEquals(
        new TransactionResult.Applied(expected, true),
        transactions.commit(ID, transfer("a", "b", 3)));
    assertEquals(List.of(2L, 12L), List.of(value("a"), value("b")));
    assertEquals(new TransactionOutcome.Applied(expected), transactions.outcome(ID));
    assertEquals(new TransactionOutcome.Applied(expected), transactions.cancel(ID));
  }

  @Test
  final void aRejectionNamesTheFirstCounterAndConsumesNothing() {
    Transactions transactions = open();
    List<Add> adds =
        List.of(
            add("free", 1, Bounds.none()),
            add("empty", -1, NOT_NEGATIVE),
            add("full", 7, Bounds.atMost(6)));
    assertEquals(
        new TransactionResult.Rejected("empty", Rejection.FLOOR, OptionalLong.of(0)),
        transactions.commit(ID, adds));
    assertEquals(0, value("free"));
    assertInstanceOf(TransactionOutcome.NotSeen.class, transactions.outcome(ID));
    applied(
        transactions.commit(
            RequestId.of("fund"),
            List.of(add("empty", 1, Bounds.none()), add("full", -1, Bounds.none()))));
    assertEquals(
        List.of(new Added("free", 1, 1), new Added("empty", -1, 0), new Added("full", 7, 6)),
        applied(transactions.commit(ID, adds)).adds());
    RequestId most = RequestId.of("most");
    applied(transactions.commit(most, List.of(add("large", Long.MAX_VALUE, Bounds.none()))));
    assertEquals(
        new TransactionResult.Rejected(
            "large", Rejection.OVERFLOW, OptionalLong.of(Long.MAX_VALUE)),
        transactions.commit(RequestId.of("more"), transfer("free", "large", 1)));
    assertEquals(1, value("free"));
  }

  @Test
  final void anotherContentUnderTheIdIsAConflict() {
    Transactions transactions = open();
    applied(transactions.commit(ID, singleAdds(2)));
    List<List<Add>> others =
        List.of(
            singleAdds(1),
            singleAdds(3),
            singleAdds(2).reversed(),
            List.of(add("c0", 1, NOT_NEGATIVE), add("c1", 2, Bounds.none())),
            List.of(add("c0", 1, Bounds.none()), add("c1", 3, Bounds.none())));
    for (List<Add> other : others) {
      assertEquals(new TransactionResult.Conflict(), transactions.commit(ID, other));
    }
    assertEquals(List.of(1L, 2L, 0L), List.of(value("c0"), value("c1"), value("c2")));
  }

  @Test
  final void aCanceledTransactionIsNeverApplied() {
    Transactions transactions = open();
    assertInstanceOf(TransactionOutcome.Canceled.class, transactions.cancel(ID));
    assertInstanceOf(TransactionOutcome.Canceled.class, transactions.cancel(ID));
    assertInstanceOf(TransactionOutcome.Canceled.class, transactions.outcome(ID));
    assertEquals(
        new TransactionResult.Rejected("", Rejection.CANCELED, OptionalLong.empty()),
        transactions.commit(ID, singleAdds(2)));
    assertEquals(0, value("c0"));
  }

  @Test
  final void theLargestTransactionFitsAndOneMoreIsRejectedWithTheLimit() {
    Transactions transactions = open();
    int most = Math.min(Transactions.COUNTERS_MAX, store.profile().batchItemsMax() - 1);
    List<Added> added = applied(transactions.commit(ID, singleAdds(most))).adds();
    assertEquals(new Added("c" + (most - 1), most, most), added.getLast());
    assertEquals(added, applied(transactions.commit(ID, singleAdds(most))).adds());
    IllegalArgumentException e =
        assertThrows(
            IllegalArgumentException.class,
            () -> transactions.commit(RequestId.of("larger"), singleAdds(most + 1)));
    assertExplains(Integer.toString(most), e);
    assertThrows(
        IllegalArgumentException.class,
        () ->
            transactions.commit(ID, List.of(add("a", 1, NOT_NEGATIVE), add("a", 1, NOT_NEGATIVE))));
    assertThrows(IllegalArgumentException.class, () -> transactions.commit(ID, List.of()));
  }

  /** Adds by each technique and transactions change the same numbers. */
  @Test
  final void addsAndTransactionsCombine() {
    open();
    for (String name : Techniques.ONE_NUMBER) {
      TechniqueSpec spec = Techniques.named(name);
      if (!spec.worksOn(store.profile())) {
        continue;
      }
      Counters counters = Backends.technique(spec, store, Randomness.secure(), Optional.empty());
      Transactions transactions = new StoredTransactions(counters, store, Randomness.secure());
      String a = name + "/a";
      String b = name + "/b";
      assertTrue(counters.add(add(a, 10, Bounds.none())).isApplied());
      applied(transactions.commit(RequestId.of(name), transfer(a, b, 4)));
      assertTrue(counters.add(add(a, -6, NOT_NEGATIVE)).isApplied());
      assertEquals(0, counters.read(a).orElseThrow().value());
      assertTrue(!counters.add(add(b, -5, NOT_NEGATIVE)).isApplied());
      assertInstanceOf(
          TransactionResult.Rejected.class,
          transactions.commit(RequestId.of(name + "/2"), transfer(a, b, 1)));
      assertEquals(4, counters.read(b).orElseThrow().value());
      counters.delete(a);
      applied(transactions.commit(RequestId.of(name + "/3"), transfer(b, a, 4)));
      assertEquals(4, counters.read(a).orElseThrow().value());
    }
  }

  @Test
  final void whatCannotKeepThemRejectsThemByName() {
    boolean isSupported = MarkerItem.SPEC.over(Atomicity.STORE).worksOn(store.profile());
    if (isSupported) {
      List<Counters> others =
          List.of(
              new Sharded(store, new MarkerItem(store), ShardOptions.fixed(2)),
              new TokenSet(store));
      for (Counters counters : others) {
        UnsupportedOperationException e =
            assertThrows(
                UnsupportedOperationException.class,
                () -> new StoredTransactions(counters, store, Randomness.secure()));
        assertExplains(counters.technique(), e);
      }
    }
    if (!isSupported) {
      try (Quipu quipu = Backends.on(driver)) {
        UnsupportedOperationException e =
            assertThrows(UnsupportedOperationException.class, () -> quipu.transaction(ID));
        assertExplains(store.profile().name(), e);
        assertExplains("PostgreSQL", e);
      }
    }
  }

  /** Under lost requests and replies, with cancellations, and callers that die in a call. */
  @Test
  final void transfersKeepTheSumInEachConsistentRead() throws Exception {
    Transactions calm = open();
    List<Key> keys = new ArrayList<>();
    for (int i = 0; i < ACCOUNTS; i++) {
      applied(
          calm.commit(
              RequestId.of("fund-" + i), List.of(add("account-" + i, EACH, Bounds.none()))));
      keys.add(CounterItems.valueKey("account-" + i));
    }
    FaultingDriver faulty = new FaultingDriver(driver, Randomness.seeded(1), 0.1, () -> {});
    Store lossy = new Store(faulty, clock, Randomness.secure(), ConcurrentClients.RETRIES);
    Transactions transactions = open(lossy);
    AtomicBoolean isOver = new AtomicBoolean();
    List<Integer> counts =
        ConcurrentClients.run(
            5,
            number -> {
              if (number == 4) {
                int reads = 0;
                do {
                  assertEquals(ACCOUNTS * EACH, sum(keys));
                  reads++;
                } while (!isOver.get());
                return reads;
              }
              int applied = transfers(transactions, Randomness.seeded(number), number);
              isOver.set(true);
              return applied;
            });
    faulty.heal();
    assertEquals(ACCOUNTS * EACH, sum(keys));
    assertTrue(counts.get(0) > 0, "no transfer was applied");
    assertTrue(faulty.fired().values().stream().mapToInt(Integer::intValue).sum() > 0);
  }

  private static int transfers(Transactions transactions, RandomGenerator random, int client) {
    int applied = 0;
    for (int i = 0; i < Soak.size(40, 2_000); i++) {
      RequestId id = RequestId.of("transfer-%d-%d".formatted(client, i));
      int from = random.nextInt(ACCOUNTS);
      int to = (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
      List<Add> adds = transfer("account-" + from, "account-" + to, 1 + random.nextInt(9));
      boolean isCanceled = random.nextInt(8) == 0;
      for (int attempt = 0; attempt < 3; attempt++) { // then this caller dies
        try {
          if (transactions.commit(id, adds) instanceof TransactionResult.Applied) {
            applied++;
          }
          break;
        } catch (QuipuException e) {
          if (isCanceled) {
            try {
              transactions.cancel(id);
            } catch (QuipuException unknown) {
              // it was applied, or not: the sum is the same
            }
            break;
          }
        }
      }
    }
    return applied;
  }

  private long sum(List<Key> keys) {
    while (true) {
      try {
        long sum = 0;
        for (Optional<Item> item : store.getAll(keys)) {
          long value = item.orElseThrow().number(CounterItems.VALUE);
          assertTrue(value >= 0, "an account is overdrawn: " + value);
          sum += value;
        }
        return sum;
      } catch (NotAppliedException e) {
        assertTrue(e.reason().isTemporary(), e.toString());
      }
    }
  }
}
