package dev.quipu.shard;

import dev.quipu.Bounds;
import dev.quipu.Guarantee;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.technique.AddPart;
import dev.quipu.technique.ItemCollection;
import dev.quipu.technique.Technique;
import dev.quipu.technique.Techniques;

/**
 * How {@link Sharded} divides its counters.
 *
 * @param shards how many shards a counter has from its first add on, 1 to {@link #SHARDS_MAX}
 * @param shardsMax how many it may grow to while it is written, {@code shards} to {@link
 *     #SHARDS_MAX}
 * @param bounds what the sum of all shards must stay within; they include 0
 * @param choice which shard takes an add that has no id
 * @param hotAddsPerSecond more adds a second to one shard, seen by one process, and the counter
 *     gets twice as many shards; at least 1
 */
public record ShardOptions(
    int shards, int shardsMax, Bounds bounds, Choice choice, long hotAddsPerSecond) {
  /** Most shards of a counter: all of them, and their plan, fit into one batch of any store. */
  public static final int SHARDS_MAX = 64;

  /** Half of what one partition of DynamoDB writes in a second: a transaction costs two. */
  public static final long HOT_ADDS_PER_SECOND = 500;

  /** Which shard takes an add that has no id; one with an id always goes to the same. */
  public enum Choice {
    /** Any. */
    RANDOM,
    /** Of any two, the one with fewer adds under way from this process. */
    LEAST_LOADED
  }

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the one that is broken
   */
  public ShardOptions {
    if (shards < 1 || shards > shardsMax || shardsMax > SHARDS_MAX) {
      throw new IllegalArgumentException(
          "shards are %d to %d, the limits are 1 and %d".formatted(shards, shardsMax, SHARDS_MAX));
    }
    if (bounds.floor() > 0 || bounds.ceiling() < 0) {
      throw new IllegalArgumentException(
          "bounds of a sharded counter include 0, where it starts; they are %d to %d"
              .formatted(bounds.floor(), bounds.ceiling()));
    }
    if (hotAddsPerSecond < 1) {
      throw new IllegalArgumentException(
          "hotAddsPerSecond is %d, the least is 1".formatted(hotAddsPerSecond));
    }
  }

  /** Always so many shards, without bounds: works on every store. */
  public static ShardOptions fixed(int shards) {
    return growing(shards, shards);
  }

  /** So many shards, and more where a counter is hot. */
  public static ShardOptions growing(int shards, int shardsMax) {
    return new ShardOptions(shards, shardsMax, Bounds.none(), Choice.RANDOM, HOT_ADDS_PER_SECOND);
  }

  /** The same, within bounds over all shards. */
  public ShardOptions within(Bounds others) {
    return new ShardOptions(shards, shardsMax, others, choice, hotAddsPerSecond);
  }

  /** The same, with another choice. */
  public ShardOptions choosing(Choice other) {
    return new ShardOptions(shards, shardsMax, bounds, other, hotAddsPerSecond);
  }

  /** The same, growing at another heat. */
  public ShardOptions hotAt(long addsPerSecond) {
    return new ShardOptions(shards, shardsMax, bounds, choice, addsPerSecond);
  }

  boolean grows() {
    return shardsMax > shards;
  }

  /** Whether shards must act together, which needs batches over the whole store. */
  public boolean actTogether() {
    return grows() || !bounds.isNone();
  }

  /**
   * Passes if a technique on a store can be divided so.
   *
   * @throws IllegalArgumentException if it cannot
   */
  void requireWorks(StoreProfile profile, Technique below) {
    if (below instanceof ItemCollection) {
      throw new IllegalArgumentException(
          "item-collection has no item that is hot: it needs no shards");
    }
    if (!actTogether()) {
      return;
    }
    if (!(below instanceof AddPart.Shardable splittable)) {
      throw new IllegalArgumentException(
          "%s cannot be split, so its shards have neither bounds nor growth; these can: %s"
              .formatted(
                  below.spec().name(),
                  "atomic-add, optimistic, optimistic-with-history, marker-item, token-set"));
    }
    if (grows() && below.spec().remembersIds() && !splittable.keepsIdsApart()) {
      throw new IllegalArgumentException(
          "%s keeps request ids with the number, so its shards cannot grow: use marker-item, or"
                  .formatted(below.spec().name())
              + " ShardOptions.fixed");
    }
    if (!bounds().isNone() && !below.spec().promises(Guarantee.BOUNDED)) {
      throw Techniques.keepsNoBounds(below.spec());
    }
    boolean works = profile.has(Capability.ATOMIC_BATCH);
    if (!works || profile.atomicity() != Atomicity.STORE) {
      throw new IllegalArgumentException(
          "shards with bounds or growth need batches over all items, which store %s lacks; without"
                  .formatted(profile.name())
              + " them, ShardOptions.fixed works");
    }
    if (shardsMax() + 2 > profile.batchItemsMax()) {
      throw new IllegalArgumentException(
          "store %s takes %d items a batch, which is too few for %d shards"
              .formatted(profile.name(), profile.batchItemsMax(), shardsMax()));
    }
  }
}
