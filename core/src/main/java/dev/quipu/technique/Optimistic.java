package dev.quipu.technique;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Reading;
import dev.quipu.Refusal;
import dev.quipu.store.Atomicity;
import dev.quipu.store.Capability;
import dev.quipu.store.Condition;
import dev.quipu.store.Consistency;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Outcome;
import dev.quipu.store.Reason;
import dev.quipu.store.Store;
import dev.quipu.store.StoreException;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.random.RandomGenerator;

/*
 * OPTIMISTIC CONCURRENCY
 *
 * Problem. As for atomic add, on a store that cannot add; and a lost reply should more often be
 * resolved.
 *
 * Stored. One item: the number, and a tag, random and new with every write.
 *
 * Protocol.
 *   1. Read the item.
 *   2. Compute the new number; refuse if it is out of bounds.
 *   3. Write number and new tag, on condition that the item is still the one that was read.
 *   4. Condition failed: somebody else wrote; wait a little, go to 1.
 *   5. Unknown outcome: read the item again.
 *      a. The tag is ours: it was applied.
 *      b. The item is the one read in 1: it is not applied yet. Send the very same write again.
 *         Should the lost one arrive after all, only one of the two can meet the condition, and
 *         both mean the same.
 *      c. Neither: others wrote since. Ours may be under theirs or not: UNKNOWN.
 *
 * Why it is right. A write is applied only on the state that it was computed from, so none is lost
 * between two others.
 *
 * Crash table.
 *   | broken off after | stored          | a repeat                       |
 *   | 1, 2             | nothing         | counts once                    |
 *   | 3, reply lost    | the add, or not | 5a, 5b count once; 5c is given |
 *   |                  |                 | up: repeating may count TWICE  |
 *
 * Cost. Two round trips, one read, one write. Every writer that came between costs two more; with
 * many writers on one counter most of the work is thrown away.
 *
 * Source. "Implement resource counters with Amazon DynamoDB", method 2.
 */

/**
 * Read, compute, write if nobody else did: works on every store with a conditional write.
 * Thread-safe.
 */
public final class Optimistic implements Counters {
  /** What it needs, promises and costs. */
  public static final TechniqueSpec SPEC =
      new TechniqueSpec(
          "optimistic",
          "Read, compute, write if unchanged; a lost reply is resolved unless others wrote since.",
          Set.of(Capability.STRONG_READ),
          Atomicity.ITEM,
          Set.of(
              Guarantee.AT_MOST_ONCE,
              Guarantee.BOUNDED,
              Guarantee.ADD_AND_GET,
              Guarantee.LINEARIZABLE_READ),
          new Cost(2, 1, 0),
          new Cost(1, 0, 0),
          "Implement resource counters with Amazon DynamoDB, method 2");

  private static final String TAG = "tag";
  private static final int ROUNDS_MAX = 200;
  private static final int RESENDS_MAX = 5;
  private static final Duration PAUSE_MAX = Duration.ofMillis(50);

  private final Store store;
  private final CounterItems items;
  private final RandomGenerator random;

  /**
   * Counts on {@code store}.
   *
   * @throws IllegalArgumentException if the store lacks what {@link #SPEC} needs
   */
  public Optimistic(Store store) {
    this(store, Randomness.secure());
  }

  /** As {@link #Optimistic(Store)}, with the caller's chance. */
  public Optimistic(Store store, RandomGenerator random) {
    SPEC.requireWorksOn(store.profile());
    this.store = store;
    this.items = new CounterItems(store);
    this.random = random;
  }

  @Override
  public TechniqueSpec spec() {
    return SPEC;
  }

  @Override
  public AddResult add(Add add) {
    if (add.id() != null) {
      throw keepsNoIds();
    }
    items.enlist(add.counter());
    Key key = CounterItems.valueKey(add.counter());
    for (int round = 0; round < ROUNDS_MAX; round++) {
      Optional<Item> found = store.get(key, Consistency.STRONG);
      long value = found.map(item -> item.number(CounterItems.VALUE)).orElse(0L);
      Refusal why = Refusal.of(value, add.delta(), add.bounds());
      if (why != null) {
        return new AddResult.Refused(why, value);
      }
      long after = value + add.delta();
      if (put(key, found, after)) {
        return new AddResult.Applied(add.delta(), OptionalLong.of(after));
      }
      pause(round);
    }
    throw StoreException.notApplied(
        Reason.THROTTLED,
        "%d writers came first to counter %s".formatted(ROUNDS_MAX, add.counter()));
  }

  /** Steps 3 to 5: whether the number was stored; false if another writer came first. */
  private boolean put(Key key, Optional<Item> found, long after) {
    String tag = Long.toHexString(random.nextLong());
    Condition unchanged =
        found
            .<Condition>map(item -> new Condition.VersionIs(item.version()))
            .orElse(new Condition.Absent());
    Map<String, Field> fields =
        Map.of(CounterItems.VALUE, new Field.Number(after), TAG, new Field.Text(tag));
    Write write = new Write.Put(key, fields, Optional.empty(), unchanged);
    for (int sent = 1; ; sent++) {
      StoreException lost;
      try {
        boolean applied = store.write(write) instanceof WriteResult.Applied;
        if (applied || sent == 1) {
          return applied;
        }
        lost = StoreException.unknown(Reason.UNAVAILABLE, "a reply was lost", null);
      } catch (StoreException e) {
        if (e.outcome() == Outcome.NOT_APPLIED && sent == 1) {
          throw e;
        }
        lost = e;
      }
      Optional<Item> now = readBack(key, lost);
      if (now.flatMap(item -> item.text(TAG)).equals(Optional.of(tag))) {
        return true;
      }
      boolean same = now.map(Item::version).equals(found.map(Item::version));
      if (!same || sent == RESENDS_MAX) {
        throw StoreException.unknown(
            Reason.UNAVAILABLE, "a reply was lost, and others wrote since", lost);
      }
    }
  }

  private Optional<Item> readBack(Key key, StoreException lost) {
    try {
      return store.get(key, Consistency.STRONG);
    } catch (StoreException e) {
      lost.addSuppressed(e);
      throw StoreException.unknown(e.reason(), "a reply was lost, and so was the read back", lost);
    }
  }

  private void pause(int round) {
    long longest = Math.min(PAUSE_MAX.toNanos(), 100_000L << Math.min(round, 20));
    try {
      store.clock().sleep(Duration.ofNanos(random.nextLong(longest + 1)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw StoreException.notApplied(Reason.UNAVAILABLE, "interrupted between two rounds");
    }
  }

  @Override
  public Optional<Reading> read(String counter) {
    return items.read(counter);
  }

  @Override
  public CounterPage list(String prefix, String after, int limit) {
    return items.list(prefix, after, limit);
  }
}
