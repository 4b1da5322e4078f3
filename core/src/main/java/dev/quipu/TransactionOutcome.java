package dev.quipu;

import java.util.List;

/** The outcome of a transaction, looked up by its id. */
public sealed interface TransactionOutcome {
  /**
   * The transaction was applied.
   *
   * @param adds its adds with their first results, in order
   */
  record Applied(List<TransactionResult.Added> adds) implements TransactionOutcome {
    /** Copies the list. */
    public Applied {
      adds = List.copyOf(adds);
    }
  }

  /**
   * A hold was placed under this id.
   *
   * @param hold its present state
   */
  record Held(HoldReading hold) implements TransactionOutcome {}

  /** It was not applied so far, and may still be under way: cancel it to be sure. */
  record NotSeen() implements TransactionOutcome {}

  /** It was canceled: it was not applied and never will be. */
  record Canceled() implements TransactionOutcome {}
}
