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
 * OPTIMISTIC CONCURRENCY WITH HISTORY
 *
 * Problem. With many writers, plain optimistic can seldom tell after a lost reply whether it was
 * applied: its tag lies under those of others.
 *
 * Stored. One item: the number, and the tags of its last 100 writers, newest last.
 *
 * Protocol.
 *   1 to 4. As for optimistic; the own tag goes to the end of the tags, and the oldest are dropped.
 *   5. Unknown outcome: read the item again.
 *      a. The own tag is among the tags: it was applied.
 *      b. The item is the one read in 1: send the very same write again.
 *      c. The tag that was newest in 1 is still there, and the own is not: others wrote since,
 *         all of them are there, and ours is not one of them. Its state is gone, so it never will
 *         be: go to 1.
 *      d. That tag is gone too: more than 100 wrote since, and ours may have been dropped with the
 *         rest: UNKNOWN.
 *
 * Why it is right. Tags are added in the order of the writes and dropped from the oldest, so
 * between one that is there and the newest none is missing.
 *
 * Crash table.
 *   | broken off after | stored          | a repeat                            |
 *   | 1, 2             | nothing         | counts once                         |
 *   | 3, reply lost    | the add, or not | 5a to 5c count once; 5d is given up |
 *   A caller that dies takes its tag with it: who repeats for it counts TWICE.
 *
 * Cost. As for optimistic, with up to 1.7 KB more in each read and write.
 *
 * Source. "Implement resource counters with Amazon DynamoDB", method 3.
 */

/**
 * {@link Optimistic} that can tell its own write among the last hundred: it ends unknown only when
 * more came between. Thread-safe.
 */
public final class OptimisticWithHistory implements Split.Splittable {
  /** What it needs, promises and costs. */
  public static final TechniqueSpec SPEC =
      new TechniqueSpec(
          "optimistic-with-history",
          "Optimistic, with the tags of the last writers: a lost reply is nearly always resolved.",
          "looked up: resolved unless 100 others wrote since, and then unknown",
          Set.of(Capability.STRONG_READ),
          Atomicity.ITEM,
          Set.of(
              Guarantee.AT_MOST_ONCE,
              Guarantee.BOUNDED,
              Guarantee.ADD_AND_GET,
              Guarantee.LINEARIZABLE_READ),
          new Cost(2, 1, 0),
          new Cost(1, 0, 0),
          "Implement resource counters with Amazon DynamoDB, method 3");

  /** How many writers are remembered. */
  public static final int WRITERS_MAX = 100;

  private final OptimisticRounds rounds;
  private final CounterItems items;

  /**
   * Counts on {@code store}.
   *
   * @throws IllegalArgumentException if the store lacks what {@link #SPEC} needs
   */
  public OptimisticWithHistory(Store store) {
    this(store, Randomness.secure());
  }

  /** As {@link #OptimisticWithHistory(Store)}, with the caller's chance. */
  public OptimisticWithHistory(Store store, RandomGenerator random) {
    SPEC.requireWorksOn(store.profile());
    this.rounds = new OptimisticRounds(store, random, WRITERS_MAX);
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
