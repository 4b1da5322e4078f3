package dev.quipu.simulation.checker;

import dev.quipu.simulation.history.Operation;
import java.util.List;

/**
 * Checks that each acknowledged add counts: the final value is at least their sum. For counters
 * that only grow.
 */
public final class AtLeastOnceChecker implements Checker {
  /** Creates a checker. */
  public AtLeastOnceChecker() {}

  @Override
  public Verdict check(List<Operation> operations, long finalValue) {
    if (operations.stream().anyMatch(each -> each.delta() < 0)) {
      throw new IllegalArgumentException("negative deltas: lost adds cannot be detected");
    }
    long sure = operations.stream().filter(Operation::isOkAdd).mapToLong(Operation::delta).sum();
    if (finalValue >= sure) {
      return new Verdict.Kept();
    }
    return new Verdict.Broken(
        "final value is %d; acknowledged adds sum to %d".formatted(finalValue, sure));
  }
}
