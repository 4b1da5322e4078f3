package dev.quipu;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A hold that was placed. Closing it releases it, unless it was settled or released before, so
 * try-with-resources fits work that costs nothing unless it succeeds. Do not use it for a call that
 * is billed although it failed. Thread-safe.
 *
 * <pre>{@code
 * try (Hold hold =
 *     quipu
 *         .hold(RequestId.of("cart-17"))
 *         .add("seats", -2, Bounds.atLeast(0))
 *         .place(Duration.ofMinutes(10))) {
 *   if (hold.placed().state() == HoldReading.State.OPEN && sell()) { // a repeat may have ended
 *     hold.settle(-2).orElseThrow();
 *   }
 * }
 * }</pre>
 */
public final class Hold implements AutoCloseable {
  private final Holds holds;
  private final HoldReading placed;
  private volatile boolean hasEnded;

  private Hold(Holds holds, HoldReading placed) {
    this.holds = holds;
    this.placed = placed;
  }

  /** Returns the id. */
  public RequestId id() {
    return placed.id();
  }

  /** Returns the hold as it was placed. */
  public HoldReading placed() {
    return placed;
  }

  /**
   * Keeps this delta on each counter, in its units, and returns the rest; see {@link Holds#settle}.
   */
  @CheckReturnValue
  public HoldResult settle(long delta) {
    return settle(Settlement.each(delta));
  }

  /** Keeps this exact decimal on each counter, and returns the rest. */
  @CheckReturnValue
  public HoldResult settle(BigDecimal delta) {
    return settle(Settlement.each(delta));
  }

  /** Keeps what was used, and returns the rest; see {@link Holds#settle}. */
  @CheckReturnValue
  public HoldResult settle(Settlement settlement) {
    return ended(holds.settle(id(), settlement));
  }

  /** Returns everything; see {@link Holds#release}. */
  @CheckReturnValue
  public HoldResult release() {
    return ended(holds.release(id()));
  }

  /** Sets the expiry to this time from now; see {@link Holds#extend}. */
  @CheckReturnValue
  public HoldResult extend(Duration ttl) {
    return holds.extend(id(), ttl);
  }

  private HoldResult ended(HoldResult result) {
    hasEnded |= result instanceof HoldResult.Done || result instanceof HoldResult.Closed;
    return result;
  }

  /**
   * Releases the hold, unless it has ended.
   *
   * @throws OutcomeUnknownException if the outcome is unknown; the hold then ends at its expiry, at
   *     the latest
   */
  @Override
  public void close() {
    if (!hasEnded) {
      var unused = release();
    }
  }

  /** A hold that is being composed. Not thread-safe. */
  public static final class Builder {
    private final Holds holds;
    private final RequestId id;
    private final List<Add> adds = new ArrayList<>();
    private HoldRequest.Late late = HoldRequest.Late.REJECT;
    private HoldRequest.Excess excess = HoldRequest.Excess.REJECT;

    Builder(Holds holds, RequestId id) {
      this.holds = holds;
      this.id = id;
    }

    /**
     * Reserves on a counter, in its units.
     *
     * @param delta not zero
     */
    public Builder add(String counter, long delta, Bounds bounds) {
      adds.add(new Add(counter, delta, bounds, null));
      return this;
    }

    /**
     * Reserves an exact decimal on a counter.
     *
     * @param delta not zero
     * @param floor smallest value allowed after a decrement; null for none
     * @param ceiling largest value allowed after an increment; null for none
     * @throws IllegalArgumentException if an amount does not fit into 64 bits
     */
    public Builder add(
        String counter,
        BigDecimal delta,
        @Nullable BigDecimal floor,
        @Nullable BigDecimal ceiling) {
      adds.add(Add.of(counter, delta, floor, ceiling));
      return this;
    }

    /** Sets what a settlement after the expiry does; rejected by default. */
    public Builder late(HoldRequest.Late policy) {
      late = policy;
      return this;
    }

    /** Sets whether a settlement may exceed what was reserved; rejected by default. */
    public Builder excess(HoldRequest.Excess policy) {
      excess = policy;
      return this;
    }

    /**
     * Places the hold. To handle a rejection without an exception, use {@link Holds#place}.
     *
     * @param ttl as in {@link HoldRequest}
     * @throws NotAppliedException with {@link Reason#REJECTED} if a bound is reached, or with
     *     {@link Reason#CONFLICT} if the id was used for something else
     * @throws OutcomeUnknownException if the outcome is unknown; repeat with the same id
     */
    public Hold place(Duration ttl) {
      HoldRequest request = new HoldRequest(id, adds, ttl, late, excess);
      return new Hold(holds, holds.place(request).orElseThrow().hold());
    }
  }
}
