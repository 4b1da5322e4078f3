package dev.quipu;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Holds: amounts that are reserved first, and settled or released later. A hold takes effect at
 * once: the values of its counters include it. Use {@link Quipu#hold}; this is what the engine and
 * the stores implement.
 *
 * <p>An open hold whose time to live has ended is released exactly once. Each call is idempotent: a
 * repeat has the result of the first, with {@link HoldResult.Done#isReplayed}. Closed holds are
 * remembered as long as request ids. A counter with open holds is not deleted. If the engine
 * removes one nevertheless, because it expires or by a command over Redis or memcached, what holds
 * reserve on it is gone with it. Thread-safe and blocking, with the exceptions of {@link Counters}.
 */
public interface Holds {
  /** Maximum number of holds in one page of a listing. */
  int PAGE_HOLDS_MAX = 1_000;

  /**
   * Places a hold: reserves all amounts within their bounds, or none.
   *
   * @return {@link HoldResult.Done}, whose hold may have ended since if it is replayed; {@link
   *     HoldResult.Rejected} or {@link HoldResult.Conflict}
   */
  @CheckReturnValue
  HoldResult place(HoldRequest request);

  /**
   * Keeps what was used, and returns the rest. A settlement of an expired hold follows its {@link
   * HoldRequest.Late}, one of more than was reserved its {@link HoldRequest.Excess}.
   *
   * @throws IllegalArgumentException if the settlement does not fit the counters of the hold
   */
  @CheckReturnValue
  HoldResult settle(RequestId id, Settlement settlement);

  /** Returns everything that the hold reserved. */
  @CheckReturnValue
  HoldResult release(RequestId id);

  /**
   * Sets the expiry of an open hold to this time from now, by the time of the store. A repeat sets
   * it again.
   *
   * @param ttl as in {@link HoldRequest}
   */
  @CheckReturnValue
  HoldResult extend(RequestId id, Duration ttl);

  /** Returns a hold; empty if none with this id is known. */
  Optional<HoldReading> find(RequestId id);

  /**
   * Returns the open holds on a counter, ordered by the 128 bits of their ids.
   *
   * @param after only holds after this id; null for all
   * @param limit 1 to {@link #PAGE_HOLDS_MAX}
   */
  List<HoldReading> list(String counter, @Nullable RequestId after, int limit);

  /** Returns the balance of a counter; empty if it was never written, or was deleted. */
  Optional<Balance> balance(String counter);

  /**
   * The value of a counter and what is held of it, at one moment.
   *
   * @param value the value, which includes open holds
   * @param held the signed sum of open holds
   * @param aboveFloor how much may be taken until the value is at the highest floor of the open
   *     holds; empty if none has one
   * @param belowCeiling how much may be added until the value is at the lowest ceiling of the open
   *     holds; empty if none has one
   * @param scale the scale of the counter, in whose units all are
   */
  record Balance(
      long value, long held, OptionalLong aboveFloor, OptionalLong belowCeiling, int scale) {
    /** Creates the balance of an integer. */
    public Balance(long value, long held, OptionalLong aboveFloor, OptionalLong belowCeiling) {
      this(value, held, aboveFloor, belowCeiling, 0);
    }

    /** Returns the same balance of a counter with a scale. */
    public Balance at(int counterScale) {
      return new Balance(value, held, aboveFloor, belowCeiling, counterScale);
    }

    /**
     * Returns the balance of a counter. A distance that exceeds 64 bits is left out.
     *
     * @param floor the highest floor of the open holds; {@link Long#MIN_VALUE} for none
     * @param ceiling their lowest ceiling; {@link Long#MAX_VALUE} for none
     */
    public static Balance of(long value, long held, long floor, long ceiling) {
      return new Balance(
          value,
          held,
          floor == Long.MIN_VALUE ? OptionalLong.empty() : distance(floor, value),
          ceiling == Long.MAX_VALUE ? OptionalLong.empty() : distance(value, ceiling));
    }

    private static OptionalLong distance(long from, long to) {
      long distance = to - from;
      return ((to ^ from) & (to ^ distance)) < 0 ? OptionalLong.empty() : OptionalLong.of(distance);
    }
  }
}
