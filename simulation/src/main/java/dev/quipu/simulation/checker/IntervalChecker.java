package dev.quipu.simulation.checker;

import dev.quipu.simulation.history.Operation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A read sees every add that was acknowledged before it began, none that began after it ended, and
 * every add that a read before it has seen. So its value lies between the sum of the adds that it
 * must see, plus all negative and plus all positive of the adds that it may see; and so does the
 * difference between two reads of which one ended before the other began, for the adds that only
 * the later one must or may see.
 *
 * <p>A repeat that answered "replayed" is left out, since it changes nothing; one that answered
 * "applied" may have been applied by any earlier attempt of its request.
 */
public final class IntervalChecker implements Checker {
  /** The checker. */
  public IntervalChecker() {}

  @Override
  public Verdict check(List<Operation> operations, long finalValue) {
    List<Operation> adds =
        operations.stream().filter(each -> each.isOkAdd() || each.isUnknownAdd()).toList();
    Map<String, Long> begun = new HashMap<>(); // when each request was first sent
    adds.forEach(add -> begun.merge(add.request(), add.invoked(), Math::min));
    List<Operation> reads =
        operations.stream()
            .filter(each -> each.kind() == Operation.Kind.READ && each.end() == Operation.End.OK)
            .toList();
    for (Operation read : reads) {
      Range possible = range(adds, begun, Optional.empty(), read);
      long value = value(read);
      if (!possible.contains(value)) {
        return new Verdict.Broken(
            "a read from step %d to %d saw %d, but only %d..%d was possible"
                .formatted(read.invoked(), read.returned(), value, possible.low, possible.high));
      }
      for (Operation earlier : reads) {
        if (earlier.returned() >= read.invoked()) {
          continue;
        }
        Range change = range(adds, begun, Optional.of(earlier), read);
        if (!change.contains(value - value(earlier))) {
          return new Verdict.Broken(
              "a read from step %d to %d saw %d, but after %d at step %d only %d..%d was possible"
                  .formatted(
                      read.invoked(),
                      read.returned(),
                      value,
                      value(earlier),
                      earlier.returned(),
                      value(earlier) + change.low,
                      value(earlier) + change.high));
        }
      }
    }
    return new Verdict.Kept();
  }

  private static long value(Operation read) {
    return read.value().orElseThrow();
  }

  /** Sums of adds, both ends included. */
  private record Range(long low, long high) {
    boolean contains(long sum) {
      return low <= sum && sum <= high;
    }
  }

  /** What the adds may sum to that a read sees and an earlier one, if there is one, does not. */
  private static Range range(
      List<Operation> adds, Map<String, Long> begun, Optional<Operation> earlier, Operation read) {
    long low = 0;
    long high = 0;
    for (Operation add : adds) {
      boolean mustBeSeen = add.isOkAdd() && add.returned() < read.invoked();
      boolean mayBeSeen = mustBeSeen || add.invoked() < read.returned();
      long first = begun.getOrDefault(add.request(), add.invoked());
      boolean mustBeNew = earlier.isEmpty() || earlier.get().returned() <= first;
      boolean mayBeNew = mustBeNew || !(add.isOkAdd() && add.returned() < earlier.get().invoked());
      if (mustBeSeen && mustBeNew) {
        low += add.delta();
        high += add.delta();
      } else if (mayBeSeen && mayBeNew) {
        low += Math.min(0, add.delta());
        high += Math.max(0, add.delta());
      }
    }
    return new Range(low, high);
  }
}
