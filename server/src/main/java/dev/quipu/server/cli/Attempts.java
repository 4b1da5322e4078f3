package dev.quipu.server.cli;

import dev.quipu.store.Outcome;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Repeats a call whose outcome is not known. For calls that count once however often they are made.
 *
 * <p>Once unknown, the outcome stays unknown until an answer is definite: that a repeat certainly
 * did not apply (nobody listens any more, say) tells nothing about the call before it.
 */
final class Attempts {
  private static final int ATTEMPTS_MAX = 5;
  private static final Duration PAUSE = Duration.ofMillis(100); // and twice as long each time

  private final Clock clock;

  Attempts(Clock clock) {
    this.clock = clock;
  }

  /**
   * Makes the call, and makes it again while nobody can tell whether it applied.
   *
   * @throws StoreException if it certainly did not apply, or if it is not known in the end
   */
  <T> T repeat(Supplier<T> call) {
    boolean unknown = false;
    Duration pause = PAUSE;
    for (int attempt = 1; ; attempt++) {
      try {
        return call.get();
      } catch (StoreException e) {
        unknown |= e.outcome() == Outcome.UNKNOWN;
        if (!unknown) {
          throw e;
        }
        boolean hopeless = e.outcome() == Outcome.NOT_APPLIED && !e.reason().isTemporary();
        if (hopeless || attempt == ATTEMPTS_MAX) {
          throw unknown(e.reason(), e.getMessage(), e);
        }
        sleep(pause, e);
        pause = pause.multipliedBy(2);
      }
    }
  }

  private void sleep(Duration pause, StoreException before) {
    try {
      clock.sleep(pause);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unknown(before.reason(), "interrupted", before);
    }
  }

  private static StoreException unknown(Reason reason, @Nullable String message, Throwable cause) {
    return StoreException.unknown(reason, String.valueOf(message), cause);
  }
}
