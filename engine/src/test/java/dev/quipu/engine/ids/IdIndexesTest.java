package dev.quipu.engine.ids;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** When an index ends, and when it is dropped. */
final class IdIndexesTest {
  private static final long SPAN = 1_000;
  private static final long LARGE = 1L << 30;

  private static void fill(IdIndexes indexes, long seed, int count) {
    new Random(seed).longs(count).forEach(hash -> indexes.add(hash, 5));
  }

  private static boolean has(IdIndexes indexes, long seed) {
    return indexes.mayHold(new Random(seed).nextLong());
  }

  @Test
  void anIndexEndsWhenItIsOld() {
    IdIndexes indexes = new IdIndexes(LARGE, SPAN);
    indexes.advance(10_000);
    assertEquals(2, indexes.current(), "an empty one is not old");
    indexes.add(1L << 40, 100);
    indexes.add(2L << 40, 50);
    indexes.advance(50 + SPAN);
    assertEquals(2, indexes.current());
    indexes.advance(51 + SPAN);
    assertEquals(3, indexes.current());
    indexes.advance(100_000);
    assertEquals(3, indexes.current());
    indexes.add(3L << 40, 100_000);
    for (long each = 1; each <= 3; each++) {
      assertTrue(indexes.mayHold(each << 40));
      assertTrue(indexes.cover((int) Math.min(3, each + 1)));
    }
    assertFalse(indexes.cover(1) || indexes.cover(IdIndexes.NONE));
  }

  @Test
  void anIndexIsDroppedWhenNoTableOrFileHasItsIds() {
    IdIndexes indexes = new IdIndexes(LARGE, SPAN);
    for (int i = 0; i < 3; i++) {
      fill(indexes, i, 10);
      indexes.advance(6 + SPAN);
    }
    assertEquals(5, indexes.current());
    indexes.trim(2, 5);
    assertTrue(has(indexes, 0) && has(indexes, 1) && has(indexes, 2));
    indexes.trim(4, 5);
    assertFalse(has(indexes, 0) || has(indexes, 1));
    assertTrue(has(indexes, 2));
    assertTrue(indexes.cover(4) && !indexes.cover(3));
    assertEquals(5, indexes.current());
  }

  @Test
  void theFirstIsDroppedForWantOfMemoryButNotIfATableNeedsIt() {
    IdIndexes indexes = new IdIndexes(1_000_000, SPAN);
    fill(indexes, 0, 40_000);
    indexes.advance(5);
    assertEquals(2, indexes.current(), "there is memory");
    fill(indexes, 1, 60_000);
    indexes.advance(5);
    assertEquals(3, indexes.current(), "it has half of the memory");
    fill(indexes, 2, 80_000);
    assertTrue(indexes.bytes() > 1_000_000);
    indexes.trim(2, 2);
    assertTrue(has(indexes, 0), "a table needs it");
    indexes.trim(2, 3);
    assertFalse(has(indexes, 0) || has(indexes, 1));
    assertTrue(has(indexes, 2));
    assertFalse(indexes.cover(2));
    indexes.trim(3, 3);
    assertTrue(has(indexes, 2), "the last is never dropped");
  }

  @Test
  void theIndexOfFilesFoundAtTheStartIsTheFirst() {
    IdIndexes indexes = new IdIndexes(LARGE, SPAN);
    IdIndex before = new IdIndex();
    before.add(7L << 40);
    assertFalse(indexes.mayHold(7L << 40));
    assertTrue(indexes.addBefore(before));
    assertTrue(indexes.cover(IdIndexes.BEFORE));
    assertEquals(2, indexes.current());
    assertTrue(indexes.mayHold(7L << 40));
    assertFalse(indexes.addBefore(before), "there is one");
    indexes.trim(2, 2);
    assertFalse(indexes.mayHold(7L << 40));
    assertFalse(indexes.cover(IdIndexes.BEFORE));
    assertFalse(indexes.addBefore(new IdIndex()), "which would not have the ids of the other");
  }
}
