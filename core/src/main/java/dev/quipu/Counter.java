package dev.quipu;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One counter: a name and bounds over {@link Counters}. Thread-safe; costs nothing to make. */
public final class Counter {
  private final Counters counters;
  private final String name;
  private final Bounds bounds;

  Counter(Counters counters, String name, Bounds bounds) {
    this.counters = counters;
    this.name = Limits.checkText("name", name, Limits.NAME_BYTES_MAX);
    this.bounds = bounds;
  }

  /** Its name. */
  public String name() {
    return name;
  }

  /**
   * Adds {@code delta} once, however often the call is repeated under the same id.
   *
   * @param delta not zero
   * @throws dev.quipu.QuipuException if the outcome is not known; repeat with the same id
   */
  public AddResult add(long delta, RequestId id) {
    return addOnce(delta, id);
  }

  /**
   * Adds {@code delta} without an id. After an exception with an unknown outcome nobody can tell
   * whether it counted.
   *
   * @param delta not zero
   */
  public AddResult add(long delta) {
    return addOnce(delta, null);
  }

  /** The value; empty if it was never written. */
  public Optional<Reading> read() {
    return counters.read(name);
  }

  /** What became of a request. */
  public RequestOutcome outcome(RequestId id) {
    return counters.outcome(name, id);
  }

  /** Makes sure that a request which has not applied never will. */
  public RequestOutcome cancel(RequestId id) {
    return counters.cancel(name, id);
  }

  private AddResult addOnce(long delta, @Nullable RequestId id) {
    return counters.add(new Add(name, delta, bounds, id));
  }
}
