package dev.quipu.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Guarantee;
import dev.quipu.Reading;
import dev.quipu.simulation.checker.AtLeastOnceChecker;
import dev.quipu.simulation.checker.BoundsChecker;
import dev.quipu.simulation.checker.Checker;
import dev.quipu.simulation.checker.Checkers;
import dev.quipu.simulation.checker.ExactlyOnceChecker;
import dev.quipu.simulation.checker.IntervalChecker;
import dev.quipu.simulation.checker.ReadingOracle;
import dev.quipu.simulation.checker.SumChecker;
import dev.quipu.simulation.checker.TilingChecker;
import dev.quipu.simulation.checker.Verdict;
import dev.quipu.simulation.history.Operation;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.time.Randomness;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checkers detect every violation that they claim to detect, and none in a correct history. */
final class CheckersTest {
  private static final int HISTORIES = 3_000;

  /** A history and the final value of its counter. */
  private record Recorded(List<Operation> operations, long finalValue) {}

  @ParameterizedTest
  @EnumSource(Guarantee.class)
  void correctHistoriesPassAllCheckers(Guarantee guarantee) {
    Checker checker = Checkers.of(guarantee);
    for (long seed = 1; seed <= HISTORIES; seed++) {
      Recorded recorded = honest(Randomness.seeded(seed));
      Verdict verdict = checker.check(recorded.operations, recorded.finalValue);
      assertInstanceOf(Verdict.Kept.class, verdict, "seed " + seed + ": " + verdict);
    }
  }

  @ParameterizedTest
  @EnumSource(Guarantee.class)
  void everyGuaranteeIsGivenByATechnique(Guarantee guarantee) {
    boolean promised = Techniques.ALL.stream().anyMatch(spec -> spec.promises(guarantee));
    assertTrue(promised || AtomicAdd.SPEC_REPEATING.promises(guarantee));
    for (TechniqueSpec spec : Techniques.ALL) {
      assertTrue(!spec.guarantees().isEmpty(), spec.name());
    }
  }

  @Test
  void anAcknowledgedAddThatIsLostIsDetected() {
    assertEquals(HISTORIES, caught(new SumChecker(), CheckersTest::dropLast));
    assertEquals(HISTORIES, caught(new ExactlyOnceChecker(), CheckersTest::dropLast));
    assertEquals(HISTORIES, caught(new AtLeastOnceChecker(), CheckersTest::dropLast));
  }

  @Test
  void anAddThatCountedTwiceIsDetected() {
    assertEquals(HISTORIES, caught(new SumChecker(), CheckersTest::doubleFirst));
    assertEquals(HISTORIES, caught(new ExactlyOnceChecker(), CheckersTest::doubleFirst));
  }

  @Test
  void aRequestThatAppliedTwiceIsDetected() {
    assertEquals(
        HISTORIES,
        caught(
            new ExactlyOnceChecker(),
            recorded -> {
              List<Operation> operations = new ArrayList<>(recorded.operations);
              Operation add = firstAdd(operations);
              operations.add(add);
              return new Recorded(operations, recorded.finalValue + add.delta());
            }));
  }

  @Test
  void repeatsWithDifferentResultsAreDetected() {
    assertEquals(
        HISTORIES,
        caught(
            new ExactlyOnceChecker(),
            recorded -> {
              List<Operation> operations = new ArrayList<>(recorded.operations);
              Operation add = firstAdd(operations);
              long other = add.value().orElseThrow() + 1;
              operations.add(
                  with(add, Operation.End.REPLAYED, add.invoked() + 90, OptionalLong.of(other)));
              return new Recorded(operations, recorded.finalValue);
            }));
  }

  @Test
  void aRepeatOfNothingIsDetected() {
    assertEquals(
        HISTORIES,
        caught(
            new ExactlyOnceChecker(),
            recorded -> {
              List<Operation> operations = new ArrayList<>(recorded.operations);
              Operation add = firstAdd(operations);
              operations.remove(add);
              operations.add(with(add, Operation.End.REPLAYED, add.invoked(), add.value()));
              return new Recorded(operations, recorded.finalValue);
            }));
  }

  @Test
  void staleAndInventedReadsAreDetected() {
    for (long off : new long[] {-1, 1}) {
      assertEquals(
          HISTORIES,
          caught(
              new IntervalChecker(),
              recorded -> {
                List<Operation> operations = new ArrayList<>(recorded.operations);
                // A read after everything else, when nothing is in progress and every unknown add
                // may be included.
                long unknown =
                    operations.stream()
                        .filter(Operation::isUnknownAdd)
                        .mapToLong(Operation::delta)
                        .sum();
                long sure =
                    operations.stream()
                        .filter(Operation::isOkAdd)
                        .mapToLong(Operation::delta)
                        .sum();
                long value = off < 0 ? sure - 1 : sure + unknown + 1;
                operations.add(read(100_000, 100_001, value));
                return new Recorded(operations, recorded.finalValue);
              }));
    }
  }

  @Test
  void aReadThatGoesBackwardsIsDetected() {
    IntervalChecker checker = new IntervalChecker();
    Operation add = add("add", 2, 1, 100, 2); // in progress during all reads
    assertTrue(checker.check(List.of(add, read(2, 3, 0), read(4, 5, 2)), 2).isKept());
    assertTrue(checker.check(List.of(add, read(2, 4, 2), read(3, 5, 0)), 2).isKept());
    assertTrue(!checker.check(List.of(add, read(2, 3, 2), read(4, 5, 0)), 2).isKept());
    assertTrue(!checker.check(List.of(add, read(4, 5, 0), read(2, 3, 2)), 2).isKept());
    assertTrue(!checker.check(List.of(add, read(2, 3, 1), read(4, 5, 0)), 2).isKept());
    Operation lost = with(add, Operation.End.UNKNOWN, 1, OptionalLong.empty());
    assertTrue(checker.check(List.of(lost, read(2, 3, 0), read(4, 5, 2)), 2).isKept());
    assertTrue(!checker.check(List.of(lost, read(2, 3, 2), read(4, 5, 0)), 2).isKept());
  }

  @Test
  void aReadThatGoesUpMoreThanWasAddedIsDetected() {
    IntervalChecker checker = new IntervalChecker();
    List<Operation> adds = List.of(add("up", 5, 1, 100, 5), add("down", -3, 1, 100, -3));
    for (long[] values : new long[][] {{0, 2}, {0, 5}, {-3, 2}, {5, 2}, {2, 2}}) {
      assertTrue(checker.check(with(adds, values), 2).isKept(), Arrays.toString(values));
    }
    for (long[] values : new long[][] {{5, -3}, {-3, 5}, {2, -3}, {5, 1}}) {
      assertTrue(!checker.check(with(adds, values), 2).isKept(), Arrays.toString(values));
    }
    Operation between = add("between", 1, 4, 5, 1);
    assertTrue(checker.check(List.of(between, read(2, 3, 0), read(6, 7, 1)), 1).isKept());
    assertTrue(!checker.check(List.of(between, read(2, 3, 0), read(6, 7, 0)), 1).isKept());
  }

  @Test
  void aReadThatGoesBackwardsInAnyHistoryIsDetected() {
    assertEquals(
        HISTORIES,
        caught(
            new IntervalChecker(),
            recorded -> {
              // Two reads while every add is in progress: one sees all of them, and one none.
              List<Operation> operations = new ArrayList<>();
              long sum = 0;
              for (Operation each : recorded.operations) {
                if (each.isOkAdd()) {
                  operations.add(
                      add(each.request(), each.delta(), 1, 1_000, each.value().orElseThrow()));
                  sum += each.delta();
                }
              }
              operations.add(read(10, 11, sum));
              operations.add(read(12, 13, 0));
              return new Recorded(operations, sum);
            }));
  }

  private static List<Operation> with(List<Operation> adds, long... values) {
    List<Operation> operations = new ArrayList<>(adds);
    for (int i = 0; i < values.length; i++) {
      operations.add(read(10 * i + 10, 10 * i + 11, values[i]));
    }
    return operations;
  }

  private static Operation read(long invoked, long returned, long value) {
    return new Operation(
        "read",
        Operation.Kind.READ,
        0,
        Long.MIN_VALUE,
        Long.MAX_VALUE,
        invoked,
        returned,
        Operation.End.OK,
        OptionalLong.of(value));
  }

  @Test
  void twoAddsThatReturnTheSameValueAreDetected() {
    assertEquals(
        HISTORIES,
        caught(
            new TilingChecker(),
            recorded -> {
              List<Operation> operations = new ArrayList<>(recorded.operations);
              Operation add = firstAdd(operations);
              operations.add(with(add, Operation.End.OK, add.invoked(), add.value()));
              return new Recorded(operations, recorded.finalValue);
            }));
  }

  @Test
  void anAddThatLiesBelowAnEarlierOneIsDetected() {
    Operation first = add("a", 1, 1, 2, 5);
    Operation second = add("b", 1, 3, 4, 1);
    assertTrue(!new TilingChecker().check(List.of(first, second), 5).isKept());
    assertTrue(!new TilingChecker().check(List.of(first), 4).isKept());
    assertTrue(new TilingChecker().check(List.of(first), 5).isKept());
  }

  @Test
  void oversellingAndFalseRejectionsAreDetected() {
    BoundsChecker checker = new BoundsChecker();
    Operation in = bounded("in", 3, 1, 2, Operation.End.OK, 3);
    assertTrue(checker.check(List.of(in), 3).isKept());
    assertTrue(!checker.check(List.of(in), -1).isKept());
    assertTrue(!checker.check(List.of(bounded("up", 9, 1, 2, Operation.End.OK, 9)), 9).isKept());
    Operation unfair = bounded("out", -2, 3, 4, Operation.End.REJECTED, 3);
    assertTrue(!checker.check(List.of(in, unfair), 3).isKept());
    Operation fair = bounded("out", -4, 3, 4, Operation.End.REJECTED, 3);
    assertTrue(checker.check(List.of(in, fair), 3).isKept());
    Operation meanwhile = bounded("meanwhile", -2, 2, 9, Operation.End.OK, 1);
    assertTrue(checker.check(List.of(in, unfair, meanwhile), 1).isKept());
  }

  @Test
  void aReadingThatIsWiderThanJustifiedIsDetected() {
    ReadingOracle oracle = new ReadingOracle();
    oracle.begin(5, 10).acked(11);
    oracle.begin(-3, 20); // unknown
    oracle.begin(7, 30).rejected();
    assertEquals(8, oracle.amountSince(10));
    assertEquals(3, oracle.amountSince(20));
    assertEquals(0, oracle.amountSince(21));
    Reading all = new Reading(0, Long.MIN_VALUE, Long.MAX_VALUE);
    assertTrue(oracle.wrong(all, 25, 26, Long.MAX_VALUE).isEmpty());
    assertTrue(oracle.wrong(all, 25, 26, Long.MAX_VALUE - 1).isPresent());
    Reading wide = new Reading(2, 2, 6);
    assertTrue(oracle.wrong(wide, 25, 26, 4).isEmpty());
    assertTrue(oracle.wrong(wide, 25, 26, 3).isPresent());
    assertTrue(oracle.wrong(new Reading(1, 2, 6), 25, 26, 4).isPresent());
    assertTrue(oracle.wrong(Reading.exact(1), 25, 26, 0).isPresent());
    assertTrue(oracle.wrong(Reading.exact(2), 25, 26, 0).isEmpty());
    assertTrue(oracle.wrong(Reading.exact(5), 25, 26, 0).isEmpty());
    assertTrue(oracle.wrong(Reading.exact(6), 25, 26, 0).isPresent());
    assertTrue(oracle.wrongAtEnd(2).isEmpty());
    assertTrue(oracle.wrongAtEnd(5).isEmpty());
    assertTrue(oracle.wrongAtEnd(1).isPresent());
  }

  /** A falsification of a history. */
  private interface Lie {
    Recorded about(Recorded recorded);
  }

  private static int caught(Checker checker, Lie lie) {
    int caught = 0;
    for (long seed = 1; seed <= HISTORIES; seed++) {
      Recorded recorded = lie.about(honest(Randomness.seeded(seed)));
      caught += checker.check(recorded.operations, recorded.finalValue).isKept() ? 0 : 1;
    }
    return caught;
  }

  private static Recorded dropLast(Recorded recorded) {
    return new Recorded(recorded.operations, sure(recorded) - 1);
  }

  private static Recorded doubleFirst(Recorded recorded) {
    return new Recorded(
        recorded.operations,
        sure(recorded) + unknown(recorded) + firstAdd(recorded.operations).delta());
  }

  private static long sure(Recorded recorded) {
    return recorded.operations.stream()
        .filter(Operation::isOkAdd)
        .mapToLong(Operation::delta)
        .sum();
  }

  private static long unknown(Recorded recorded) {
    return recorded.operations.stream()
        .filter(Operation::isUnknownAdd)
        .mapToLong(Operation::delta)
        .sum();
  }

  private static Operation firstAdd(List<Operation> operations) {
    return operations.stream().filter(Operation::isOkAdd).findFirst().orElseThrow();
  }

  private static Operation with(
      Operation add, Operation.End end, long invoked, OptionalLong value) {
    return new Operation(
        add.request(),
        add.kind(),
        add.delta(),
        add.floor(),
        add.ceiling(),
        invoked,
        invoked + 1,
        end,
        value);
  }

  private static Operation add(
      String request, long delta, long invoked, long returned, long value) {
    return new Operation(
        request,
        Operation.Kind.ADD,
        delta,
        Long.MIN_VALUE,
        Long.MAX_VALUE,
        invoked,
        returned,
        Operation.End.OK,
        OptionalLong.of(value));
  }

  private static Operation bounded(
      String request, long delta, long invoked, long returned, Operation.End end, long value) {
    return new Operation(
        request, Operation.Kind.ADD, delta, 0, 5, invoked, returned, end, OptionalLong.of(value));
  }

  /** Records concurrent adds and reads on a correct counter. */
  private static Recorded honest(RandomGenerator random) {
    List<Operation> operations = new ArrayList<>();
    List<long[]> underWay = new ArrayList<>(); // number, delta, invoked, applied (0/1), value
    long value = 0;
    long step = 0;
    int started = 0;
    while (started < 12 || !underWay.isEmpty()) {
      step++;
      int choice = random.nextInt(3);
      if (choice == 0 && started < 12) {
        long delta = random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(4);
        underWay.add(new long[] {started, started == 0 ? 1 : delta, step, 0, 0});
        started++;
      } else if (!underWay.isEmpty()) {
        long[] one = underWay.get(random.nextInt(underWay.size()));
        boolean isRead = one[1] == 0;
        boolean first = one[0] == 0;
        if (one[3] == 0 && (first || isRead || random.nextInt(8) > 0)) {
          value += one[1];
          one[3] = 1;
          one[4] = value;
        } else {
          boolean lost = !isRead && !first && (one[3] == 0 || random.nextInt(8) == 0);
          underWay.remove(one);
          operations.add(
              new Operation(
                  "request-" + one[0],
                  isRead ? Operation.Kind.READ : Operation.Kind.ADD,
                  one[1],
                  Long.MIN_VALUE,
                  Long.MAX_VALUE,
                  one[2],
                  lost ? Operation.NEVER : step,
                  lost ? Operation.End.UNKNOWN : Operation.End.OK,
                  lost ? OptionalLong.empty() : OptionalLong.of(one[4])));
        }
      }
    }
    return new Recorded(operations, value);
  }
}
