package dev.quipu.simulation.checker;

import dev.quipu.simulation.history.Operation;
import java.util.List;

/**
 * Checks that bounds hold and rejections are justified. For a counter whose adds all have the same
 * bounds, which contain 0, where it starts: no observed value is out of bounds, and an add was
 * rejected only if it could have violated them at some moment between its invocation and its
 * return.
 */
public final class BoundsChecker implements Checker {
  /** Creates a checker. */
  public BoundsChecker() {}

  @Override
  public Verdict check(List<Operation> operations, long finalValue) {
    List<Operation> adds =
        operations.stream().filter(each -> each.isOkAdd() || each.isUnknownAdd()).toList();
    long floor = Long.MIN_VALUE;
    long ceiling = Long.MAX_VALUE;
    for (Operation each : operations) {
      floor = Math.max(floor, each.floor());
      ceiling = Math.min(ceiling, each.ceiling());
    }
    if (finalValue < floor || finalValue > ceiling) {
      return outside(finalValue, floor, ceiling);
    }
    for (Operation each : operations) {
      long value = each.value().orElse(finalValue);
      boolean seen = each.end() == Operation.End.OK || each.end() == Operation.End.REPLAYED;
      if (seen && (value < floor || value > ceiling)) {
        return outside(value, floor, ceiling);
      }
      if (each.end() == Operation.End.REJECTED && !isFair(each, adds)) {
        return new Verdict.Broken("rejected although it was within bounds all the time: " + each);
      }
    }
    return new Verdict.Kept();
  }

  private static Verdict outside(long value, long floor, long ceiling) {
    return new Verdict.Broken(
        "the value was %d, out of bounds %d..%d".formatted(value, floor, ceiling));
  }

  /**
   * Returns whether the counter may have had, at some moment of the call, a value that the add
   * would have moved out of bounds.
   */
  private static boolean isFair(Operation rejected, List<Operation> adds) {
    long low = 0;
    long high = 0;
    for (Operation add : adds) {
      if (add.isOkAdd() && add.returned() < rejected.invoked()) {
        low += add.delta();
        high += add.delta();
      } else if (add.invoked() < rejected.returned()) {
        low += Math.min(0, add.delta());
        high += Math.max(0, add.delta());
      }
    }
    return rejected.delta() < 0
        ? low + rejected.delta() < rejected.floor()
        : high + rejected.delta() > rejected.ceiling();
  }
}
