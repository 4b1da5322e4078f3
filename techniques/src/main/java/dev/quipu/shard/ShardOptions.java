package dev.quipu.shard;

import dev.quipu.Add;
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
 * The options of {@link Sharded}.
 *
 * @param shards initial shards of a counter, 1 to {@link #SHARDS_MAX}
 * @param shardsMax maximum number of shards to which a counter may grow, {@code shards} to {@link
 *     #SHARDS_MAX}
 * @param bounds the bounds of the sum of all shards; they include 0
 * @param choice which shard takes an add without a request id
 * @param hotAddsPerSecond rate of adds to one shard, as seen by one process, above which the shards
 *     of the counter are doubled; at least 1
 */
public record ShardOptions(
    int shards, int shardsMax, Bounds bounds, Choice choice, long hotAddsPerSecond) {
  /**
   * Maximum number of shards of a counter: all of them and their plan fit into one batch of any
   * store.
   */
  public static final int SHARDS_MAX = 64;

  /** Half of the write rate of one DynamoDB partition: a transaction costs two writes. */
  public static final long HOT_ADDS_PER_SECOND = 500;

  /** Which shard takes an add without a request id; an add with an id always goes to the same. */
  public enum Choice {
    /** A random shard. */
    RANDOM,
    /** The one of two random shards that has fewer adds in flight from this process. */
    LEAST_LOADED
  }

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the value that is outside its limits
   */
  public ShardOptions {
    if (shards < 1 || shards > shardsMax || shardsMax > SHARDS_MAX) {
      throw new IllegalArgumentException(
          "shards are %d to %d; they must be from 1 to %d"
              .formatted(shards, shardsMax, SHARDS_MAX));
    }
    if (bounds.floor() > 0 || bounds.ceiling() < 0) {
      throw new IllegalArgumentException(
          "bounds of a sharded counter must include its initial value 0; they are %d to %d"
              .formatted(bounds.floor(), bounds.ceiling()));
    }
    if (hotAddsPerSecond < 1) {
      throw new IllegalArgumentException(
          "hotAddsPerSecond is %d; the minimum is 1".formatted(hotAddsPerSecond));
    }
  }

  /** Returns options for a fixed number of shards without bounds, which work on every store. */
  public static ShardOptions fixed(int shards) {
    return growing(shards, shards);
  }

  /** Returns options for an initial number of shards that grows where a counter is hot. */
  public static ShardOptions growing(int shards, int shardsMax) {
    return new ShardOptions(shards, shardsMax, Bounds.none(), Choice.RANDOM, HOT_ADDS_PER_SECOND);
  }

  /** Returns these options with bounds over all shards. */
  public ShardOptions within(Bounds others) {
    return new ShardOptions(shards, shardsMax, others, choice, hotAddsPerSecond);
  }

  /** Returns these options with another choice. */
  public ShardOptions choosing(Choice other) {
    return new ShardOptions(shards, shardsMax, bounds, other, hotAddsPerSecond);
  }

  /** Returns these options with another rate above which shards are doubled. */
  public ShardOptions hotAt(long addsPerSecond) {
    return new ShardOptions(shards, shardsMax, bounds, choice, addsPerSecond);
  }

  boolean grows() {
    return shardsMax > shards;
  }

  /** Returns whether shards are coordinated, which needs batches over the whole store. */
  public boolean actTogether() {
    return grows() || !bounds.isNone();
  }

  /**
   * Checks that a technique on a store supports these options.
   *
   * @throws IllegalArgumentException if it does not
   */
  void requireWorks(StoreProfile profile, Technique below) {
    if (below instanceof ItemCollection) {
      throw new IllegalArgumentException("item-collection has no hot item, so it needs no shards");
    }
    if (!actTogether()) {
      return;
    }
    if (!(below instanceof AddPart.Shardable splittable)) {
      throw new IllegalArgumentException(
          "%s cannot split adds, so its shards support neither bounds nor growth; supported by: %s"
              .formatted(
                  below.spec().name(),
                  "atomic-add, optimistic, optimistic-with-history, marker-item, token-set"));
    }
    if (grows() && below.spec().remembersIds() && !splittable.keepsIdsApart()) {
      throw new IllegalArgumentException(
          ("%s stores request ids in the same item as the value, so the number of shards cannot grow:"
                  + " use marker-item, or ShardOptions.fixed")
              .formatted(below.spec().name()));
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

  /** Rejects an add whose bounds differ from these. */
  void checkBounds(Add add) {
    if (!add.bounds().isNone() && !add.bounds().equals(bounds)) {
      throw bounds.isNone()
          ? new UnsupportedOperationException(
              "these shards have no bounds; set them with ShardOptions.within")
          : new UnsupportedOperationException(
              "bounds of these shards are fixed at %d to %d"
                  .formatted(bounds.floor(), bounds.ceiling()));
    }
  }
}
