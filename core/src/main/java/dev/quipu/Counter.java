package dev.quipu;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One counter by name, with bounds and a deadline for each call. Immutable and thread-safe;
 * creating one is cheap and does not access the store.
 *
 * <p>A counter may have a scale, a fixed number of digits after the point. Then a {@code long} is
 * in its units, of which 100 are 1.00 if the scale is 2, and a {@link BigDecimal} is the number
 * itself: its digits after the point must not exceed the scale.
 *
 * <p>Each method throws {@link OutcomeUnknownException} if the store gave no definite reply in
 * time, and {@link NotAppliedException} if the call certainly had no effect.
 */
public final class Counter {
  private final Counters counters;
  private final String name;
  private final Bounds bounds;
  private final @Nullable Decimal floor;
  private final @Nullable Decimal ceiling;
  private final @Nullable Duration timeout;

  Counter(Counters counters, String name, Bounds bounds, @Nullable Duration timeout) {
    this(counters, name, bounds, null, null, timeout);
  }

  private Counter(
      Counters counters,
      String name,
      Bounds bounds,
      @Nullable Decimal floor,
      @Nullable Decimal ceiling,
      @Nullable Duration timeout) {
    this.counters = counters;
    this.name = Limits.checkText("name", name, Limits.NAME_BYTES_MAX);
    this.bounds = bounds;
    this.floor = floor;
    this.ceiling = ceiling;
    this.timeout = timeout;
  }

  /** Returns the same counter with other bounds, in its units, which apply to each of its adds. */
  public Counter withBounds(Bounds other) {
    return new Counter(counters, name, other, timeout);
  }

  /**
   * Returns the same counter with other bounds, which apply to each of its adds of decimals.
   *
   * @param lowest smallest value allowed after a decrement; null for none
   * @param highest largest value allowed after an increment; null for none
   * @throws IllegalArgumentException if {@code lowest} is above {@code highest}
   */
  public Counter withBounds(@Nullable BigDecimal lowest, @Nullable BigDecimal highest) {
    if (lowest != null && highest != null && lowest.compareTo(highest) > 0) {
      throw new IllegalArgumentException("floor %s is above ceiling %s".formatted(lowest, highest));
    }
    return new Counter(
        counters,
        name,
        Bounds.none(),
        lowest == null ? null : Decimal.of("floor", lowest),
        highest == null ? null : Decimal.of("ceiling", highest),
        timeout);
  }

  /**
   * Returns the same counter with a deadline for each call. If no reply arrives within {@code
   * limit}, the call throws an {@link OutcomeUnknownException}. Without a deadline, the time limit
   * of the store or of the engine applies (10 s by default); a longer deadline does not extend it.
   *
   * @param limit 1 ms or more
   */
  public Counter withTimeout(Duration limit) {
    return new Counter(counters, name, bounds, floor, ceiling, TimeLimit.check(limit));
  }

  /** Returns the name of the counter. */
  public String name() {
    return name;
  }

  /** Returns the bounds of each add. */
  public Bounds bounds() {
    return bounds;
  }

  /**
   * Adds {@code delta} exactly once, no matter how often the call is repeated under the same id.
   *
   * @param delta not zero
   * @throws OutcomeUnknownException if the outcome is unknown; repeat with the same id
   * @throws UnsupportedOperationException if the technique does not support request ids or bounds
   */
  @CheckReturnValue
  public AddResult add(long delta, RequestId id) {
    Objects.requireNonNull(id, "id"); // otherwise a repeat would count again
    return within(() -> counters.add(units(delta, id)));
  }

  /**
   * Adds {@code delta} without a request id. If the outcome is unknown, it stays unknown.
   *
   * @param delta not zero
   */
  @CheckReturnValue
  public AddResult add(long delta) {
    return within(() -> counters.add(units(delta, null)));
  }

  private Add units(long delta, @Nullable RequestId id) {
    if (floor != null || ceiling != null) {
      throw new IllegalStateException(
          "the bounds are decimals and the delta is in units; add a BigDecimal");
    }
    return new Add(name, delta, bounds, id);
  }

  /**
   * Adds an exact decimal exactly once, no matter how often the call is repeated under the same id.
   *
   * @param delta not zero
   * @throws IllegalArgumentException if it has more digits after the point than the counter
   * @throws IllegalStateException if the counter has bounds in units; see {@link
   *     #withBounds(BigDecimal, BigDecimal)}
   */
  @CheckReturnValue
  public AddResult add(BigDecimal delta, RequestId id) {
    Objects.requireNonNull(id, "id");
    return within(() -> counters.add(decimal(delta, id)));
  }

  /** Adds an exact decimal without a request id. If the outcome is unknown, it stays unknown. */
  @CheckReturnValue
  public AddResult add(BigDecimal delta) {
    return within(() -> counters.add(decimal(delta, null)));
  }

  private Add decimal(BigDecimal delta, @Nullable RequestId id) {
    if (!bounds.isNone()) {
      throw new IllegalStateException(
          "the bounds are in units and the delta is a decimal; use withBounds(BigDecimal,"
              + " BigDecimal)");
    }
    return Add.of(name, Decimal.of("delta", delta), floor, ceiling, id);
  }

  /** Returns the value; empty if the counter was never written, or was deleted. */
  public Optional<Reading> read() {
    return within(() -> counters.read(name));
  }

  /**
   * Sets the value, regardless of the bounds.
   *
   * @throws UnsupportedOperationException if the technique cannot set a value exactly
   */
  public void set(long value) {
    within(() -> counters.set(name, value, OptionalLong.empty()));
  }

  /**
   * Sets the value if it is {@code ifValue}; a counter that was never written is 0.
   *
   * @throws UnsupportedOperationException if the technique cannot set a value exactly
   */
  @CheckReturnValue
  public SetResult set(long value, long ifValue) {
    return within(() -> counters.set(name, value, OptionalLong.of(ifValue)));
  }

  /**
   * Sets the value to an exact decimal, regardless of the bounds.
   *
   * @throws IllegalArgumentException if it has more digits after the point than the counter
   */
  public void set(BigDecimal value) {
    Decimal exact = Decimal.of("value", value);
    SetRequest request =
        new SetRequest(name, Optional.of(exact), Optional.empty(), OptionalInt.empty());
    within(() -> counters.set(request));
  }

  /**
   * Fixes the number of digits after the point of a counter without a value, which then is 0.
   *
   * @param scale 0 to 18
   * @return {@link SetResult.Done}, also if it had this scale, or {@link SetResult.OtherScale}
   * @throws UnsupportedOperationException if counters have their scale by {@link ScaleRules} only
   */
  @CheckReturnValue
  public SetResult fixScale(int scale) {
    SetRequest request =
        new SetRequest(name, Optional.empty(), Optional.empty(), OptionalInt.of(scale));
    return within(() -> counters.set(request));
  }

  /** Sets the value to 0; see {@link #set(long)}. */
  public void reset() {
    set(0);
  }

  /**
   * Deletes the counter. Its request ids are kept: a repeat of an earlier add stays a replay.
   *
   * @throws UnsupportedOperationException if the technique cannot delete a counter exactly
   */
  public void delete() {
    within(() -> {
      counters.delete(name);
      return Optional.empty();
    });
  }

  /**
   * Returns the outcome of a request.
   *
   * @throws UnsupportedOperationException if the technique does not support request ids
   */
  public RequestOutcome outcome(RequestId id) {
    return within(() -> counters.outcome(name, id));
  }

  /**
   * Cancels a request: if it was not applied so far, it never will be. Safe to repeat.
   *
   * @return {@link RequestOutcome.Applied} or {@link RequestOutcome.Canceled}
   * @throws UnsupportedOperationException if the technique does not support request ids
   */
  public RequestOutcome cancel(RequestId id) {
    return within(() -> counters.cancel(name, id));
  }

  @Override
  public String toString() {
    return name;
  }

  private <T> T within(Supplier<T> call) {
    return timeout == null ? call.get() : TimeLimit.within(timeout, call);
  }
}
