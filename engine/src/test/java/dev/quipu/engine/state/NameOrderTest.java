package dev.quipu.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.store.Key;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The order of a snapshot and of what came after it, compared to a sorted map. */
final class NameOrderTest {
  private static final int NAMES = 20_000;

  private final CounterPages names = new CounterPages();
  private final NameOrder order = new NameOrder(names);
  private final TreeMap<String, Integer> expected = new TreeMap<>(Key.ORDER);

  private void name(int ordinal, String name) {
    names.reach(ordinal);
    CounterTablePage page = names.of(ordinal);
    page.forgetName(ordinal % CounterTablePage.SIZE);
    page.name(ordinal % CounterTablePage.SIZE, name);
  }

  private void check(String from) {
    for (boolean inclusive : new boolean[] {false, true}) {
      List<Integer> listed = new ArrayList<>();
      order.from(from, inclusive).forEachRemaining((int ordinal) -> listed.add(ordinal));
      assertEquals(
          new ArrayList<>(expected.tailMap(from, inclusive).values()), listed, "from " + from);
    }
  }

  /** A start with a snapshot of which the log has changed a share, and then changes. */
  @ParameterizedTest
  @CsvSource({"1, 0", "2, 20", "3, 400", "4, 8000", "5, 19000"})
  void equalsASortedMap(long seed, int changes) {
    Random random = new Random(seed);
    for (int ordinal = 0; ordinal < NAMES; ordinal++) {
      String name = "%x".formatted(random.nextLong());
      name(ordinal, name);
      expected.put(name, ordinal);
    }
    int[] all = expected.values().stream().mapToInt(each -> each).toArray();
    for (int from = 0; from < all.length; from += 3_000) {
      order.load(IntBuffer.wrap(all, from, Math.min(3_000, all.length - from)));
    }
    order.loaded();
    for (int i = 0; i < changes; i++) {
      change(random);
    }
    IntPredicate isListed = ordinal -> expected.containsValue(ordinal);
    if (changes > 1_000) { // a map of values to names would be another oracle to keep
      List<Integer> listed = new ArrayList<>(expected.values());
      boolean[] present = new boolean[2 * NAMES];
      listed.forEach(each -> present[each] = true);
      isListed = ordinal -> present[ordinal];
    }
    order.complete(2 * NAMES, expected.size(), isListed);
    check("");
    int listedEvery = seed % 2 == 0 ? 1_500 : 11_000; // or more wait than may
    for (int i = 0; i < 25_000; i++) {
      change(random);
      if (i % listedEvery == 0) {
        check("%x".formatted(random.nextLong()));
      }
    }
    check("");
  }

  private int created = NAMES;

  /** Adds a counter, removes one, or gives the ordinal of one that was removed another name. */
  private void change(Random random) {
    String key = expected.ceilingKey("%x".formatted(random.nextLong()));
    boolean removes = key != null && random.nextInt(3) > 0;
    int ordinal = created;
    if (removes) {
      ordinal = Objects.requireNonNull(expected.remove(key));
      order.remove(ordinal);
    }
    if (!removes && created < 2 * NAMES) {
      created++;
      put(ordinal, random);
    } else if (removes && random.nextBoolean()) {
      put(ordinal, random);
    }
  }

  private void put(int ordinal, Random random) {
    String name = "%x".formatted(random.nextLong());
    name(ordinal, name);
    order.add(ordinal);
    expected.put(name, ordinal);
  }

  /** It is still among those that wait, from before it was removed. */
  @Test
  void oneThatWasRemovedIsAddedAgainWhenNoMoreMayWait() {
    order.complete(0, 0, ordinal -> false);
    name(0, "x");
    order.add(0);
    order.remove(0);
    for (int ordinal = 1; ordinal < NameOrder.WAITING_MAX; ordinal++) {
      name(ordinal, "o" + ordinal);
      order.add(ordinal);
      expected.put("o" + ordinal, ordinal);
    }
    order.add(0);
    expected.put("x", 0);
    check("");
    order.remove(0);
    expected.remove("x");
    name(0, "a");
    order.add(0);
    expected.put("a", 0);
    check("");
  }

  @Test
  void anOrdinalThatIsNotListedIsAnError() {
    name(0, "a");
    name(1, "b");
    order.complete(2, 1, ordinal -> ordinal == 0);
    assertThrows(IllegalStateException.class, () -> order.remove(1));
  }
}
