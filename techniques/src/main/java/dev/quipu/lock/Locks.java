package dev.quipu.lock;

import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.Backoff;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * Leased locks with fencing tokens, one item each. Thread-safe.
 *
 * <pre>{@code
 * LOCKS
 *
 * Problem. Exactly one of many processes should do some work; if it dies, another should take over.
 *
 * Stored. Each lock is one item: the owner, the end of its lease, and the fencing token, a number
 * that grows with every owner. The item is kept while the lock is free, so that the token keeps
 * growing.
 *
 * Protocol.
 *   1. Read the item. If the lock is held and its lease has not ended, the lock is not acquired.
 *   2. Store the owner, the end of the lease and the next fencing token: with add if there is no
 *      item, otherwise with cas. If another writer was faster, the lock is not acquired.
 *   3. If the outcome is unknown, read the item. If the owner is this call, it holds the lock.
 *      Otherwise the lock is not acquired, but the delayed request may still acquire it, for a
 *      lease that nobody uses.
 *   4. Renew or release the lock with cas, if owner and token are unchanged.
 *   5. Write protected data: each protected item stores the highest token that has written to it. A
 *      write uses cas, and is rejected if the item has a higher token.
 *
 * Why it is correct. Every change is conditional on what was read (add or cas), so only one of two
 * contenders gets the lock. Each process judges leases by the clock of its store, or by its own if
 * the store has none: as long as these clocks differ by less than the remainder of a lease, two
 * processes never hold the lock at the same time. A holder that was paused for longer than that
 * wrongly believes that it still holds the lock; but the next holder has a higher token, and from
 * its first write on, the writes of the paused holder are rejected.
 *
 * Limits. Until the next holder has written, writes of the paused holder are still accepted. A
 * store that evicts items (memcached, when it is full) releases the lock early; the token then
 * restarts from the current time in milliseconds since 1970, which is higher than the earlier
 * tokens unless the lock changed hands more often than once per millisecond.
 *
 * Crash table.
 *   | crash after step | stored      | then                          |
 *   | 1                | nothing     | the lock is free              |
 *   | 2                | a lease     | the lock is free when it ends |
 *   | 4                | a free lock | the lock is free              |
 *
 * Cost. To acquire, renew or release a lock takes two round trips, one of which is a write; each
 * protected write takes two round trips as well.
 *
 * Source. "Atomic operations and counters in memcached", locks; fencing: M. Kleppmann, "How to do
 * distributed locking", 2016.
 * }</pre>
 */
public final class Locks {
  /** Longest lease. */
  public static final Duration LEASE_MAX = Duration.ofDays(1);

  private static final String OWNER = "owner";
  private static final String FENCE = "fence";
  private static final String UNTIL = "until";
  private static final String LOCK = "lock";
  private static final String NOBODY = "nobody";
  private static final int ROUNDS_MAX = 100;

  private final Store store;
  private final RandomGenerator random;

  /**
   * A lock that is held.
   *
   * @param owner the unique id of this holder
   * @param fence the fencing token, higher than that of every earlier holder
   * @param until the end of the lease, by the store's clock, or by the caller's if the store has
   *     none
   */
  public record Lease(String name, String owner, long fence, Instant until) {}

  /** Creates locks in a store. */
  public Locks(Store store) {
    this(store, Randomness.secure());
  }

  /** Creates locks in a store, with the given source of randomness. */
  public Locks(Store store, RandomGenerator random) {
    this.store = store;
    this.random = random;
  }

  /**
   * Acquires a lock, if it is free.
   *
   * @param name 1 to {@link Limits#NAME_BYTES_MAX} bytes of UTF-8
   * @param lease how long it is held unless renewed; above 0, at most {@link #LEASE_MAX}
   * @return empty if another holder has it
   * @throws QuipuException if the store did not respond
   */
  public Optional<Lease> acquire(String name, Duration lease) {
    Key key = key(name);
    Instant until = end(lease);
    Optional<Item> found = store.get(key);
    if (found.isPresent() && isHeld(found.get())) {
      return Optional.empty();
    }
    long last = found.map(item -> item.number(FENCE)).orElse(0L);
    // The time keeps the token above that of a lock that the store has evicted.
    long fence = Math.max(last + 1, store.clock().epochMillis());
    Lease wanted = new Lease(name, RequestId.random(random).text(), fence, until);
    return put(key, wanted, wanted.owner, found) ? Optional.of(wanted) : Optional.empty();
  }

  /**
   * Renews the lease of a lock.
   *
   * @return empty if the lock is no longer held: its lease ended, and another holder had it
   */
  public Optional<Lease> renew(Lease held, Duration lease) {
    Key key = key(held.name);
    Instant until = end(lease);
    Optional<Item> found = store.get(key).filter(item -> isOf(held, item));
    Lease renewed = new Lease(held.name, held.owner, held.fence, until);
    boolean done = found.isPresent() && put(key, renewed, held.owner, found);
    return done ? Optional.of(renewed) : Optional.empty();
  }

  /**
   * Releases a lock; returns false if it was no longer held. Never releases the lock of another
   * holder.
   */
  public boolean release(Lease held) {
    Key key = key(held.name);
    Optional<Item> found = store.get(key).filter(item -> isOf(held, item));
    Lease free = new Lease(held.name, NOBODY, held.fence, Instant.EPOCH);
    return found.isPresent() && put(key, free, NOBODY, found);
  }

  /**
   * Changes an item that a lock protects, unless a later holder has written to it.
   *
   * @param changes of other fields than {@code fence}
   * @return false if a later holder has written to the item: this lease has ended
   * @throws QuipuException if the outcome is unknown
   */
  public boolean write(Lease held, Key item, List<Change> changes) {
    List<Change> all = new ArrayList<>(changes);
    all.add(new Change.Put(FENCE, new Field.Number(held.fence)));
    for (int round = 0; round < ROUNDS_MAX; round++) {
      Optional<Item> found = store.get(item);
      if (found.map(each -> each.number(FENCE)).orElse(Long.MIN_VALUE) > held.fence) {
        return false;
      }
      if (store.write(new Write.Update(item, all, Condition.unchanged(found)))
          instanceof WriteResult.Applied) {
        return true;
      }
      Backoff.pause(store.clock(), random, round);
    }
    throw new NotAppliedException(
        Reason.THROTTLED,
        "gave up after %d attempts: contention on a protected item".formatted(ROUNDS_MAX));
  }

  private boolean put(Key key, Lease lease, String owner, Optional<Item> found) {
    Map<String, Field> fields = new HashMap<>();
    fields.put(OWNER, new Field.Text(owner));
    fields.put(FENCE, new Field.Number(lease.fence));
    fields.put(UNTIL, new Field.Number(lease.until.toEpochMilli()));
    Write write = new Write.Put(key, fields, Condition.unchanged(found));
    try {
      return store.write(write) instanceof WriteResult.Applied;
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.NOT_APPLIED) {
        throw e;
      }
      return isStored(key, fields, e);
    }
  }

  /** Returns whether a write with a lost answer was applied. */
  private boolean isStored(Key key, Map<String, Field> fields, QuipuException lost) {
    try {
      return store.get(key).filter(item -> item.fields().equals(fields)).isPresent();
    } catch (QuipuException e) {
      lost.addSuppressed(e);
      throw lost;
    }
  }

  private boolean isHeld(Item item) {
    return item.number(UNTIL) > store.clock().epochMillis();
  }

  private static boolean isOf(Lease held, Item item) {
    return item.text(OWNER).equals(Optional.of(held.owner)) && item.number(FENCE) == held.fence;
  }

  private Instant end(Duration lease) {
    if (lease.isNegative() || lease.isZero() || lease.compareTo(LEASE_MAX) > 0) {
      throw new IllegalArgumentException(
          "lease is %s; it must be positive and at most %s"
              .formatted(Limits.text(lease), Limits.text(LEASE_MAX)));
    }
    return store.now().plus(lease);
  }

  private static Key key(String name) {
    Limits.checkText("name", name, Limits.NAME_BYTES_MAX);
    return new Key("lock/" + name, LOCK);
  }
}
