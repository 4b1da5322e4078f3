package dev.quipu.simulation.checker;

import dev.quipu.simulation.history.Operation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Checks that a read sees every add acknowledged before it began, none that began after it ended,
 * and every add that an earlier read has seen. So its value lies between the sum of the adds that
 * it must see plus all negative adds that it may see, and that sum plus all positive ones. The same
 * holds for the difference between two reads, one of which ended before the other began, with
 * respect to the adds that only the later one must or may see.
 *
 * <p>A repeat that returned "replayed" is ignored, since it changes nothing; one that returned
 * "applied" may have been applied by any earlier attempt of its request.
 */
public final class IntervalChecker implements Checker {
  /** Creates a checker. */
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
            "a read from step %d to %d returned %d; possible values are %d..%d"
                .formatted(read.invoked(), read.returned(), value, possible.low, possible.high));
      }
      for (Operation earlier : reads) {
        if (earlier.returned() >= read.invoked()) {
          continue;
        }
        Range change = range(adds, begun, Optional.of(earlier), read);
        if (!change.contains(value - value(earlier))) {
          return new Verdict.Broken(
              "a read from step %d to %d returned %d; possible values after %d at step %d are %d..%d"
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

  /** A range of sums, both ends included. */
  private record Range(long low, long high) {
    boolean contains(long sum) {
      return low <= sum && sum <= high;
    }
  }

  /**
   * Returns the range of sums of the adds that a read sees and an earlier read, if given, does not.
   */
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
