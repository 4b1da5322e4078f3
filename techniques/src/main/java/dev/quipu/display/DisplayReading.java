package dev.quipu.display;

import dev.quipu.Decimal;
import java.time.Instant;

/**
 * The number to show, with its bounds: at {@code asOf}, the actual value was in {@code low..high},
 * inclusive.
 *
 * @param low the durable part
 * @param high all counted views, plus those that a cache may have lost
 * @param scale the number of digits after the point of the counter: the values are in units of it
 */
public record DisplayReading(long value, long low, long high, Instant asOf, int scale) {
  /** Creates a reading of an integer. */
  public DisplayReading(long value, long low, long high, Instant asOf) {
    this(value, low, high, asOf, 0);
  }

  /** Returns an amount of the counter, such as its value, as a decimal text. */
  public String text(long amount) {
    return Decimal.text(amount, scale);
  }
}
