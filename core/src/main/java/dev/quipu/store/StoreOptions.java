package dev.quipu.store;

import java.time.Duration;

/**
 * How {@link Store} repeats and when it gives up.
 *
 * @param attemptsMax most calls to the driver for one call to the store, when each earlier one
 *     certainly had no effect
 * @param pauseMin shortest pause before the second attempt; it doubles with each attempt, and
 *     between half and all of it is waited, at random
 * @param pauseMax longest pause
 * @param deadline after it no further attempt starts
 */
public record StoreOptions(
    int attemptsMax, Duration pauseMin, Duration pauseMax, Duration deadline) {
  /** 8 attempts, 5 to 200 ms apart, within 5 s. */
  public static final StoreOptions DEFAULT =
      new StoreOptions(8, Duration.ofMillis(5), Duration.ofMillis(200), Duration.ofSeconds(5));
}
