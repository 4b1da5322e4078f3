package dev.quipu;

import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;

/**
 * A hold as it was at one moment.
 *
 * @param id its id
 * @param state whether it is open, or how it ended
 * @param counters what it reserved, in the order of the request
 * @param expires when it expires, if it is open; otherwise when it would have expired
 * @param isLate whether it was settled after its expiry
 */
public record HoldReading(
    RequestId id, State state, List<Part> counters, Instant expires, boolean isLate) {
  /** Copies the list. */
  public HoldReading {
    counters = List.copyOf(counters);
  }

  /** Whether a hold is open, or how it ended. */
  public enum State {
    /** The amounts are reserved. */
    OPEN,
    /** What was used was kept, and the rest returned. */
    SETTLED,
    /** Everything was returned. */
    RELEASED,
    /** Everything was returned when its time to live ended. */
    EXPIRED
  }

  /**
   * What a hold reserved on one counter.
   *
   * @param counter the name of the counter
   * @param delta what was added when the hold was placed
   * @param settled what was kept; empty unless the hold is settled
   * @param scale the scale of the counter when the hold was placed, in whose units both are
   */
  public record Part(String counter, long delta, OptionalLong settled, int scale) {
    /** Creates a part on an integer. */
    public Part(String counter, long delta, OptionalLong settled) {
      this(counter, delta, settled, 0);
    }

    /** Returns an amount of this part, such as its delta, as a decimal text. */
    public String text(long amount) {
      return Decimal.text(amount, scale);
    }
  }
}
