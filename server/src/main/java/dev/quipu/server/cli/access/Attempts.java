package dev.quipu.server.cli.access;

import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Repeats an idempotent call while its outcome is unknown.
 *
 * <p>Once unknown, the outcome stays unknown until a repeat succeeds: a repeat that was not applied
 * (connection refused, for example) says nothing about the calls before it.
 */
public final class Attempts {
  private static final RetryPolicy POLICY =
      new RetryPolicy(5, Duration.ofMillis(100), Duration.ofSeconds(2), Duration.ofMinutes(1));

  private final Clock clock;
  private final RandomGenerator random = Randomness.secure();

  public Attempts(Clock clock) {
    this.clock = clock;
  }

  /**
   * Makes the call, and repeats it while its outcome is unknown.
   *
   * @throws QuipuException if it was not applied, or if its outcome is still unknown at the end
   */
  public <T> T repeat(Supplier<T> call) {
    RetryPolicy.Attempts attempts = POLICY.begin(clock, random);
    boolean unknown = false;
    while (true) {
      try {
        return call.get();
      } catch (QuipuException e) {
        unknown |= e.outcome() == Outcome.UNKNOWN;
        if (!unknown) {
          throw e;
        }
        boolean hopeless = e.outcome() == Outcome.NOT_APPLIED && !e.reason().isTemporary();
        if (hopeless || !attempts.again()) {
          throw new OutcomeUnknownException(e.reason(), String.valueOf(e.getMessage()), e);
        }
      }
    }
  }
}
