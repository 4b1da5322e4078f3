package dev.quipu.presence;

import java.time.Instant;

/**
 * How many distinct clients were seen from {@code from} until before {@code until}, as far as it is
 * known: in {@code low..high}, ends included.
 *
 * @param value the number to show
 * @param complete false if the store may have lost something that matters; then only {@code value}
 *     is told, and {@code low} and {@code high} are 0 and the largest number
 */
public record Online(
    long value, long low, long high, Instant from, Instant until, boolean complete) {
  /** What is told if nothing is sure. */
  public static Online incomplete(long value, Instant from, Instant until) {
    return new Online(value, 0, Long.MAX_VALUE, from, until, false);
  }
}
