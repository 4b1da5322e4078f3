package dev.quipu;

import org.jspecify.annotations.Nullable;

/** Why an add was rejected. A rejected add consumes nothing. */
public enum Rejection {
  /** It would have gone below the floor. Not remembered: the same id may succeed later. */
  FLOOR,
  /** It would have gone above the ceiling. Not remembered: the same id may succeed later. */
  CEILING,
  /** It would have left the range of 64 bits. Counters never wrap. */
  OVERFLOW,
  /**
   * There is no room here, and there may be some in regions that do not answer. Not remembered: the
   * same id may succeed later.
   */
  HELD_ELSEWHERE,
  /** The request was canceled before it arrived: it never applied and never will. */
  CANCELED;

  /**
   * Why {@code value + delta} must be rejected within {@code bounds}, or null if it must not: the
   * one place that decides it.
   */
  public static @Nullable Rejection of(long value, long delta, Bounds bounds) {
    long after = value + delta;
    if (((value ^ after) & (delta ^ after)) < 0) {
      return OVERFLOW;
    }
    if (delta < 0 && after < bounds.floor()) {
      return FLOOR;
    }
    if (delta > 0 && after > bounds.ceiling()) {
      return CEILING;
    }
    return null;
  }
}
