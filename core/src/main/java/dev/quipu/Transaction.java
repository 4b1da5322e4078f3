package dev.quipu;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A transaction that is being composed: adds to several counters, of which all are applied or none.
 * Not thread-safe.
 *
 * <pre>{@code
 * TransactionResult moved =
 *     quipu
 *         .transaction(RequestId.of("transfer-17"))
 *         .add("account/a", -5, Bounds.atLeast(0))
 *         .add("account/b", 5)
 *         .commit();
 * }</pre>
 */
public final class Transaction {
  private final Transactions transactions;
  private final RequestId id;
  private final List<Add> adds = new ArrayList<>();

  Transaction(Transactions transactions, RequestId id) {
    this.transactions = transactions;
    this.id = id;
  }

  /** Includes an add without bounds, in units of the counter. */
  public Transaction add(String counter, long delta) {
    return add(counter, delta, Bounds.none());
  }

  /**
   * Includes an add in units of the counter.
   *
   * @param delta not zero
   */
  public Transaction add(String counter, long delta, Bounds bounds) {
    adds.add(new Add(counter, delta, bounds, null));
    return this;
  }

  /**
   * Includes an add of an exact decimal.
   *
   * @param delta not zero
   * @param floor smallest value allowed after a decrement; null for none
   * @param ceiling largest value allowed after an increment; null for none
   * @throws IllegalArgumentException if an amount does not fit into 64 bits
   */
  public Transaction add(
      String counter, BigDecimal delta, @Nullable BigDecimal floor, @Nullable BigDecimal ceiling) {
    adds.add(Add.of(counter, delta, floor, ceiling));
    return this;
  }

  /**
   * Applies all adds or none, exactly once, no matter how often the same transaction is repeated
   * under the same id.
   *
   * @throws IllegalArgumentException if there are no adds, more than {@link
   *     Transactions#COUNTERS_MAX}, or two to one counter
   * @throws OutcomeUnknownException if the outcome is unknown; repeat with the same id
   */
  @CheckReturnValue
  public TransactionResult commit() {
    return transactions.commit(id, List.copyOf(adds));
  }

  /** Returns the outcome of the transaction with this id. */
  public TransactionOutcome outcome() {
    return transactions.outcome(id);
  }

  /** Cancels the transaction with this id: see {@link Transactions#cancel}. */
  public TransactionOutcome cancel() {
    return transactions.cancel(id);
  }
}
