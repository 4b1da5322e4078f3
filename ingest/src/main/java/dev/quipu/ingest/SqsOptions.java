package dev.quipu.ingest;

import dev.quipu.Limits;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/**
 * Options of a consumer.
 *
 * @param queue its URL
 * @param deadLetter URL of the queue for malformed messages, with the reason; without one, they
 *     stay until the queue's redrive policy moves them
 * @param pollers number of concurrent pollers, 1 to {@link #POLLERS_MAX}; it bounds the messages in
 *     progress
 * @param visibility visibility timeout of a batch, which the consumer extends, 1 s to {@link
 *     #VISIBILITY_MAX}
 * @param longPoll longest wait of a call for messages, 0 to {@link #WAIT_MAX}
 */
public record SqsOptions(
    URI queue, Optional<URI> deadLetter, int pollers, Duration visibility, Duration longPoll) {
  /** Maximum number of pollers. */
  public static final int POLLERS_MAX = 256;

  /** Longest visibility timeout of SQS. */
  public static final Duration VISIBILITY_MAX = Duration.ofHours(12);

  /** Longest long poll of SQS. */
  public static final Duration WAIT_MAX = Duration.ofSeconds(20);

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the exceeded limit
   */
  public SqsOptions {
    if (pollers < 1 || pollers > POLLERS_MAX) {
      throw new IllegalArgumentException(
          "pollers is %d; it must be from 1 to %d".formatted(pollers, POLLERS_MAX));
    }
    check("visibility", visibility, Duration.ofSeconds(1), VISIBILITY_MAX);
    check("longPoll", longPoll, Duration.ZERO, WAIT_MAX);
  }

  private static void check(String field, Duration value, Duration min, Duration max) {
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(
          "%s is %s; it must be from %s to %s"
              .formatted(field, Limits.text(value), Limits.text(min), Limits.text(max)));
    }
  }

  /** Returns options with 4 pollers, a visibility timeout of 30 s and long polls of 20 s. */
  public static SqsOptions of(URI queue) {
    return new SqsOptions(queue, Optional.empty(), 4, Duration.ofSeconds(30), WAIT_MAX);
  }

  /** Returns a copy with a dead-letter queue. */
  public SqsOptions withDeadLetter(URI other) {
    return new SqsOptions(queue, Optional.of(other), pollers, visibility, longPoll);
  }

  /** Returns a copy with this number of pollers. */
  public SqsOptions withPollers(int number) {
    return new SqsOptions(queue, deadLetter, number, visibility, longPoll);
  }

  /** Returns a copy with these times. */
  public SqsOptions within(Duration hidden, Duration waiting) {
    return new SqsOptions(queue, deadLetter, pollers, hidden, waiting);
  }
}
