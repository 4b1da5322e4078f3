package dev.quipu;

import java.util.OptionalLong;

/** The outcome of a request, looked up by its id. */
public sealed interface RequestOutcome {
  /**
   * The request was applied.
   *
   * @param added what it added
   * @param valueIfKnown the resulting value of the counter, if it was kept
   */
  record Applied(long added, OptionalLong valueIfKnown) implements RequestOutcome {}

  /** The request was not applied so far, and may still be under way: cancel it to be sure. */
  record NotSeen() implements RequestOutcome {}

  /** The request was canceled: it was not applied and never will be. */
  record Canceled() implements RequestOutcome {}
}
