package dev.quipu;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One counter by name, with bounds and a deadline for each call. Immutable and thread-safe;
 * creating one is cheap and does not access the store.
 *
 * <p>Each method throws {@link OutcomeUnknownException} if the store gave no definite reply in
 * time, and {@link NotAppliedException} if the call certainly had no effect.
 */
public final class Counter {
  private final Counters counters;
  private final String name;
  private final Bounds bounds;
  private final @Nullable Duration timeout;

  Counter(Counters counters, String name, Bounds bounds, @Nullable Duration timeout) {
    this.counters = counters;
    this.name = Limits.checkText("name", name, Limits.NAME_BYTES_MAX);
    this.bounds = bounds;
    this.timeout = timeout;
  }

  /** Returns the same counter with other bounds, which apply to each of its adds. */
  public Counter withBounds(Bounds other) {
    return new Counter(counters, name, other, timeout);
  }

  /**
   * Returns the same counter with a deadline for each call. If no reply arrives within {@code
   * limit}, the call throws an {@link OutcomeUnknownException}. Without a deadline, the time limit
   * of the store or of the engine applies (10 s by default); a longer deadline does not extend it.
   *
   * @param limit 1 ms or more
   */
  public Counter withTimeout(Duration limit) {
    return new Counter(counters, name, bounds, TimeLimit.check(limit));
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
    return within(() -> counters.add(new Add(name, delta, bounds, id)));
  }

  /**
   * Adds {@code delta} without a request id. If the outcome is unknown, it stays unknown.
   *
   * @param delta not zero
   */
  @CheckReturnValue
  public AddResult add(long delta) {
    return within(() -> counters.add(new Add(name, delta, bounds, null)));
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
