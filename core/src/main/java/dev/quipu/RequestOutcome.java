package dev.quipu;

import java.util.OptionalLong;

/** The outcome of a request, looked up by its id. */
public sealed interface RequestOutcome {
  /**
   * The request was applied.
   *
   * @param added what it added
   * @param valueIfKnown the resulting value of the counter, if it was kept
   * @param scale the scale of the counter, in whose units both are
   */
  record Applied(long added, OptionalLong valueIfKnown, int scale) implements RequestOutcome {
    /** Creates the outcome of an add to an integer. */
    public Applied(long added, OptionalLong valueIfKnown) {
      this(added, valueIfKnown, 0);
    }
  }

  /** The request was not applied so far, and may still be under way: cancel it to be sure. */
  record NotSeen() implements RequestOutcome {}

  /** The request was canceled: it was not applied and never will be. */
  record Canceled() implements RequestOutcome {}
}
