package dev.quipu.testkit.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.group.Sum;
import dev.quipu.time.Randomness;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** A sum of adds allows what they allow one after another. */
final class SumTest {
  private static final Key KEY = new Key("p", "s");

  private static Write add(long delta, Condition condition) {
    return new Write.Update(KEY, List.of(new Change.Add(Item.VALUE, delta)), condition);
  }

  private static Sum sum(long delta, long min, long max) {
    return Sum.of(add(delta, new Condition.Within(Item.VALUE, min, max))).orElseThrow();
  }

  /** A combined sum allows a value if and only if each add is possible in order. */
  @Test
  void aFoldedSumAllowsWhatEachAllowsInTurn() {
    long seed = Long.getLong("seed", 11);
    RandomGenerator random = Randomness.seeded(seed);
    long[] ends = {Long.MIN_VALUE, Long.MIN_VALUE + 1, -3, -1, 0, 1, 2, 5, Long.MAX_VALUE};
    int folded = 0;
    for (int round = 0; round < 200_000; round++) {
      List<long[]> adds = new ArrayList<>();
      Optional<Sum> all = Optional.empty();
      boolean possible = true;
      for (int i = 0; i < 3 && possible; i++) {
        long a = ends[random.nextInt(ends.length)];
        long b = ends[random.nextInt(ends.length)];
        long[] each = {ends[random.nextInt(ends.length)], Math.min(a, b), Math.max(a, b)};
        Optional<Sum> one =
            Sum.of(add(each[0], new Condition.Within(Item.VALUE, each[1], each[2])));
        all = i == 0 ? one : all.flatMap(before -> one.flatMap(before::then));
        possible = all.isPresent();
        adds.add(each);
      }
      if (all.isPresent()) {
        folded++;
        for (long before : ends) {
          String text = "seed %d, from %d, adds %s".formatted(seed, before, describe(adds));
          assertEquals(inTurn(before, adds), all.get().allows(before), text);
        }
      }
    }
    assertTrue(folded > 1_000, "only " + folded + " could be folded");
  }

  private static List<List<Long>> describe(List<long[]> adds) {
    return adds.stream().map(each -> List.of(each[0], each[1], each[2])).toList();
  }

  private static boolean inTurn(long before, List<long[]> adds) {
    BigInteger value = BigInteger.valueOf(before);
    for (long[] each : adds) {
      value = value.add(BigInteger.valueOf(each[0]));
      if (value.compareTo(BigInteger.valueOf(each[1])) < 0
          || value.compareTo(BigInteger.valueOf(each[2])) > 0) {
        return false;
      }
    }
    return true;
  }

  @Test
  void whatIsNotALoneAddToTheValueIsNotFolded() {
    assertEquals(
        Optional.empty(),
        Sum.of(new Write.Update(KEY, List.of(new Change.Add("other", 1)), Condition.always())));
    assertEquals(Optional.empty(), Sum.of(add(1, new Condition.Absent())));
    assertEquals(Optional.empty(), Sum.of(add(1, new Condition.Within("other", 0, 1))));
    assertEquals(
        Optional.empty(),
        Sum.of(add(-1, new Condition.Within(Item.VALUE, Long.MAX_VALUE, Long.MAX_VALUE))));
    assertTrue(sum(1, 0, 5).allows(4));
  }
}
