package dev.quipu.technique;

import dev.quipu.AddResult;
import dev.quipu.Refusal;
import dev.quipu.store.Outcome;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends a request again after an unknown outcome, for techniques whose write is harmless to repeat
 * under its id.
 */
final class UntilDefinite {
  private static final int ATTEMPTS_MAX = 8;

  private UntilDefinite() {}

  /**
   * The first definite answer.
   *
   * @param what is asked for, for the message
   * @param once sends it, and says what the store answered
   * @throws StoreException if there is none; what was lost may still arrive
   */
  static AddResult answer(String what, Supplier<AddResult> once) {
    @Nullable StoreException lost = null;
    for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      try {
        AddResult answer = once.get();
        if (lost != null
            && answer instanceof AddResult.Refused refused
            && refused.why() != Refusal.SEALED) {
          break; // the lost attempt may still find room
        }
        return answer;
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
