package dev.quipu;

import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Collectors;

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

  /** Names of a description; a hold may have 64 counters. */
  private static final int NAMES_MAX = 4;

  /**
   * Describes for people whether the hold is open, or how it ended: "was settled and kept
   * budget/day=12", for example.
   */
  public String explanation() {
    return switch (state) {
      case OPEN -> "is open";
      case SETTLED -> "was settled and kept " + kept();
      case RELEASED -> "was released";
      case EXPIRED -> "has expired";
    };
  }

  private String kept() {
    return counters.stream()
            .limit(NAMES_MAX)
            .map(part -> part.counter() + "=" + part.text(part.settled().orElse(0)))
            .collect(Collectors.joining(", "))
        + (counters.size() > NAMES_MAX ? ", …" : "");
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
