package dev.quipu.technique;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.Guarantee;
import dev.quipu.Reading;
import dev.quipu.layer.Store;
import dev.quipu.store.Atomicity;
import dev.quipu.store.Capability;
import dev.quipu.time.Randomness;
import java.util.Optional;
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
public final class Optimistic implements Split.Splittable {
  /** What it needs, promises and costs. */
  public static final TechniqueSpec SPEC =
      new TechniqueSpec(
          "optimistic",
          "Read, compute, write if unchanged; a lost reply is resolved unless others wrote since.",
          "looked up: resolved unless others wrote since, and then unknown",
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

  private final OptimisticRounds rounds;
  private final CounterItems items;

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
    this.rounds = new OptimisticRounds(store, random, 1);
    this.items = new CounterItems(store);
  }

  @Override
  public TechniqueSpec spec() {
    return SPEC;
  }

  @Override
  public AddResult add(Add add, Split split) {
    if (add.id() != null) {
      throw Techniques.keepsNoIds(technique());
    }
    if (split.isWhole()) {
      items.enlist(add.counter());
    }
    return rounds.add(add, split);
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
