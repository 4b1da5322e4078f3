package dev.quipu;

import java.util.List;

/**
 * Adds to several counters under one request id: all of them are applied, or none. Use {@link
 * Quipu#transaction}; this is what the engine and the stores implement.
 *
 * <p>The ids of transactions and of {@link Holds} are one global namespace; the id of a single add
 * belongs to its counter. Thread-safe and blocking, with the exceptions of {@link Counters}.
 */
public interface Transactions {
  /** Maximum number of counters in one transaction or hold. */
  int COUNTERS_MAX = 64;

  /**
   * Applies all adds or none, exactly once under the id.
   *
   * @param adds 1 to {@link #COUNTERS_MAX}, each to another counter, without ids of their own
   * @throws IllegalArgumentException if there are too many adds, two to one counter, or one with an
   *     id of its own
   */
  @CheckReturnValue
  TransactionResult commit(RequestId id, List<Add> adds);

  /** Returns the outcome of a transaction. */
  TransactionOutcome outcome(RequestId id);

  /**
   * Cancels a transaction: if it was not applied so far, it never will be. Safe to repeat. An id
   * under which a hold was placed cannot be canceled: {@link Holds#release} ends a hold.
   *
   * @return {@link TransactionOutcome.Applied} or {@link TransactionOutcome.Canceled}
   * @throws NotAppliedException with {@link Reason#CONFLICT} if a hold was placed under the id
   */
  TransactionOutcome cancel(RequestId id);

  /**
   * Checks the adds of a transaction or a hold.
   *
   * @return {@code adds}
   * @throws IllegalArgumentException if there are none, too many, two to one counter, or one with
   *     an id of its own
   */
  static List<Add> check(List<Add> adds) {
    if (adds.isEmpty() || adds.size() > COUNTERS_MAX) {
      throw new IllegalArgumentException(
          "adds has %d entries; it must have 1 to %d".formatted(adds.size(), COUNTERS_MAX));
    }
    for (int i = 0; i < adds.size(); i++) {
      Add add = adds.get(i);
      if (add.id() != null) {
        throw new IllegalArgumentException(
            "the add to %s has an id of its own; the id belongs to all adds"
                .formatted(add.counter()));
      }
      for (int other = 0; other < i; other++) { // they are few
        if (adds.get(other).counter().equals(add.counter())) {
          throw new IllegalArgumentException(
              "two adds are to the counter %s; combine them into one".formatted(add.counter()));
        }
      }
    }
    return adds;
  }
}
