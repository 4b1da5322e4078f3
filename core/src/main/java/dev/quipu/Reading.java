package dev.quipu;

import java.util.List;

/**
 * The value of a counter, and how sure it is: the true value lies in {@code low..high}, ends
 * included. Where a technique reads exactly, all three are equal.
 *
 * @param uncertainties what makes {@code low} and {@code high} differ, if the technique can tell
 */
public record Reading(long value, long low, long high, List<Uncertainty> uncertainties) {
  /** Copies the list. */
  public Reading {
    uncertainties = List.copyOf(uncertainties);
  }

  /** One whose uncertainties are not told. */
  public Reading(long value, long low, long high) {
    this(value, low, high, List.of());
  }

  /** A value that is certain. */
  public static Reading exact(long value) {
    return new Reading(value, value, value);
  }
}
