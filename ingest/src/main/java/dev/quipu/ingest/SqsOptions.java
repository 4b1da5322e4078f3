package dev.quipu.ingest;

import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/**
 * How a queue is consumed.
 *
 * @param queue its URL
 * @param deadLetter URL of the queue for what is no event, with the reason; without one it stays,
 *     and the queue's own policy moves it
 * @param pollers how many batches are under way at once, 1 to {@link #POLLERS_MAX}: this is all
 *     that is taken from the queue and not done yet
 * @param visibility how long a batch is hidden from other consumers before it is asked for more
 *     time, 1 s to {@link #VISIBILITY_MAX}
 * @param longPoll how long one call waits for messages, 0 to {@link #WAIT_MAX}
 */
public record SqsOptions(
    URI queue, Optional<URI> deadLetter, int pollers, Duration visibility, Duration longPoll) {
  /** Most batches at once. */
  public static final int POLLERS_MAX = 256;

  /** Longest time that SQS hides a message. */
  public static final Duration VISIBILITY_MAX = Duration.ofHours(12);

  /** Longest wait of SQS. */
  public static final Duration WAIT_MAX = Duration.ofSeconds(20);

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the one that is broken
   */
  public SqsOptions {
    if (pollers < 1 || pollers > POLLERS_MAX) {
      throw new IllegalArgumentException(
          "pollers is %d, the limits are 1 and %d".formatted(pollers, POLLERS_MAX));
    }
    check("visibility", visibility, Duration.ofSeconds(1), VISIBILITY_MAX);
    check("longPoll", longPoll, Duration.ZERO, WAIT_MAX);
  }

  private static void check(String field, Duration value, Duration min, Duration max) {
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(
          "%s is %s, the limits are %s and %s".formatted(field, value, min, max));
    }
  }

  /** 4 batches at once, hidden for 30 s, waiting for 20 s. */
  public static SqsOptions of(URI queue) {
    return new SqsOptions(queue, Optional.empty(), 4, Duration.ofSeconds(30), WAIT_MAX);
  }

  /** The same with a queue for what is no event. */
  public SqsOptions withDeadLetter(URI other) {
    return new SqsOptions(queue, Optional.of(other), pollers, visibility, longPoll);
  }

  /** The same with so many batches at once. */
  public SqsOptions withPollers(int number) {
    return new SqsOptions(queue, deadLetter, number, visibility, longPoll);
  }

  /** The same with other times. */
  public SqsOptions within(Duration hidden, Duration waiting) {
    return new SqsOptions(queue, deadLetter, pollers, hidden, waiting);
  }
}
