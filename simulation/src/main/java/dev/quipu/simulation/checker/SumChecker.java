package dev.quipu.simulation.checker;

import dev.quipu.simulation.history.Operation;
import java.util.List;

/**
 * Checks that each acknowledged add counts exactly once, each unknown one at most once, and nothing
 * else counts: the final value is the sum of the acknowledged adds and of some of the unknown ones.
 * Ignores request ids: for techniques whose requests are not repeated.
 */
public final class SumChecker implements Checker {
  /** Creates a checker. */
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
        "final value is %d; acknowledged adds sum to %d, and no choice of the unknown %s explains the difference of %d"
            .formatted(finalValue, sure, unknown, finalValue - sure));
  }
}
