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
 * Retries requests after an unknown outcome, for techniques whose writes are idempotent under the
 * request id.
 */
public final class IdempotentRetry {
  private IdempotentRetry() {}

  /**
   * Returns the first definite result.
   *
   * @param store the store that receives the request
   * @param what name of the request, for the message
   * @param once sends the request; must be idempotent
   * @throws QuipuException if there is none; a lost request may still arrive
   */
  public static <T> T result(Store store, String what, Supplier<T> once) {
    return result(store, what, once, result -> false);
  }

  /**
   * Returns the first definite answer to an add. After a lost attempt, a rejection by a bound is
   * not definite.
   */
  public static AddResult answer(Store store, String what, Supplier<AddResult> once) {
    return result(
        store,
        what,
        once,
        answer ->
            answer instanceof AddResult.Rejected rejected && rejected.why() != Rejection.CANCELED);
  }

  /**
   * Returns the first definite result of a write that precedes a change of a counter. If there is
   * none, the change was not sent and so not applied, whatever the outcome of this write.
   *
   * @param what name of the write, for the message
   * @param once writes; must be idempotent
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

  /**
   * Returns the first definite result, if some results are not definite after a lost attempt, which
   * may still arrive.
   *
   * @param mayChange whether a result is of this kind
   */
  public static <T> T result(Store store, String what, Supplier<T> once, Predicate<T> mayChange) {
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
      break; // the lost attempt may still be within bounds
    } while (attempts.again());
    throw unknown(what, attempts, lost);
  }

  private static QuipuException unknown(
      String what, RetryPolicy.Attempts attempts, QuipuException cause) {
    String begin = "no definite answer for %s after ".formatted(what);
    boolean isOfOne =
        cause.getMessage().startsWith(begin); // from a nested attempt at the same request
    Throwable why = isOfOne && cause.getCause() != null ? cause.getCause() : cause;
    return new OutcomeUnknownException(
        cause.reason(), begin + attempts + ": " + why.getMessage(), cause);
  }
}
