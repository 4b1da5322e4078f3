package dev.quipu.simulation.checker;

import dev.quipu.simulation.history.Operation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Checks that adds return the value directly after them. For positive deltas: each add covers the
 * values from before to after it, no two overlap, and one that ended before another began lies
 * below it. Throws an exception for histories with a negative delta.
 */
public final class TilingChecker implements Checker {
  /** Creates a checker. */
  public TilingChecker() {}

  @Override
  public Verdict check(List<Operation> operations, long finalValue) {
    List<Operation> adds = new ArrayList<>();
    for (Operation each : operations) {
      if (each.isOkAdd()) {
        if (each.delta() < 0) {
          throw new IllegalArgumentException("the tiling checker supports positive deltas only");
        }
        if (each.value().isEmpty()) {
          return new Verdict.Broken("an add returned no value: " + each);
        }
        adds.add(each);
      }
    }
    adds.sort(Comparator.comparingLong(TilingChecker::value));
    long covered = 0;
    long latestInvoked = Long.MIN_VALUE;
    for (Operation add : adds) {
      long before = value(add) - add.delta();
      if (before < covered) {
        return new Verdict.Broken("adds overlap at values up to %d: %s".formatted(covered, add));
      }
      // An add with a lower value must not have begun after this one ended.
      if (add.returned() < latestInvoked) {
        return new Verdict.Broken(
            "an add that ended first returned more than one that began later: " + add);
      }
      covered = value(add);
      latestInvoked = Math.max(latestInvoked, add.invoked());
    }
    if (covered > finalValue) {
      return new Verdict.Broken(
          "an add returned %d, but the final value is %d".formatted(covered, finalValue));
    }
    return new Verdict.Kept();
  }

  private static long value(Operation add) {
    return add.value().orElseThrow();
  }
}
