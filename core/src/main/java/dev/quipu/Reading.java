package dev.quipu;

/**
 * The value of a counter, and how sure it is: the true value lies in {@code low..high}, ends
 * included. Where a technique reads exactly, all three are equal.
 */
public record Reading(long value, long low, long high) {
  /** A value that is certain. */
  public static Reading exact(long value) {
    return new Reading(value, value, value);
  }
}
