package dev.quipu.engine.ids;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.time.Randomness;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Entries of a table of ids, in file order. */
final class IdSorterTest {
  private static final int ENTRIES = 300_000;

  /** Enough entries that some have equal upper halves of their hashes, which select slots. */
  @Test
  void entriesAreSortedByTheirWholeHashWithoutSign() {
    RandomGenerator random = Randomness.seeded(7);
    Secret secret = new Secret(11);
    IdTable table = new IdTable(secret, 1 << 16);
    Map<Long, long[]> byHash = new HashMap<>();
    for (int i = 0; i < ENTRIES; i++) {
      long high = random.nextLong();
      long low = random.nextLong();
      long meta = IdTable.meta(i, IdTable.APPLIED, 0);
      table.add(high, low, meta, i, -i, 0, 0);
      byHash.put(secret.hash(high, low, i), new long[] {high, low, meta, i, -i});
    }
    assertEquals(ENTRIES, byHash.size());
    int agreeing = check(table, byHash);
    assertTrue(agreeing > 3, "agreeing: " + agreeing);
  }

  /** Pairs of them; two parts have two. */
  @Test
  void entriesThatAgreeInTheUpperHalfAreInOrderOfTheLower() {
    int[] lows = {
      53_648, 127_597, 81_967, 150_061, 96_585, 163_693, 31_860, 215_649, 52_108, 217_220, 13_963,
      222_902, 32_808, 242_919, 104_212, 253_126, 1, 2, 3, 4, 5, 6, 7, 8, 9
    };
    for (boolean backwards : new boolean[] {false, true}) {
      Secret secret = new Secret(11);
      IdTable table = new IdTable(secret, 1 << 16);
      Map<Long, long[]> byHash = new HashMap<>();
      for (int i = 0; i < lows.length; i++) {
        long low = lows[backwards ? lows.length - 1 - i : i];
        long meta = IdTable.meta(1, IdTable.CANCELED, 0);
        table.add(0, low, meta, i, -i, 0, 0);
        byHash.put(secret.hash(0, low, 1), new long[] {0, low, meta, i, -i});
      }
      assertEquals(8, check(table, byHash));
    }
  }

  /**
   * Compares all parts with the order of all hashes; returns how many are equal to the previous
   * one.
   */
  private static int check(IdTable table, Map<Long, long[]> byHash) {
    Long[] hashes = byHash.keySet().toArray(Long[]::new);
    Arrays.sort(hashes, Long::compareUnsigned);
    IdSorter sorter = new IdSorter(table.largestPart());
    int at = 0;
    int agreeing = 0;
    for (int part = 0; part < IdTable.PARTS; part++) {
      int count = sorter.sort(table, part);
      for (int i = 0; i < count; i++, at++) {
        long[] entry = table.entry(part, sorter.slot(i));
        assertEquals(hashes[at], sorter.hash(i), "entry " + at);
        assertEquals(
            Arrays.toString(byHash.get(hashes[at])), Arrays.toString(entry), "entry " + at);
        agreeing += i > 0 && hashes[at] >>> 32 == hashes[at - 1] >>> 32 ? 1 : 0;
      }
    }
    assertEquals(byHash.size(), at);
    return agreeing;
  }
}
