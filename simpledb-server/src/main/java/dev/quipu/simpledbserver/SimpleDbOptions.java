package dev.quipu.simpledbserver;

import dev.quipu.Limits;
import java.time.Duration;

/**
 * Options of the server.
 *
 * @param accessKey the accepted access key
 * @param secretKey of the access key
 * @param lagMax maximum lag of replicas: an eventually consistent read returns each item with a
 *     random lag up to this; 0 to {@link #LAG_MAX}
 * @param writesPerSecondMax items that a domain accepts to write within a second of the clock, 1 or
 *     more; it answers 503 to others, and does not write them
 * @param countItemsMax items after which a count returns a token, as the service does after five
 *     seconds; 1 or more
 * @param seed of the source of randomness
 */
public record SimpleDbOptions(
    String accessKey,
    String secretKey,
    Duration lagMax,
    int writesPerSecondMax,
    int countItemsMax,
    long seed) {
  /** Largest lag. */
  public static final Duration LAG_MAX = Duration.ofMinutes(10);

  /** Access key {@code key}, secret {@code secret}, no lag, no limit of writes or counts. */
  public static final SimpleDbOptions DEFAULT =
      new SimpleDbOptions("key", "secret", Duration.ZERO, Integer.MAX_VALUE, Integer.MAX_VALUE, 1);

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the exceeded limit
   */
  public SimpleDbOptions {
    if (lagMax.isNegative() || lagMax.compareTo(LAG_MAX) > 0) {
      throw new IllegalArgumentException(
          "lagMax is %s; it must be from 0 to %s"
              .formatted(Limits.text(lagMax), Limits.text(LAG_MAX)));
    }
    atLeastOne("writesPerSecondMax", writesPerSecondMax);
    atLeastOne("countItemsMax", countItemsMax);
  }

  private static void atLeastOne(String name, int value) {
    if (value < 1) {
      throw new IllegalArgumentException("%s is %d; the minimum is 1".formatted(name, value));
    }
  }

  /** Returns a copy with lagging replicas. */
  public SimpleDbOptions lagging(Duration most, long withSeed) {
    return new SimpleDbOptions(
        accessKey, secretKey, most, writesPerSecondMax, countItemsMax, withSeed);
  }

  /** Returns a copy with partial counts of this number of items. */
  public SimpleDbOptions countingInPartsOf(int items) {
    return new SimpleDbOptions(accessKey, secretKey, lagMax, writesPerSecondMax, items, seed);
  }

  /** Returns a copy whose domains accept this number of writes per second. */
  public SimpleDbOptions limitedTo(int writesPerSecond) {
    return new SimpleDbOptions(accessKey, secretKey, lagMax, writesPerSecond, countItemsMax, seed);
  }

  /** Returns a text without the secret. */
  @Override
  public String toString() {
    return "SimpleDbOptions[%s, lag up to %s, counts of %d, seed %d]"
        .formatted(accessKey, lagMax, countItemsMax, seed);
  }
}
