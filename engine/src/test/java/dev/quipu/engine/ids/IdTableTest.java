package dev.quipu.engine.ids;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A growing table of ids compared to a plain map. */
final class IdTableTest {
  private static final long IDENTITY = 5;
  private static final int LAST_ORDINAL = (1 << 30) - 1;

  private final Secret secret = new Secret(IDENTITY);
  private final IdTable table = new IdTable(secret, 1 << 20);
  private final Random random = new Random(3);
  private final Map<List<Long>, long[]> expected = new HashMap<>();

  private void add(long high, long low, int ordinal) {
    int kind = random.nextBoolean() ? IdTable.APPLIED : IdTable.CANCELED;
    long meta = IdTable.meta(ordinal, kind, random.nextInt());
    long[] entry = {high, low, meta, random.nextLong(), random.nextLong()};
    table.add(high, low, meta, entry[3], entry[4], 0, 0);
    expected.put(List.of(high, low, (long) ordinal), entry);
  }

  private long hash(long[] entry) {
    return secret.hash(entry[0], entry[1], IdTable.ordinal(entry[2]));
  }

  private boolean isFound(long high, long low, int ordinal, long[] entry) {
    return table.find(secret.hash(high, low, ordinal), high, low, ordinal, entry);
  }

  private void checkFound(long high, long low, int ordinal) {
    boolean isThere = expected.containsKey(List.of(high, low, (long) ordinal));
    assertEquals(isThere, isFound(high, low, ordinal, new long[IdTable.STRIDE]));
  }

  private void check() {
    long[] entry = new long[IdTable.STRIDE];
    assertEquals(expected.size(), table.size());
    expected.forEach((id, each) -> {
      int ordinal = Math.toIntExact(id.get(2));
      assertTrue(isFound(id.get(0), id.get(1), ordinal, entry));
      assertArrayEquals(each, entry);
      checkFound(id.get(0) + 1, id.get(1), ordinal);
      checkFound(id.get(0), id.get(1) + 1, ordinal);
      checkFound(id.get(0), id.get(1), ordinal ^ 64);
    });
    Set<String> seen = new HashSet<>();
    int largest = 0;
    for (int part = 0; part < IdTable.PARTS; part++) {
      int[] slots = new int[table.largestPart()];
      int count = table.entries(part, slots);
      largest = Math.max(largest, count);
      for (int i = 0; i < count; i++) {
        long[] each = table.entry(part, slots[i]);
        assertEquals(part, hash(each) >>> 55);
        assertTrue(seen.add(Arrays.toString(each)), "an entry twice");
      }
    }
    assertEquals(largest, table.largestPart());
    Set<String> all = new HashSet<>();
    expected.values().forEach(each -> all.add(Arrays.toString(each)));
    assertEquals(all, seen);
  }

  @Test
  void equalsAPlainMap() {
    check();
    for (int i = 0; i < 10_000; i++) {
      add(random.nextLong(), random.nextLong(), random.nextInt(LAST_ORDINAL + 1));
      add(i % 3, i % 1_000, i % 2); // repeatedly: the later one is kept
    }
    check();
    table.clear();
    expected.clear();
    check();
    for (int i = 0; i < 1_000; i++) {
      add(random.nextLong(), i, 7);
    }
    check();
  }

  @Test
  void idsOfOneHashDoNotHideOneAnother() {
    long high = new SplittableRandom(IDENTITY).nextLong(); // the first word of the key
    assertEquals(secret.hash(high, 1, 2), secret.hash(high, 2, 2));
    for (int low = 0; low < 500; low++) {
      add(high, low, 2);
      add(high, low, 3);
    }
    check();
    for (int low = 0; low < 500; low++) {
      add(high, low, 2);
    }
    check();
  }

  /** A part has entries of all sizes in many chunks, and again after it was cleared. */
  @Test
  void aPartOfManyChunksEqualsAPlainMap() {
    for (int round = 0; round < 2; round++) {
      for (long low = 0; expected.size() < 2_000; low++) {
        if (secret.hash(1, low, 1) >>> 55 == 9) {
          add(1, low, 1);
        }
      }
      check();
      table.clear();
      expected.clear();
    }
  }

  @Test
  void itKnowsWhenItsIdsCame() {
    assertEquals(Long.MAX_VALUE, table.oldestMillis());
    assertEquals(Long.MIN_VALUE, table.newestMillis());
    for (int round = 0; round < 2; round++) {
      table.add(1, 1, IdTable.meta(1, IdTable.APPLIED, 0), 0, 0, 50, 7);
      table.add(2, 1, IdTable.meta(1, IdTable.APPLIED, 0), 0, 0, 90, 8);
      table.add(3, 1, IdTable.meta(1, IdTable.APPLIED, 0), 0, 0, 10, 9);
      table.add(4, 1, IdTable.meta(1, IdTable.APPLIED, 0), 0, 0, 60, 9);
      assertEquals(10, table.oldestMillis());
      assertEquals(90, table.newestMillis());
      assertEquals(7, table.firstFrame());
      assertEquals(9, table.lastFrame());
      table.clear();
      assertEquals(0, table.size());
      assertEquals(0, table.largestPart());
      assertEquals(Long.MAX_VALUE, table.oldestMillis());
      assertEquals(Long.MIN_VALUE, table.newestMillis());
    }
  }

  @Test
  void theKindTheOrdinalAndTheBoundsOfAnIdAreApart() {
    for (int ordinal : new int[] {0, 1, LAST_ORDINAL}) {
      for (int bounds : new int[] {0, 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
        for (int kind : new int[] {IdTable.APPLIED, IdTable.CANCELED}) {
          long meta = IdTable.meta(ordinal, kind, bounds);
          assertEquals(ordinal, IdTable.ordinal(meta));
          assertEquals(kind, IdTable.kind(meta));
          assertEquals(bounds, IdTable.boundsMark(meta));
        }
      }
    }
  }

  /**
   * A part grows by a quarter when between 0.8 and 0.92 of its slots are filled, or all but two.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 31, 32, 511})
  void eachPartGrowsAtALoadOfItsOwn(int part) {
    int slots = 8;
    int entries = 0;
    for (long low = 0; entries < 300; low++) {
      if (secret.hash(1, low, 1) >>> 55 == part) {
        boolean isFull = entries >= Math.min(slots * (205 + part % 32) / 256, slots - 2);
        add(1, low, 1);
        entries++;
        slots = isFull ? slots * 5 / 4 : slots;
        assertEquals(slots, table.slots(part), entries + " entries");
      }
    }
    check();
  }

  @Test
  void aFullTableHasFewFreeSlots() {
    int ids = 1 << 20;
    for (int reserved = 0; reserved < 2; reserved++) {
      IdTable full = new IdTable(secret, ids);
      if (reserved == 1) {
        full.reserve();
      }
      for (int low = 0; low < ids; low++) {
        full.add(1, low, IdTable.meta(1, IdTable.APPLIED, 0), 1, low, 0, 0);
      }
      int slots = IntStream.range(0, IdTable.PARTS).map(full::slots).sum();
      assertTrue(slots < ids * 1.25, slots + " slots");
    }
  }
}
