package dev.quipu.transaction;

import dev.quipu.Add;
import dev.quipu.Counters;
import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.TransactionResult.Added;
import dev.quipu.Transactions;
import dev.quipu.layer.Backoff;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.CounterItems;
import dev.quipu.technique.IdempotentRetry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;

/**
 * Transactions over the counters of a technique that keeps each in one item. Thread-safe.
 *
 * <pre>{@code
 * TRANSACTIONS
 *
 * Problem. Several counters are to change together, each within its bounds: a transfer between two
 * accounts, or an amount that counts against the budget of a day, of a month and of a team. If one
 * add is rejected, none may count; and a repeat after a lost reply must not count again.
 *
 * Stored. The numbers of the counters are those of the technique, so adds, transactions and holds
 * combine. Each id has one item, in the partition transaction/ID: a digest of the request, and for
 * each counter its name, what was added, and the value after it. The ids of transactions and of
 * holds are one namespace.
 *
 * Protocol.
 *   1. Read the item of the id and all counters as one snapshot.
 *      a. The item exists, with the same digest: the transaction was applied. Its first result is
 *         returned, as a replay.
 *      b. It has another digest, or is a hold: the result is a conflict.
 *      c. It is a cancellation: the transaction is rejected permanently.
 *   2. If an add would leave its bounds, the transaction is rejected, naming the first such
 *      counter. Nothing is stored, so the same request may be applied later.
 *   3. In one batch, store the item if the id is unused, and add to each counter, on condition that
 *      it still has the value of step 1.
 *   4. If another writer was faster, wait briefly, then go to 1.
 *   5. If the outcome is unknown, go to 1.
 *   To cancel a transaction, store a cancellation, if the id is unused.
 *
 * Why it is correct. The batch applies to exactly the values that were read, so each add keeps its
 * bounds, and the values in the item are those right after the transaction. An id has at most one
 * item, which changes together with the counters, so a transaction is applied at most once.
 *
 * Crash table.
 *   | fault                    | stored             | a repeat                             |
 *   | before 3 is sent         | nothing            | is applied once                      |
 *   | 3, request lost          | nothing            | is applied once                      |
 *   | 3, reply lost            | item and all adds  | 1a: replayed, with the first values  |
 *   | 3, request late          | nothing, then all  | one of the two copies is applied     |
 *   | process dies, any step   | nothing, or all    | by any process: applied once         |
 *   | store restarts           | nothing, or all    | as above, if the store is durable    |
 *   A rejection that follows an unknown outcome is itself unknown, since a late copy may still be
 *   applied. Cancel the transaction to be sure that it never is.
 *
 * Cost. Two round trips: a snapshot of n + 1 items, and a batch of n + 1 writes. Each writer that
 * changes one of the counters in between costs two more round trips: for counters with hundreds of
 * changes per second, use holds, or adds, which do not read first. Each id leaves one item, which
 * is kept as long as the technique keeps request ids.
 *
 * Limits. 64 counters, or one less than the writes of a batch of the store. The store must have
 * batches over all items: Redis Cluster, memcached and SimpleDB have none. Techniques that keep a
 * counter in several items, and shards and regions, are rejected.
 * }</pre>
 */
public final class StoredTransactions implements Transactions {
  private static final int ROUNDS_MAX = 200;

  private final Store store;
  private final CounterItems counters;
  private final RandomGenerator random;
  private final Optional<Duration> keep;

  /**
   * Creates transactions over the counters of a store.
   *
   * @throws UnsupportedOperationException if the store or the technique does not support them,
   *     naming those that do
   */
  public StoredTransactions(Counters counters, Store store, RandomGenerator random) {
    Support.require("transactions", false, counters, store.profile());
    this.store = store;
    this.counters = new CounterItems(store);
    this.random = random;
    this.keep = Support.retention(counters);
  }

  @Override
  public TransactionResult commit(RequestId id, List<Add> adds) {
    Transactions.check(adds);
    requireFits(adds.size());
    adds.forEach(add -> counters.enlist(add.counter()));
    String call = RequestId.random(random).text();
    String content = Part.digest(adds, "transaction");
    return IdempotentRetry.result(
        store,
        "transaction " + id,
        () -> commit(id, adds, content, call),
        result ->
            result instanceof TransactionResult.Rejected rejected
                && rejected.why() != Rejection.CANCELED);
  }

  private void requireFits(int adds) {
    int most = store.profile().batchItemsMax() - 1;
    if (adds > most) {
      throw new IllegalArgumentException(
          "adds has %d entries; store %s allows %d, since a batch has %d items"
              .formatted(adds, store.profile().name(), most, most + 1));
    }
  }

  private TransactionResult commit(RequestId id, List<Add> adds, String content, String call) {
    for (int done = 0; done < ROUNDS_MAX; done++) {
      Optional<TransactionResult> result = round(id, adds, content, call);
      if (result.isPresent()) {
        return result.get();
      }
      Backoff.pause(store.clock(), random, done);
    }
    throw new NotAppliedException(
        Reason.THROTTLED,
        "gave up after %d attempts: contention on the counters of transaction %s"
            .formatted(ROUNDS_MAX, id));
  }

  /** Returns the result; empty if another writer changed a counter first. */
  private Optional<TransactionResult> round(
      RequestId id, List<Add> adds, String content, String call) {
    List<Key> keys = new ArrayList<>();
    keys.add(Stored.key(id));
    adds.forEach(add -> keys.add(CounterItems.valueKey(add.counter())));
    List<Optional<Item>> found = store.getAll(keys);
    if (found.getFirst().isPresent()) {
      return Optional.of(known(Stored.of(id, found.getFirst().get()), content, call));
    }
    List<Part> parts = new ArrayList<>();
    List<Write> batch = new ArrayList<>();
    for (int i = 0; i < adds.size(); i++) {
      Add add = adds.get(i);
      Optional<Item> counter = found.get(i + 1);
      long value = counter.map(item -> item.number(CounterItems.VALUE)).orElse(0L);
      Rejection why = Rejection.of(value, add.delta(), add.bounds());
      if (why != null) {
        return Optional.of(
            new TransactionResult.Rejected(add.counter(), why, OptionalLong.of(value)));
      }
      parts.add(Part.of(add).withResult(value + add.delta()));
      batch.add(
          new Write.Update(
              keys.get(i + 1),
              List.of(new Change.Add(CounterItems.VALUE, add.delta())),
              stillHas(counter, value)));
    }
    Stored.Committed committed = new Stored.Committed(content, call, parts);
    batch.addFirst(committed.put(id, expiry()));
    return switch (store.writeAll(batch, null)) {
      case WriteResult.Applied applied -> Optional.of(applied(committed, false));
      case WriteResult.ConditionFailed failed when failed.key().equals(keys.getFirst()) ->
          Optional.of(known(Stored.of(id, failed.found().orElseThrow()), content, call));
      case WriteResult.ConditionFailed failed -> Optional.empty();
    };
  }

  /** Returns the condition that a counter still has the value that was read. */
  private static Condition stillHas(Optional<Item> counter, long value) {
    boolean hasValue =
        counter.isPresent() && counter.get().fields().containsKey(CounterItems.VALUE);
    return hasValue // its other fields, such as what is held, may change
        ? new Condition.FieldIs(CounterItems.VALUE, new Field.Number(value))
        : Condition.unchanged(counter);
  }

  private static TransactionResult known(Stored stored, String content, String call) {
    return switch (stored) {
      case Stored.Canceled canceled ->
          new TransactionResult.Rejected("", Rejection.CANCELED, OptionalLong.empty());
      case Stored.Committed committed when committed.content().equals(content) ->
          applied(committed, !committed.call().equals(call));
      case Stored.Committed other -> new TransactionResult.Conflict();
      case Stored.Held hold -> new TransactionResult.Conflict();
    };
  }

  private static TransactionResult applied(Stored.Committed committed, boolean isReplayed) {
    return new TransactionResult.Applied(added(committed), isReplayed);
  }

  private static List<Added> added(Stored.Committed committed) {
    return committed.parts().stream()
        .map(part -> new Added(part.counter(), part.delta(), part.result()))
        .toList();
  }

  private Optional<Instant> expiry() {
    return keep.map(time -> store.now().plus(time));
  }

  @Override
  public TransactionOutcome outcome(RequestId id) {
    return store
        .get(Stored.key(id))
        .map(item -> outcome(Stored.of(id, item)))
        .orElse(new TransactionOutcome.NotSeen());
  }

  private static TransactionOutcome outcome(Stored stored) {
    return switch (stored) {
      case Stored.Canceled canceled -> new TransactionOutcome.Canceled();
      case Stored.Committed committed -> new TransactionOutcome.Applied(added(committed));
      case Stored.Held hold -> new TransactionOutcome.Held(hold.reading());
    };
  }

  @Override
  public TransactionOutcome cancel(RequestId id) {
    Stored found =
        IdempotentRetry.result(
            store,
            "cancellation of transaction " + id,
            () ->
                switch (store.write(Stored.Canceled.put(id, expiry()))) {
                  case WriteResult.Applied applied -> new Stored.Canceled();
                  case WriteResult.ConditionFailed failed ->
                      Stored.of(id, failed.found().orElseThrow());
                });
    if (found instanceof Stored.Held) {
      throw new NotAppliedException(
          Reason.CONFLICT,
          "request %s is a hold, which cannot be canceled; if it is open, release it"
              .formatted(id));
    }
    return outcome(found);
  }
}
