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
import dev.quipu.store.StoreDriver.Consistency;
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

/*
 * LOCKS
 *
 * Problem. Of many processes one should do something; and if it dies, another should.
 *
 * Stored. One item a lock: who holds it, until when, and a number that grows with every holder, the
 * fence. It stays when the lock is free, so that the fence goes on.
 *
 * Protocol.
 *   1. Read the item. It is held, and the lease has not run out: no.
 *   2. Store owner, end and the next fence: by add if there is no item, else by cas. Somebody was
 *      faster: no.
 *   3. Unknown outcome: read the item. The owner is this call: it holds the lock. Else: no, but a
 *      late request may still take it, for a lease that nobody uses.
 *   4. To renew or release: by cas, if owner and fence are still the own.
 *   5. To write what the lock protects: each protected item keeps the highest fence that wrote to
 *      it. A write is by cas, and rejected if a higher fence was there.
 *
 * Why it is right. Every change is a cas on what was read, so of two that want a lock one gets it.
 * Its lease runs by the clock of whoever looks: while clocks differ by less than what is left of a
 * lease, two never hold it at once. A holder that was paused for longer believes wrongly that it
 * still does; but the next has a higher fence, and from its first write on the paused one's writes
 * are rejected.
 *
 * What it does not promise. A holder that has not written yet does not stop a paused one's write
 * before its own. A store that drops items (memcached, when it is full) lets the lock go early; the
 * fence then starts again from the time of the day in milliseconds, which is above those before
 * unless the lock changed hands more often than once a millisecond.
 *
 * Crash table.
 *   | broken off after | stored        | then                              |
 *   | 1                | nothing       | the lock is free                  |
 *   | 2                | a lease       | the lock is free when it runs out |
 *   | 4                | a free lock   | the lock is free                  |
 *
 * Cost. Two round trips, one write, to take it; one write to give it back; two round trips for each
 * protected write.
 *
 * Source. "Atomic operations and counters in memcached", locks; fencing: M. Kleppmann, "How to do
 * distributed locking", 2016.
 */

/** Leased locks with a fence, one item each. Thread-safe. */
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
   * @param owner tells this holder from all others
   * @param fence higher than that of every holder before
   * @param until when it ends, by the clock of the store's user
   */
  public record Lease(String name, String owner, long fence, Instant until) {}

  /** Locks in a store. */
  public Locks(Store store) {
    this(store, Randomness.secure());
  }

  /** As {@link #Locks(Store)}, with the caller's chance. */
  public Locks(Store store, RandomGenerator random) {
    this.store = store;
    this.random = random;
  }

  /**
   * Takes a lock, if it is free.
   *
   * @param name 1 to {@link Limits#NAME_BYTES_MAX} bytes of UTF-8
   * @param lease how long it is held, if it is not renewed; above 0, at most {@link #LEASE_MAX}
   * @return empty if another holds it
   * @throws QuipuException if the store did not answer
   */
  public Optional<Lease> acquire(String name, Duration lease) {
    Key key = key(name);
    Instant until = end(lease);
    Optional<Item> found = store.get(key, Consistency.STRONG);
    if (found.isPresent() && isHeld(found.get())) {
      return Optional.empty();
    }
    long last = found.map(item -> item.number(FENCE)).orElse(0L);
    // The time keeps the fence above that of a lock which the store has dropped.
    long fence = Math.max(last + 1, store.clock().epochMillis());
    Lease wanted = new Lease(name, RequestId.random(random).text(), fence, until);
    return put(key, wanted, wanted.owner, found) ? Optional.of(wanted) : Optional.empty();
  }

  /**
   * Holds a lock for longer.
   *
   * @return empty if it is no longer held: it ran out, and another had it
   */
  public Optional<Lease> renew(Lease held, Duration lease) {
    Key key = key(held.name);
    Instant until = end(lease);
    Optional<Item> found = store.get(key, Consistency.STRONG).filter(item -> isOf(held, item));
    Lease renewed = new Lease(held.name, held.owner, held.fence, until);
    boolean done = found.isPresent() && put(key, renewed, held.owner, found);
    return done ? Optional.of(renewed) : Optional.empty();
  }

  /** Gives a lock back; false if it was no longer held. Another's lock is never released. */
  public boolean release(Lease held) {
    Key key = key(held.name);
    Optional<Item> found = store.get(key, Consistency.STRONG).filter(item -> isOf(held, item));
    Lease free = new Lease(held.name, NOBODY, held.fence, Instant.EPOCH);
    return found.isPresent() && put(key, free, NOBODY, found);
  }

  /**
   * Changes an item that a lock protects, unless a later holder has.
   *
   * @param changes of other fields than {@code fence}
   * @return false if a later holder has written to the item: this one's lease is over
   * @throws QuipuException if the outcome is not known
   */
  public boolean write(Lease held, Key item, List<Change> changes) {
    List<Change> all = new ArrayList<>(changes);
    all.add(new Change.Put(FENCE, new Field.Number(held.fence)));
    for (int round = 0; round < ROUNDS_MAX; round++) {
      Optional<Item> found = store.get(item, Consistency.STRONG);
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
        Reason.THROTTLED, "%d writers came first to a protected item".formatted(ROUNDS_MAX));
  }

  private boolean put(Key key, Lease lease, String owner, Optional<Item> found) {
    Map<String, Field> fields = new HashMap<>();
    fields.put(OWNER, new Field.Text(owner));
    fields.put(FENCE, new Field.Number(lease.fence));
    fields.put(UNTIL, new Field.Number(lease.until.toEpochMilli()));
    Write write = new Write.Put(key, fields, Optional.empty(), Condition.unchanged(found));
    try {
      return store.write(write) instanceof WriteResult.Applied;
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.NOT_APPLIED) {
        throw e;
      }
      return isStored(key, fields, e);
    }
  }

  /** Whether what was lost is there. */
  private boolean isStored(Key key, Map<String, Field> fields, QuipuException lost) {
    try {
      return store
          .get(key, Consistency.STRONG)
          .filter(item -> item.fields().equals(fields))
          .isPresent();
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
          "lease is %s, the limits are above 0 and %s".formatted(lease, LEASE_MAX));
    }
    return store.now().plus(lease);
  }

  private static Key key(String name) {
    Limits.checkText("name", name, Limits.NAME_BYTES_MAX);
    return new Key("lock/" + name, LOCK);
  }
}
