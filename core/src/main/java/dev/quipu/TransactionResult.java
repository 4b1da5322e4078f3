package dev.quipu;

import java.util.List;
import java.util.OptionalLong;

/** The definite result of a transaction. If there is none, the call throws an exception. */
@CheckReturnValue
public sealed interface TransactionResult {
  /**
   * Returns what was applied.
   *
   * @throws NotAppliedException with {@link Reason#REJECTED} or {@link Reason#CONFLICT} if nothing
   *     was applied
   */
  Applied orElseThrow();

  /**
   * All adds count.
   *
   * @param adds one for each add, in order; a replay has those of the first answer
   * @param isReplayed whether an earlier call under the same id applied it; nothing changed now
   */
  record Applied(List<Added> adds, boolean isReplayed) implements TransactionResult {
    /** Copies the list. */
    public Applied {
      adds = List.copyOf(adds);
    }

    @Override
    public Applied orElseThrow() {
      return this;
    }
  }

  /**
   * An applied add.
   *
   * @param counter the name of its counter
   * @param added what was added
   * @param value the value of the counter right after the transaction
   */
  record Added(String counter, long added, long value) {}

  /**
   * Nothing was applied, and nothing was consumed.
   *
   * @param counter the first counter whose add was rejected; empty if the transaction was canceled
   * @param why the reason
   * @param valueIfKnown the value of this counter at the rejection, if it was read
   */
  record Rejected(String counter, Rejection why, OptionalLong valueIfKnown)
      implements TransactionResult {
    @Override
    public Applied orElseThrow() {
      throw new NotAppliedException(
          Reason.REJECTED,
          "nothing was applied: "
              + (why == Rejection.CANCELED
                  ? "the request was canceled"
                  : "add to %s rejected: %s".formatted(counter, why)));
    }
  }

  /** The id was used before for another transaction or for a hold; nothing changed. */
  record Conflict() implements TransactionResult {
    @Override
    public Applied orElseThrow() {
      throw new NotAppliedException(
          Reason.CONFLICT, "this request id was first used for other adds. Use a new id");
    }
  }
}
