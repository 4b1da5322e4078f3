package dev.quipu;

import java.util.List;
import java.util.OptionalLong;
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
   * Describes this rejection for people.
   *
   * @param heldBy the regions that may hold the amount
   * @param valueIfKnown the value of the counter, in units of its scale
   */
  String explanation(List<String> heldBy, OptionalLong valueIfKnown, int scale) {
    String what =
        switch (this) {
          case FLOOR -> "the value would fall below the floor";
          case CEILING -> "the value would exceed the ceiling";
          case OVERFLOW -> "the value would exceed 64 bits";
          case HELD_ELSEWHERE ->
              "regions that do not respond may hold the amount: " + String.join(", ", heldBy);
          case CANCELED -> "the request was canceled and will never be applied";
        };
    return valueIfKnown.isPresent()
        ? what + "; the value is " + Decimal.text(valueIfKnown.getAsLong(), scale)
        : what;
  }

  /** Describes the rejection of an add of several; without a name, that of all. */
  String explanation(String counter, OptionalLong valueIfKnown, int scale) {
    String why = explanation(List.of(), valueIfKnown, scale);
    return counter.isEmpty() ? why : "add to %s rejected: %s".formatted(counter, why);
  }

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
