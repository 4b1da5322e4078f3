package dev.quipu.simpledbserver;

import java.time.Duration;

/**
 * How the server behaves.
 *
 * @param accessKey whom it lets in
 * @param secretKey what its requests are signed with
 * @param lagMax how far replicas lag: a read that is not consistent sees each item as it was at a
 *     moment of its own, from now back to this, drawn anew each time; 0 to {@link #LAG_MAX}
 * @param countItemsMax after so many items a count stops and hands out a token, as the service does
 *     after five seconds; 1 or more
 * @param seed what is drawn
 */
public record SimpleDbOptions(
    String accessKey, String secretKey, Duration lagMax, int countItemsMax, long seed) {
  /** The longest lag. */
  public static final Duration LAG_MAX = Duration.ofMinutes(10);

  /** Access key {@code key}, secret {@code secret}, no lag, no partial counts. */
  public static final SimpleDbOptions DEFAULT =
      new SimpleDbOptions("key", "secret", Duration.ZERO, Integer.MAX_VALUE, 1);

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming what is outside them
   */
  public SimpleDbOptions {
    if (lagMax.isNegative() || lagMax.compareTo(LAG_MAX) > 0) {
      throw new IllegalArgumentException(
          "lagMax is %s, the limits are 0 and %s".formatted(lagMax, LAG_MAX));
    }
    if (countItemsMax < 1) {
      throw new IllegalArgumentException(
          "countItemsMax is %d, the least is 1".formatted(countItemsMax));
    }
  }

  /** The same with replicas that lag. */
  public SimpleDbOptions lagging(Duration most, long withSeed) {
    return new SimpleDbOptions(accessKey, secretKey, most, countItemsMax, withSeed);
  }

  /** The same with counts that stop after so many items. */
  public SimpleDbOptions countingInPartsOf(int items) {
    return new SimpleDbOptions(accessKey, secretKey, lagMax, items, seed);
  }

  /** Without the secret. */
  @Override
  public String toString() {
    return "SimpleDbOptions[%s, lag up to %s, counts of %d, seed %d]"
        .formatted(accessKey, lagMax, countItemsMax, seed);
  }
}
