package dev.quipu.simulation.checker;

import dev.quipu.simulation.history.Operation;
import java.util.List;

/**
 * Each acknowledged add counts: the final value is no less than their sum. For counters that only
 * grow.
 */
public final class AtLeastOnceChecker implements Checker {
  /** The checker. */
  public AtLeastOnceChecker() {}

  @Override
  public Verdict check(List<Operation> operations, long finalValue) {
    if (operations.stream().anyMatch(each -> each.delta() < 0)) {
      throw new IllegalArgumentException("a counter that shrinks says nothing of lost adds");
    }
    long sure = operations.stream().filter(Operation::isOkAdd).mapToLong(Operation::delta).sum();
    if (finalValue >= sure) {
      return new Verdict.Kept();
    }
    return new Verdict.Broken(
        "the counter ends at %d; acknowledged adds make %d".formatted(finalValue, sure));
  }
}
