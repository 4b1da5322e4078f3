package dev.quipu;

import java.util.OptionalLong;

/** The definite result of {@link Counters#set}. */
public sealed interface SetResult {
  /**
   * The value was set.
   *
   * @param value the value now
   * @param scale the scale of the counter, in whose units it is
   */
  record Done(long value, int scale) implements SetResult {
    /** Creates the result for an integer. */
    public Done(long value) {
      this(value, 0);
    }
  }

  /**
   * The counter did not have the expected value; nothing changed.
   *
   * @param value the value of the counter; empty if it was never written
   * @param scale the scale of the counter, in whose units it is
   */
  record Mismatch(OptionalLong value, int scale) implements SetResult {
    /** Creates the result for an integer. */
    public Mismatch(OptionalLong value) {
      this(value, 0);
    }
  }

  /**
   * The counter has another scale than the requested one, and a value or remembered request ids,
   * whose meaning must not change; nothing changed.
   *
   * @param scale the scale of the counter
   */
  record OtherScale(int scale) implements SetResult {}
}
