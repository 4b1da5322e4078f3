package dev.quipu;

import java.math.BigDecimal;
import java.util.List;

/**
 * The value of a counter with its lower and upper bound: the exact value lies in {@code low..high},
 * both included. If the technique reads exactly, all three are equal.
 *
 * @param uncertainties why {@code low} and {@code high} differ, if known
 * @param scale the number of digits after the point of the counter: the values are in units of it
 */
public record Reading(long value, long low, long high, List<Uncertainty> uncertainties, int scale) {
  /** Copies the list. */
  public Reading {
    uncertainties = List.copyOf(uncertainties);
  }

  /** Creates a reading of an integer. */
  public Reading(long value, long low, long high, List<Uncertainty> uncertainties) {
    this(value, low, high, uncertainties, 0);
  }

  /** Creates a reading whose uncertainties are unknown. */
  public Reading(long value, long low, long high) {
    this(value, low, high, List.of());
  }

  /** Returns an exact reading. */
  public static Reading exact(long value) {
    return new Reading(value, value, value);
  }

  /** Returns an exact reading of a counter with a scale. */
  public static Reading exact(long value, int scale) {
    return new Reading(value, value, value, List.of(), scale);
  }

  /** Returns the same reading of a counter with a scale. */
  public Reading at(int counterScale) {
    return scale == counterScale
        ? this
        : new Reading(value, low, high, uncertainties, counterScale);
  }

  /** Returns the value as an exact decimal with the scale of the counter. */
  public BigDecimal decimal() {
    return BigDecimal.valueOf(value, scale);
  }

  /** Returns an amount of this counter, such as its value, as a decimal text. */
  public String text(long amount) {
    return Decimal.text(amount, scale);
  }
}
