package dev.quipu.simulation.checker;

import dev.quipu.simulation.history.Operation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Adds return the value that the counter had right after them. For adds of positive deltas: each
 * covers the values from before to after it, no two cover the same, and one that ended before
 * another began lies below it. Histories with a negative delta are outside its reach, and it says
 * so by an exception.
 */
public final class TilingChecker implements Checker {
  /** The checker. */
  public TilingChecker() {}

  @Override
  public Verdict check(List<Operation> operations, long finalValue) {
    List<Operation> adds = new ArrayList<>();
    for (Operation each : operations) {
      if (each.isOkAdd()) {
        if (each.delta() < 0) {
          throw new IllegalArgumentException("the tiling checker takes positive deltas only");
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
        return new Verdict.Broken(
            "two adds cover the same values up to %d: %s".formatted(covered, add));
      }
      // Whatever lies below must not have begun after this one ended.
      if (add.returned() < latestInvoked) {
        return new Verdict.Broken(
            "an add that ended first lies above one that began later: " + add);
      }
      covered = value(add);
      latestInvoked = Math.max(latestInvoked, add.invoked());
    }
    if (covered > finalValue) {
      return new Verdict.Broken(
          "an add returned %d, but the counter ends at %d".formatted(covered, finalValue));
    }
    return new Verdict.Kept();
  }

  private static long value(Operation add) {
    return add.value().orElseThrow();
  }
}
