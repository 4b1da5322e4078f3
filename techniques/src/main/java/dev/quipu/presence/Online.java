package dev.quipu.presence;

import java.time.Instant;

/**
 * The number of distinct clients seen from {@code from} (inclusive) until {@code until}
 * (exclusive), as far as it is known: in {@code low..high}, inclusive.
 *
 * @param value the number to show
 * @param complete false if the store may have lost relevant data; then only {@code value} is
 *     meaningful, {@code low} is 0 and {@code high} the largest number
 */
public record Online(
    long value, long low, long high, Instant from, Instant until, boolean complete) {
  /** Returns a result without bounds. */
  public static Online incomplete(long value, Instant from, Instant until) {
    return new Online(value, 0, Long.MAX_VALUE, from, until, false);
  }
}
