package dev.quipu;

import java.util.List;

/**
 * The value of a counter with its lower and upper bound: the exact value lies in {@code low..high},
 * both included. If the technique reads exactly, all three are equal.
 *
 * @param uncertainties why {@code low} and {@code high} differ, if known
 */
public record Reading(long value, long low, long high, List<Uncertainty> uncertainties) {
  /** Copies the list. */
  public Reading {
    uncertainties = List.copyOf(uncertainties);
  }

  /** Creates a reading whose uncertainties are unknown. */
  public Reading(long value, long low, long high) {
    this(value, low, high, List.of());
  }

  /** Returns an exact reading. */
  public static Reading exact(long value) {
    return new Reading(value, value, value);
  }
}
