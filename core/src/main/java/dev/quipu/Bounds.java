package dev.quipu;

/**
 * The allowed range of the value after an add, checked atomically with the add.
 *
 * <p>Only the bound that the add moves towards is checked: a counter that already lies outside may
 * always move back in. If the bounds exclude 0, the initial value, both are checked, so that a
 * counter cannot start outside its bounds.
 *
 * @param floor smallest value allowed after a decrement; {@link Long#MIN_VALUE} for none
 * @param ceiling largest value allowed after an increment; {@link Long#MAX_VALUE} for none
 */
public record Bounds(long floor, long ceiling) {
  private static final Bounds NONE = new Bounds(Long.MIN_VALUE, Long.MAX_VALUE);

  /**
   * Creates bounds.
   *
   * @throws IllegalArgumentException if {@code floor} is above {@code ceiling}
   */
  public Bounds {
    if (floor > ceiling) {
      throw new IllegalArgumentException("floor %d is above ceiling %d".formatted(floor, ceiling));
    }
  }

  /** Returns bounds without a floor or a ceiling, other than those of 64 bits. */
  public static Bounds none() {
    return NONE;
  }

  /** Returns bounds with a floor, for example for stock that must not go below zero. */
  public static Bounds atLeast(long floor) {
    return new Bounds(floor, Long.MAX_VALUE);
  }

  /** Returns bounds with a ceiling, for example for a quota. */
  public static Bounds atMost(long ceiling) {
    return new Bounds(Long.MIN_VALUE, ceiling);
  }

  /** Returns bounds with a floor and a ceiling. */
  public static Bounds between(long floor, long ceiling) {
    return new Bounds(floor, ceiling);
  }

  /** Returns whether an add of {@code delta} must leave the counter at the floor or above. */
  public boolean isFloorCheckedBy(long delta) {
    return delta < 0 || floor > 0;
  }

  /** Returns whether an add of {@code delta} must leave the counter at the ceiling or below. */
  public boolean isCeilingCheckedBy(long delta) {
    return delta > 0 || ceiling < 0;
  }

  /** Returns whether neither bound is set. */
  public boolean isNone() {
    return floor == Long.MIN_VALUE && ceiling == Long.MAX_VALUE;
  }
}
