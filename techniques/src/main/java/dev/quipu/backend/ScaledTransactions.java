package dev.quipu.backend;

import dev.quipu.Add;
import dev.quipu.RequestId;
import dev.quipu.ScaleRules;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.TransactionResult.Added;
import dev.quipu.Transactions;
import java.util.ArrayList;
import java.util.List;

/** Transactions on counters whose scales follow from their names, as {@link ScaledCounters}. */
record ScaledTransactions(Transactions inUnits, ScaleRules rules) implements Transactions {
  @Override
  public TransactionResult commit(RequestId id, List<Add> adds) {
    return switch (inUnits.commit(id, units(adds, rules))) {
      case TransactionResult.Applied applied ->
          new TransactionResult.Applied(at(applied.adds()), applied.isReplayed());
      case TransactionResult.Rejected not ->
          new TransactionResult.Rejected(
              not.counter(), not.why(), not.valueIfKnown(), rules.of(not.counter()));
      case TransactionResult.Conflict conflict -> conflict;
    };
  }

  /**
   * Returns adds in units of their counters.
   *
   * @throws IllegalArgumentException if an amount has more digits after the point than its counter
   */
  static List<Add> units(List<Add> adds, ScaleRules rules) {
    List<Add> converted = new ArrayList<>(adds.size());
    for (Add add : adds) {
      try {
        converted.add(add.at(rules.of(add.counter())));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "amount of %s: %s".formatted(add.counter(), e.getMessage()), e);
      }
    }
    return converted;
  }

  private List<Added> at(List<Added> adds) {
    return adds.stream()
        .map(
            each -> new Added(each.counter(), each.added(), each.value(), rules.of(each.counter())))
        .toList();
  }

  @Override
  public TransactionOutcome outcome(RequestId id) {
    return at(inUnits.outcome(id));
  }

  @Override
  public TransactionOutcome cancel(RequestId id) {
    return at(inUnits.cancel(id));
  }

  private TransactionOutcome at(TransactionOutcome outcome) {
    return switch (outcome) {
      case TransactionOutcome.Applied applied -> new TransactionOutcome.Applied(at(applied.adds()));
      case TransactionOutcome.Held held ->
          new TransactionOutcome.Held(ScaledHolds.at(held.hold(), rules));
      case TransactionOutcome.NotSeen none -> none;
      case TransactionOutcome.Canceled none -> none;
    };
  }
}
