package dev.quipu.verify.checker;

import dev.quipu.verify.history.Operation;
import java.util.List;

/**
 * A read sees every add that was acknowledged before it began, and none that began after it ended:
 * its value lies between the sum of the former plus all negative, and plus all positive, of the
 * adds that may have happened meanwhile.
 *
 * <p>For adds that are not repeated under a request id; a repeat that answered "replayed" is left
 * out, since it changes nothing.
 */
public final class IntervalChecker implements Checker {
  /** The checker. */
  public IntervalChecker() {}

  @Override
  public Verdict check(List<Operation> operations, long finalValue) {
    List<Operation> adds =
        operations.stream().filter(each -> each.isOkAdd() || each.isUnknownAdd()).toList();
    for (Operation read : operations) {
      if (read.kind() != Operation.Kind.READ || read.end() != Operation.End.OK) {
        continue;
      }
      long low = 0;
      long high = 0;
      for (Operation add : adds) {
        if (add.isOkAdd() && add.returned() < read.invoked()) {
          low += add.delta();
          high += add.delta();
        } else if (add.invoked() < read.returned()) {
          low += Math.min(0, add.delta());
          high += Math.max(0, add.delta());
        }
      }
      long value = read.value().orElseThrow();
      if (value < low || value > high) {
        return new Verdict.Broken(
            "a read from step %d to %d saw %d, but only %d..%d was possible"
                .formatted(read.invoked(), read.returned(), value, low, high));
      }
    }
    return new Verdict.Kept();
  }
}
