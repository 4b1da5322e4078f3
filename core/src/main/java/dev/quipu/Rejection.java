package dev.quipu;

import org.jspecify.annotations.Nullable;

/** Why an add was rejected. A rejected add consumes nothing. */
public enum Rejection {
  /** The value would be below the floor. Not remembered: the same id may be applied later. */
  FLOOR,
  /** The value would be above the ceiling. Not remembered: the same id may be applied later. */
  CEILING,
  /** The value would exceed 64 bits. Counters never wrap around. */
  OVERFLOW,
  /**
   * This region holds too little, and regions that do not respond may hold more. Not remembered:
   * the same id may be applied later.
   */
  HELD_ELSEWHERE,
  /** The request was canceled before it arrived: it was not applied and never will be. */
  CANCELED;

  /**
   * Returns why {@code value + delta} must be rejected within {@code bounds}, or null if it is
   * allowed. All techniques decide by this method.
   */
  public static @Nullable Rejection of(long value, long delta, Bounds bounds) {
    long after = value + delta;
    if (((value ^ after) & (delta ^ after)) < 0) {
      return OVERFLOW;
    }
    if (bounds.isFloorCheckedBy(delta) && after < bounds.floor()) {
      return FLOOR;
    }
    if (bounds.isCeilingCheckedBy(delta) && after > bounds.ceiling()) {
      return CEILING;
    }
    return null;
  }
}
