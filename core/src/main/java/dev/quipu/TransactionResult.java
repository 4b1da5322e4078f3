package dev.quipu;

import java.math.BigDecimal;
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
   * @param scale the scale of the counter, in whose units both are
   */
  record Added(String counter, long added, long value, int scale) {
    /** Creates an add to an integer. */
    public Added(String counter, long added, long value) {
      this(counter, added, value, 0);
    }

    /** Returns what was added, as an exact decimal. */
    public BigDecimal addedDecimal() {
      return BigDecimal.valueOf(added, scale);
    }

    /** Returns the value right after the transaction, as an exact decimal. */
    public BigDecimal valueDecimal() {
      return BigDecimal.valueOf(value, scale);
    }
  }

  /**
   * Nothing was applied, and nothing was consumed.
   *
   * @param counter the first counter whose add was rejected; empty if the transaction was canceled
   * @param why the reason
   * @param valueIfKnown the value of this counter at the rejection, if it was read
   * @param scale the scale of this counter, in whose units the value is
   */
  record Rejected(String counter, Rejection why, OptionalLong valueIfKnown, int scale)
      implements TransactionResult {
    /** Creates a rejection by an integer. */
    public Rejected(String counter, Rejection why, OptionalLong valueIfKnown) {
      this(counter, why, valueIfKnown, 0);
    }

    @Override
    public Applied orElseThrow() {
      throw new NotAppliedException(
          Reason.REJECTED, "nothing was applied: " + why.explanation(counter, valueIfKnown, scale));
    }
  }

  /** The id was used before for another transaction or for a hold; nothing changed. */
  record Conflict() implements TransactionResult {
    @Override
    public Applied orElseThrow() {
      throw new NotAppliedException(
          Reason.CONFLICT,
          "this request id was first used for other adds, or for a hold. Use a new id");
    }
  }
}
