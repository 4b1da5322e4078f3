package dev.quipu.hits;

import dev.quipu.store.StoreDriver.Consistency;
import java.time.Duration;

/**
 * How {@link VersionTree} counts. All processes that count on a store must agree on {@code settle}
 * and {@code branchAge}.
 *
 * @param reads what readers ask of the store: strong reads are exact, eventual ones are cheaper and
 *     tell the count as it was a consistency window ago
 * @param settle more than twice of what clocks differ by, a process stands still, a write is late,
 *     and the store's consistency window, together; {@link HitLogOptions#SETTLE_MIN} to {@link
 *     HitLogOptions#SETTLE_MAX}
 * @param branchAge how long a process adds to one branch; {@code settle} later others may fold it;
 *     at least {@code settle}, at most {@link HitLogOptions#SETTLE_MAX}
 * @param items over how many items writers spread: 1 to {@link #ITEMS_MAX}
 * @param trail how many earlier values of a branch stay, to be looked at; 0 to {@link #TRAIL_MAX}
 */
public record VersionTreeOptions(
    Consistency reads, Duration settle, Duration branchAge, int items, int trail) {
  /** Most items of a counter. */
  public static final int ITEMS_MAX = 100;

  /** Most earlier values of a branch. */
  public static final int TRAIL_MAX = 50;

  /** Strong reads, a minute, branches of ten minutes over four items, one earlier value. */
  public static final VersionTreeOptions DEFAULT =
      new VersionTreeOptions(
          Consistency.STRONG, Duration.ofMinutes(1), Duration.ofMinutes(10), 4, 1);

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming what is outside them
   */
  public VersionTreeOptions {
    HitLogOptions.check("settle", settle, HitLogOptions.SETTLE_MIN, HitLogOptions.SETTLE_MAX);
    HitLogOptions.check("branchAge", branchAge, settle, HitLogOptions.SETTLE_MAX);
    check("items", items, 1, ITEMS_MAX);
    check("trail", trail, 0, TRAIL_MAX);
  }

  private static void check(String name, int value, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          "%s is %d, the limits are %d and %d".formatted(name, value, min, max));
    }
  }

  /** The same with reads that may be stale. */
  public VersionTreeOptions reading(Consistency other) {
    return new VersionTreeOptions(other, settle, branchAge, items, trail);
  }

  /** The same with other times. */
  public VersionTreeOptions settling(Duration otherSettle, Duration otherBranchAge) {
    return new VersionTreeOptions(reads, otherSettle, otherBranchAge, items, trail);
  }

  /** The same over so many items. */
  public VersionTreeOptions over(int others) {
    return new VersionTreeOptions(reads, settle, branchAge, others, trail);
  }

  /** The same with so many earlier values of a branch. */
  public VersionTreeOptions trailing(int other) {
    return new VersionTreeOptions(reads, settle, branchAge, items, other);
  }
}
