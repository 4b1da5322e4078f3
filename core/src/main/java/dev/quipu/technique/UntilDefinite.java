package dev.quipu.technique;

import dev.quipu.AddResult;
import dev.quipu.Refusal;
import dev.quipu.store.Outcome;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends a request again after an unknown outcome, for techniques whose write is harmless to repeat
 * under its id.
 */
public final class UntilDefinite {
  private static final int ATTEMPTS_MAX = 8;

  private UntilDefinite() {}

  /**
   * The first definite result.
   *
   * @param what is asked for, for the message
   * @param once sends it; sent twice, it must be as harmless as once
   * @throws StoreException if there is none; what was lost may still arrive
   */
  public static <T> T result(String what, Supplier<T> once) {
    return first(what, once, result -> false);
  }

  /**
   * The first definite answer to an add; after a lost attempt, a refusal for want of room is none.
   */
  static AddResult answer(String what, Supplier<AddResult> once) {
    return first(
        what,
        once,
        answer -> answer instanceof AddResult.Refused refused && refused.why() != Refusal.SEALED);
  }

  /** The first result that is definite even if an attempt was lost that may still arrive. */
  private static <T> T first(String what, Supplier<T> once, Predicate<T> mayChange) {
    @Nullable StoreException lost = null;
    for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      try {
        T result = once.get();
        if (lost != null && mayChange.test(result)) {
          break; // the lost attempt may still find room
        }
        return result;
      } catch (StoreException e) {
        if (e.outcome() == Outcome.NOT_APPLIED && lost == null) {
          throw e;
        }
        if (!e.reason().isTemporary()) {
          throw e.outcome() == Outcome.UNKNOWN ? e : StoreException.unknown(e.reason(), "", lost);
        }
        lost = e;
      }
    }
    throw StoreException.unknown(Reason.UNAVAILABLE, "no definite answer for " + what, lost);
  }
}
