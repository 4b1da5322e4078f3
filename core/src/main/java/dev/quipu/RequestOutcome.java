package dev.quipu;

import java.util.OptionalLong;

/** What became of a request. */
public sealed interface RequestOutcome {
  /**
   * It applied.
   *
   * @param added what it added
   * @param value the counter right after it, if the technique can tell
   */
  record Applied(long added, OptionalLong value) implements RequestOutcome {}

  /** It has not applied so far. It may still be on its way: cancel it to be sure. */
  record NotSeen() implements RequestOutcome {}

  /** It did not apply and never will. */
  record Canceled() implements RequestOutcome {}
}
