package dev.quipu.memory;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Version;
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
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store in the memory of this process: the reference implementation of the driver contract,
 * suitable for tests and for counts that may be lost. One lock, one sorted map.
 *
 * <p>Not durable. Expired items stay until overwritten or removed. Batch tokens are kept until the
 * driver is closed.
 */
public final class MemoryDriver implements BatchDriver, ScanDriver {
  private static final StoreProfile PROFILE =
      new StoreProfile(
          "memory",
          EnumSet.of(
              Capability.STRONG_READ,
              Capability.NATIVE_ADD,
              Capability.NATIVE_UPDATE,
              Capability.ATOMIC_BATCH,
              Capability.BATCH_RETURNS,
              Capability.TOKEN_BATCH,
              Capability.ORDERED_SCAN),
          Atomicity.STORE,
          100,
          1 << 20);

  private final ReentrantLock lock = new ReentrantLock();
  private final ItemTable items = new ItemTable();
  private final Map<RequestToken, List<Write>> tokens = new HashMap<>();
  private long versions;

  /** Creates an empty store. */
  public MemoryDriver() {}

  @Override
  public StoreProfile profile() {
    return PROFILE;
  }

  @Override
  public int removeExpired(Instant before, int itemsMax) {
    lock.lock();
    try {
      int removed = 0;
      for (Item item : items.next(null, Integer.MAX_VALUE)) {
        if (removed < itemsMax && item.isExpired(before)) {
          items.set(item.key(), Optional.empty());
          removed++;
        }
      }
      return removed;
    } finally {
      lock.unlock();
    }
  }

  /** Returns {@link Instant#MIN}: nothing is lost while this process runs. */
  @Override
  public Instant intactSince() {
    return Instant.MIN;
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return locked(() -> items.get(key));
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    return locked(() -> keys.stream().map(items::get).toList());
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    lock.lock();
    try {
      if (token != null && tokens.containsKey(token)) {
        if (writes.equals(tokens.get(token))) {
          return new WriteResult.Applied(Optional.empty());
        }
        throw new NotAppliedException(
            Reason.INVALID, "token " + token.text() + " was already used for a different batch");
      }
      List<Optional<Item>> after = new ArrayList<>(writes.size());
      for (Write write : writes) {
        Optional<Item> before = items.get(write.key());
        switch (write.applyTo(before, nextVersion())) {
          case Write.Effect.Unmet unmet -> {
            return new WriteResult.ConditionFailed(write.key(), before);
          }
          case Write.Effect.Now now -> after.add(now.item());
        }
      }
      for (int i = 0; i < writes.size(); i++) {
        items.set(writes.get(i).key(), after.get(i));
      }
      if (token != null) {
        tokens.put(token, List.copyOf(writes));
      }
      return new WriteResult.Applied(after.getLast());
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Page scan(Scan scan) {
    return locked(() -> items.page(scan));
  }

  @Override
  public List<String> partitions(String prefix, String after, int namesMax) {
    return locked(() -> items.partitions(prefix, after, namesMax));
  }

  @Override
  public void close() {}

  private <T> T locked(Supplier<T> call) {
    lock.lock();
    try {
      return call.get();
    } finally {
      lock.unlock();
    }
  }

  private Version nextVersion() {
    return new Version(Long.toString(++versions, Character.MAX_RADIX));
  }
}
