package dev.quipu.hits;

import dev.quipu.store.StoreDriver.Consistency;
import java.time.Duration;

/**
 * The options of {@link VersionTree}. All processes that use the technique on one store must have
 * the same {@code settle} and {@code branchAge}.
 *
 * @param reads consistency of reads: strong reads are exact, eventual ones are cheaper and return
 *     the count as it was a consistency window ago
 * @param settle more than twice the sum of the clock difference, the longest pause of a process,
 *     the delay of a write, and the store's consistency window; {@link HitLogOptions#SETTLE_MIN} to
 *     {@link HitLogOptions#SETTLE_MAX}
 * @param branchAge how long a process adds to one branch; {@code settle} later it may be folded; at
 *     least {@code settle}, at most {@link HitLogOptions#SETTLE_MAX}
 * @param items number of items over which writers are spread: 1 to {@link #ITEMS_MAX}
 * @param trail number of earlier values of a branch that are kept for inspection; 0 to {@link
 *     #TRAIL_MAX}
 */
public record VersionTreeOptions(
    Consistency reads, Duration settle, Duration branchAge, int items, int trail) {
  /** Maximum number of items of a counter. */
  public static final int ITEMS_MAX = 100;

  /** Maximum number of earlier values of a branch that are kept. */
  public static final int TRAIL_MAX = 50;

  /** Maximum number of values of a counter that can be adopted from another client. */
  public static final int ADOPTED_MAX = 250;

  /** Strong reads, a minute, branches of ten minutes over four items, one earlier value. */
  public static final VersionTreeOptions DEFAULT =
      new VersionTreeOptions(
          Consistency.STRONG, Duration.ofMinutes(1), Duration.ofMinutes(10), 4, 1);

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the value that is outside its limits
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
          "%s is %d; it must be from %d to %d".formatted(name, value, min, max));
    }
  }

  /** Returns these options with another consistency of reads. */
  public VersionTreeOptions reading(Consistency other) {
    return new VersionTreeOptions(other, settle, branchAge, items, trail);
  }

  /** Returns these options with other times. */
  public VersionTreeOptions settling(Duration otherSettle, Duration otherBranchAge) {
    return new VersionTreeOptions(reads, otherSettle, otherBranchAge, items, trail);
  }

  /** Returns these options with another number of items. */
  public VersionTreeOptions over(int others) {
    return new VersionTreeOptions(reads, settle, branchAge, others, trail);
  }

  /** Returns these options with another trail. */
  public VersionTreeOptions trailing(int other) {
    return new VersionTreeOptions(reads, settle, branchAge, items, other);
  }
}
