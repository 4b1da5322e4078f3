package dev.quipu.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.store.Key;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The order of names compared to a sorted map. */
final class SortedNamesTest {
  private final CounterPages names = new CounterPages();
  private final SortedNames sorted = new SortedNames(names);
  private final Map<String, Integer> ordinals = new HashMap<>();
  private final TreeMap<String, Integer> expected = new TreeMap<>(Key.ORDER);

  private int ordinal(String name) {
    return ordinals.computeIfAbsent(
        name,
        isNew -> {
          int ordinal = ordinals.size();
          names.reach(ordinal);
          names.of(ordinal).name(ordinal % CounterTablePage.SIZE, name);
          return ordinal;
        });
  }

  private void add(String name) {
    int ordinal = ordinal(name);
    sorted.addAll(new int[] {ordinal});
    expected.put(name, ordinal);
  }

  private void remove(String name) {
    int ordinal = Objects.requireNonNull(expected.remove(name));
    assertTrue(sorted.remove(ordinal, name.getBytes(StandardCharsets.UTF_8)));
  }

  private static List<Integer> listed(SortedNames names, String from, boolean inclusive) {
    List<Integer> listed = new ArrayList<>();
    names.from(from, inclusive).forEachRemaining((int ordinal) -> listed.add(ordinal));
    return listed;
  }

  private void check(String from) {
    for (boolean inclusive : new boolean[] {false, true}) {
      assertEquals(
          new ArrayList<>(expected.tailMap(from, inclusive).values()),
          listed(sorted, from, inclusive),
          "from " + from);
    }
    assertEquals(expected.size(), sorted.size());
  }

  /** Names of several lengths with long common prefixes, some of which are prefixes of others. */
  private static String name(Random random) {
    String prefix =
        List.of("", "counter/", "counter/2026-11-", "ü/", "\ud83d\ude00/", "\uffee")
            .get(random.nextInt(6));
    return prefix + Integer.toString(random.nextInt(20_000), 2 + random.nextInt(30));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void equalsASortedMap(long seed) {
    Random random = new Random(seed);
    check("");
    for (int step = 0; step < 40_000; step++) {
      String name = name(random);
      boolean grows = step % 20_000 < 12_000; // then it shrinks, and leaves are merged
      if (!expected.containsKey(name)) {
        if (grows || random.nextInt(4) == 0) {
          add(name);
        }
      } else if (!grows || random.nextInt(4) == 0) {
        remove(name);
      }
      if (!grows && !expected.isEmpty()) {
        String some = expected.ceilingKey(name);
        remove(some == null ? expected.firstKey() : some);
      }
      if (step % 1_000 == 0) {
        check(name);
        check("");
      }
    }
    new ArrayList<>(expected.keySet()).forEach(this::remove);
    check("");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void manyAreSortedAtOnce(long seed) {
    Random random = new Random(seed);
    for (int size : new int[] {0, 1, 2, 223, 224, 225, 10_000}) {
      while (expected.size() < size) {
        String name = name(random);
        expected.put(name, ordinal(name));
      }
      List<Integer> ordinals = new ArrayList<>(expected.values());
      Collections.shuffle(ordinals, random);
      sorted.sort(ordinals.stream().mapToInt(each -> each).toArray());
      check("");
      check(name(random));
    }
    for (int i = 0; i < 1_000; i++) { // its leaves are as good as others
      String name = name(random);
      if (expected.containsKey(name)) {
        remove(name);
      } else {
        add(name);
      }
    }
    check("");
  }

  /** Many of a batch belong into one leaf, which is split, and others into the leaves after it. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void manyAreAddedAtOnce(long seed) {
    Random random = new Random(seed);
    while (expected.size() < 30_000) {
      TreeMap<String, Integer> batch = new TreeMap<>(Key.ORDER);
      String near = random.nextBoolean() ? name(random) : "";
      int count = 1 + random.nextInt(random.nextBoolean() ? 10 : 1_000);
      for (int i = 0; i < count; i++) {
        String name = near + name(random);
        if (!expected.containsKey(name)) {
          batch.put(name, ordinal(name));
        }
      }
      List<Integer> added = new ArrayList<>(batch.values());
      Collections.shuffle(added, random);
      sorted.addAll(added.stream().mapToInt(each -> each).toArray());
      expected.putAll(batch);
      check(name(random));
    }
    assertNotEquals(0, sorted.touched(), "names are read ahead");
    check("");
  }

  @Test
  void namesThatArriveInOrderFillTheirLeaves() {
    for (int i = 0; i < 10_000; i++) {
      add("%05d".formatted(i));
    }
    check("");
    assertEquals(45, sorted.leaves(), "10,000 names, 224 in each leaf");
  }

  @Test
  void aLeafThatIsEmptyBetweenFullOnesIsRemoved() {
    for (int i = 0; i < 5 * 224; i++) {
      add("%05d".formatted(i));
    }
    for (int i : List.of(2, 0, 4)) {
      for (int each = 224 * i; each < 224 * (i + 1); each++) {
        remove("%05d".formatted(each));
      }
      check("%05d".formatted(224 * i + 100));
      check("");
    }
    assertEquals(2, sorted.leaves());
  }

  @Test
  void anOrdinalThatIsNotListedIsNotRemoved() {
    add("a");
    add("b");
    assertFalse(sorted.remove(1, new byte[] {'a'}));
    assertFalse(sorted.remove(0, new byte[] {'c'}));
    check("");
  }
}
