package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.time.Randomness;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Entries of a table of ids, in the order of a file. */
final class IdSorterTest {
  private static final int ENTRIES = 300_000;

  /**
   * Enough entries that some agree in the upper half of their hash, by which they are sorted first.
   */
  @Test
  void entriesAreSortedByTheirWholeHashWithoutSign() {
    RandomGenerator random = Randomness.seeded(7);
    Secret secret = new Secret(11);
    IdTable table = new IdTable(secret);
    Map<Long, long[]> byHash = new HashMap<>();
    for (int i = 0; i < ENTRIES; i++) {
      long high = random.nextLong();
      long low = random.nextLong();
      long meta = IdTable.meta(i, IdTable.APPLIED, 0);
      table.add(high, low, meta, i, -i, 0, 0);
      byHash.put(secret.hash(high, low, i), new long[] {high, low, meta, i, -i});
    }
    assertEquals(ENTRIES, byHash.size());
    Long[] hashes = byHash.keySet().toArray(Long[]::new);
    Arrays.sort(hashes, Long::compareUnsigned);
    IdSorter sorter = new IdSorter(secret, table.largestPart());
    int at = 0;
    int agreeing = 0;
    for (int part = 0; part < IdTable.PARTS; part++) {
      int count = sorter.sort(table, part);
      for (int i = 0; i < count; i++, at++) {
        long[] entry =
            Arrays.copyOfRange(sorter.sorted(), i * IdTable.STRIDE, (i + 1) * IdTable.STRIDE);
        assertEquals(hashes[at], sorter.hashAt(entry, 0), "entry " + at);
        assertEquals(
            Arrays.toString(byHash.get(hashes[at])), Arrays.toString(entry), "entry " + at);
        agreeing += i > 0 && hashes[at] >>> 32 == hashes[at - 1] >>> 32 ? 1 : 0;
      }
    }
    assertEquals(ENTRIES, at);
    assertTrue(agreeing > 3, "agreeing: " + agreeing);
  }
}
