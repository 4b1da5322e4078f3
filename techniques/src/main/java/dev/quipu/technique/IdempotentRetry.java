package dev.quipu.technique;

import dev.quipu.AddResult;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Rejection;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends a request again after an unknown outcome, for techniques whose write is harmless to repeat
 * under its id.
 */
public final class IdempotentRetry {
  private IdempotentRetry() {}

  /**
   * The first definite result.
   *
   * @param store that it is sent to
   * @param what is asked for, for the message
   * @param once sends it; sent twice, it must be as harmless as once
   * @throws QuipuException if there is none; what was lost may still arrive
   */
  public static <T> T result(Store store, String what, Supplier<T> once) {
    return first(store, what, once, result -> false);
  }

  /**
   * The first definite answer to an add; after a lost attempt, a rejection for want of room is
   * none.
   */
  public static AddResult answer(Store store, String what, Supplier<AddResult> once) {
    return first(
        store,
        what,
        once,
        answer ->
            answer instanceof AddResult.Rejected rejected && rejected.why() != Rejection.CANCELED);
  }

  /**
   * The first definite result of a write that precedes a change of a counter. If there is none, the
   * change was not sent, and so did not apply, whatever became of this write.
   *
   * @param what is written, for the message
   * @param once writes it; sent twice, it must be as harmless as once
   * @throws QuipuException with {@link Outcome#NOT_APPLIED} if there is none
   */
  public static <T> T prepared(Store store, String counter, String what, Supplier<T> once) {
    try {
      return result(store, what, once);
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.NOT_APPLIED) {
        throw e;
      }
      throw new NotAppliedException(
          e.reason(),
          "counter %s was not changed: store %s did not confirm a write that precedes it: %s"
              .formatted(counter, store.profile().name(), e.getMessage()),
          e);
    }
  }

  /** The first result that is definite even if an attempt was lost that may still arrive. */
  private static <T> T first(Store store, String what, Supplier<T> once, Predicate<T> mayChange) {
    RetryPolicy.Attempts attempts = store.attempts();
    @Nullable QuipuException lost = null;
    do {
      T result;
      try {
        result = store.sharing(attempts, once);
      } catch (QuipuException e) {
        if (e.outcome() == Outcome.NOT_APPLIED && lost == null) {
          throw e;
        }
        if (!e.reason().isTemporary()) {
          throw e.outcome() == Outcome.UNKNOWN ? e : unknown(what, attempts, e);
        }
        lost = e;
        continue;
      }
      if (lost == null || !mayChange.test(result)) {
        return result;
      }
      break; // the lost attempt may still find room
    } while (attempts.again());
    throw unknown(what, attempts, lost);
  }

  private static QuipuException unknown(
      String what, RetryPolicy.Attempts attempts, QuipuException cause) {
    String begin = "no definite answer for %s after ".formatted(what);
    boolean isOfOne = cause.getMessage().startsWith(begin); // of the same that was sent within
    Throwable why = isOfOne && cause.getCause() != null ? cause.getCause() : cause;
    return new OutcomeUnknownException(
        cause.reason(), begin + attempts + ": " + why.getMessage(), cause);
  }
}
