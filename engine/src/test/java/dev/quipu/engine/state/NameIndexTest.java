package dev.quipu.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.engine.ids.Secret;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names are found while they exist, whatever else is added and removed. */
final class NameIndexTest {
  private final Secret secret = new Secret(8);
  private final NameIndex index = new NameIndex(secret);
  private final CounterPages names = new CounterPages();
  private final Deque<Integer> free = new ArrayDeque<>();
  private final Map<String, Integer> expected = new HashMap<>();

  private void put(String name) {
    int ordinal = free.isEmpty() ? expected.size() : free.pop();
    names.reach(ordinal);
    names.of(ordinal).name(ordinal % CounterTablePage.SIZE, name);
    index.put(name, ordinal);
    expected.put(name, ordinal);
  }

  private void remove(String name) {
    int ordinal = Objects.requireNonNull(expected.remove(name));
    index.remove(name, ordinal);
    names.of(ordinal).forgetName(ordinal % CounterTablePage.SIZE);
    free.push(ordinal);
  }

  private void check(String name) {
    int ordinal = expected.getOrDefault(name, -1);
    byte[] bytes = (" " + name).getBytes(StandardCharsets.UTF_8);
    assertEquals(ordinal, index.find(bytes, 1, bytes.length - 1, names), name);
    assertEquals(ordinal, index.find(name, names), name);
    assertEquals(ordinal, index.find(name, names), name + ", found lately");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void namesAreAddedAndRemoved(long seed) {
    Random random = new Random(seed);
    int many = 20_000; // parts grow several times
    for (int i = 0; i < many; i++) {
      String name = "c" + i;
      check(name);
      put(name);
      check(name);
    }
    for (int step = 0; step < 20_000; step++) {
      String name = "c" + random.nextInt(many);
      check(name);
      if (expected.containsKey(name)) {
        remove(name);
      } else {
        put(name);
      }
      check(name);
    }
    for (int i = 0; i < many; i++) {
      check("c" + i);
    }
  }

  /** Names whose slots are the last two of a part, so that most wrap around to its beginning. */
  private List<String> crowded(int count) {
    List<String> found = new ArrayList<>();
    for (int i = 0; found.size() < count; i++) {
      String name = "n" + i;
      int hash = (int) (secret.hash(name) >>> 32);
      int home = NameIndex.home(hash, NameIndex.PART_SLOTS_FIRST);
      if (hash >>> 22 == 0 && home >= NameIndex.PART_SLOTS_FIRST - 2) {
        found.add(name);
      }
    }
    return found;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void aGapIsClosedWhereverItIs(long seed) {
    Random random = new Random(seed);
    List<String> crowded = crowded(24);
    crowded.forEach(this::put);
    for (int step = 0; step < 500; step++) {
      String name = crowded.get(random.nextInt(crowded.size()));
      if (expected.containsKey(name)) {
        remove(name);
      } else {
        put(name);
      }
      crowded.forEach(this::check);
    }
  }

  /** The slots of removed names are reused: otherwise a part would grow, or eventually be full. */
  @Test
  void manyNamesMayBeRemovedAndAdded() {
    for (int i = 0; i < 50_000; i++) {
      put("c" + i);
      if (i >= 100) {
        remove("c" + (i - 100));
      }
    }
    for (int i = 49_000; i < 50_000; i++) {
      check("c" + i);
    }
  }

  @Test
  void namesOfOneHashOfTheStringAreApart() {
    List<String> same = List.of("AaAaAa", "AaAaBB", "AaBBAa", "AaBBBB", "BBAaAa", "BBBBBB");
    for (String name : same) {
      assertEquals(same.getFirst().hashCode(), name.hashCode());
      same.forEach(this::check);
      put(name);
      same.forEach(this::check);
    }
    for (String name : same) {
      remove(name);
      same.forEach(this::check);
    }
    String zero = "f5a5a608";
    assertEquals(0, zero.hashCode());
    check(zero);
    put(zero);
    check(zero);
  }
}
