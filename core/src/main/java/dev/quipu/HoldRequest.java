package dev.quipu;

import java.time.Duration;
import java.util.List;

/**
 * A request to place a hold.
 *
 * @param id the id of the hold, in the namespace of {@link Transactions}
 * @param adds what it reserves: 1 to {@link Transactions#COUNTERS_MAX}, each to another counter,
 *     without ids of their own
 * @param ttl after which time it expires, unless it is settled, released or extended; {@link
 *     #TTL_MIN} to {@link #TTL_MAX}, in whole milliseconds
 * @param late what a settlement after the expiry does
 * @param excess whether a settlement may exceed what was reserved
 */
public record HoldRequest(RequestId id, List<Add> adds, Duration ttl, Late late, Excess excess) {
  /** Shortest time to live of a hold. */
  public static final Duration TTL_MIN = Duration.ofSeconds(1);

  /** Longest time to live of a hold. */
  public static final Duration TTL_MAX = Duration.ofDays(366);

  /** What a settlement after the expiry does. */
  public enum Late {
    /** It is rejected: {@link HoldResult.Closed}. */
    REJECT,
    /**
     * It is applied within the bounds of the hold, like an add, to the counters that have these
     * names then, and marked as late. The engine rejects it if one of them does not exist, or was
     * removed while the hold was open.
     */
    APPLY
  }

  /** Whether a settlement may exceed what was reserved. */
  public enum Excess {
    /** It is rejected: {@link HoldResult.Exceeded}. */
    REJECT,
    /** The excess is added within the bounds of the hold. */
    ALLOW
  }

  /**
   * Creates a request.
   *
   * @throws IllegalArgumentException naming the field that is outside its limits
   */
  public HoldRequest {
    adds = List.copyOf(Transactions.check(adds));
    checkTtl(ttl);
  }

  /** Creates a request that rejects late and excessive settlements. */
  public HoldRequest(RequestId id, List<Add> adds, Duration ttl) {
    this(id, adds, ttl, Late.REJECT, Excess.REJECT);
  }

  /**
   * Checks a time to live.
   *
   * @return {@code ttl}
   * @throws IllegalArgumentException if it is outside its limits
   */
  public static Duration checkTtl(Duration ttl) {
    if (ttl.compareTo(TTL_MIN) < 0 || ttl.compareTo(TTL_MAX) > 0) {
      throw new IllegalArgumentException(
          "ttl is %s; it must be from %s to %s"
              .formatted(Limits.text(ttl), Limits.text(TTL_MIN), Limits.text(TTL_MAX)));
    }
    if (ttl.toNanosPart() % 1_000_000 != 0) {
      throw new IllegalArgumentException("ttl is %s; it must be whole milliseconds".formatted(ttl));
    }
    return ttl;
  }
}
