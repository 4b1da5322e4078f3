package dev.quipu.sequence;

import dev.quipu.store.Outcome;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import dev.quipu.store.WriteResult;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends a write again after an unknown outcome, where the same write twice is harmless. */
final class UntilKnown {
  private static final int ATTEMPTS_MAX = 8;

  private UntilKnown() {}

  /**
   * What the store says at last.
   *
   * @param what is written, for the message
   * @throws StoreException if it says nothing; what was lost may still arrive
   */
  static WriteResult result(String what, Supplier<WriteResult> write) {
    @Nullable StoreException lost = null;
    for (int i = 0; i < ATTEMPTS_MAX; i++) {
      try {
        return write.get();
      } catch (StoreException e) {
        if (e.outcome() == Outcome.NOT_APPLIED && lost == null) {
          throw e;
        }
        lost = e;
      }
    }
    throw StoreException.unknown(Reason.UNAVAILABLE, "no definite answer for " + what, lost);
  }
}
