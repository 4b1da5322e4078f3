package dev.quipu.simulation.checker;

import dev.quipu.simulation.history.Operation;
import java.util.List;

/**
 * Each acknowledged add counts once, each unknown one once or not at all, and nothing else counts:
 * the final value is the sum of the acknowledged adds and of some of the unknown ones. Knows
 * nothing of requests: for techniques that are not repeated.
 */
public final class SumChecker implements Checker {
  /** The checker. */
  public SumChecker() {}

  @Override
  public Verdict check(List<Operation> operations, long finalValue) {
    long sure = operations.stream().filter(Operation::isOkAdd).mapToLong(Operation::delta).sum();
    List<Long> unknown =
        operations.stream().filter(Operation::isUnknownAdd).map(Operation::delta).toList();
    if (SubsetSums.contains(unknown, finalValue - sure)) {
      return new Verdict.Kept();
    }
    return new Verdict.Broken(
        "the counter ends at %d; acknowledged adds make %d, and no choice of the unknown %s makes up for %d"
            .formatted(finalValue, sure, unknown, finalValue - sure));
  }
}
