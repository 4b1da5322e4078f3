package dev.quipu.entity;

import dev.quipu.memory.ItemTable;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.store.group.GroupCommit;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Items in memory with optimistic transactions: the first to commit wins. */
final class TransactionalDriver implements BatchDriver, ScanDriver {
  private static final StoreProfile PROFILE =
      new StoreProfile(
          "transactional",
          EnumSet.of(
              Capability.STRONG_READ,
              Capability.NATIVE_ADD,
              Capability.NATIVE_UPDATE,
              Capability.ATOMIC_BATCH,
              Capability.BATCH_RETURNS,
              Capability.ORDERED_SCAN),
          Atomicity.STORE,
          25,
          100_000);

  private static final Duration WAIT_MAX = Duration.ofMinutes(1);

  /** Numbers of transactions that were begun, committed and closed; and of the next conflicts. */
  int begun;

  int committed;
  int closed;
  int contended;

  private final ItemTable items = new ItemTable();
  final Transactions transactions;
  private final GroupCommit groups;

  TransactionalDriver(Clock clock, RandomGenerator random) {
    transactions = new Transactions(this::begin, clock, random);
    groups = new GroupCommit("table", transactions, 1, PROFILE.batchItemsMax() - 1, WAIT_MAX);
  }

  private synchronized Transactions.Transaction begin() {
    begun++;
    return new One();
  }

  /** Its reads must still be current when it commits. */
  private final class One implements Transactions.Transaction {
    private final Map<Key, Optional<Item>> read = new HashMap<>();
    private final Map<Key, Optional<Item>> changed = new HashMap<>();

    @Override
    public List<Optional<Item>> get(List<Key> keys) {
      synchronized (TransactionalDriver.this) {
        return keys.stream().map(key -> read.computeIfAbsent(key, items::get)).toList();
      }
    }

    @Override
    public void put(Item item) {
      changed.put(item.key(), Optional.of(item));
    }

    @Override
    public void delete(Key key) {
      changed.put(key, Optional.empty());
    }

    @Override
    public void commit() {
      synchronized (TransactionalDriver.this) {
        if (contended > 0) {
          contended--;
          throw new Transactions.Contended("another was first", new IllegalStateException());
        }
        read.forEach((key, item) -> {
          if (!items.get(key).equals(item)) {
            throw new Transactions.Contended("another was first", new IllegalStateException());
          }
        });
        changed.forEach(items::set);
        committed++;
      }
    }

    @Override
    public void close() {
      synchronized (TransactionalDriver.this) {
        closed++;
      }
    }
  }

  @Override
  public StoreProfile profile() {
    return PROFILE;
  }

  @Override
  public synchronized Optional<Item> get(Key key, Consistency consistency) {
    return items.get(key);
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    return transactions.getAll(keys);
  }

  @Override
  public WriteResult write(Write write) {
    return groups.write(List.of(write));
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    if (token != null) {
      throw PROFILE.lacks(Capability.TOKEN_BATCH);
    }
    return groups.write(writes);
  }

  @Override
  public synchronized Page scan(Scan scan) {
    return items.page(scan);
  }

  @Override
  public void close() {}
}
