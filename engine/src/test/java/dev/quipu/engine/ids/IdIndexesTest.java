package dev.quipu.engine.ids;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.environment.FileDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When an index ends, and when it is dropped. */
final class IdIndexesTest {
  private static final Secret SECRET = new Secret(3);
  private static final long SPAN = 1_000;
  private static final long LARGE = 1L << 30;

  @TempDir Path directory;

  @BeforeEach
  void create() throws IOException {
    Files.createDirectory(IdFiles.directory(directory));
  }

  /** Writes a table of ids of this number to a file; returns the number of its index. */
  private int sealed(IdIndexes indexes, long number, int count, long oldest, long newest)
      throws IOException {
    IdTable table = new IdTable(SECRET, count);
    for (int i = 0; i < count; i++) {
      long at = i == 0 ? oldest : newest;
      table.add(number, i, IdTable.meta(1, IdTable.APPLIED, 0), 1, i, at, number);
    }
    indexes.choose(table);
    assertFalse(has(indexes, number), "before it is written");
    IdFile unused = IdFiles.write(new FileDisk(), directory, table);
    assertTrue(has(indexes, number));
    return table.indexNumber();
  }

  private static boolean has(IdIndexes indexes, long number) {
    return indexes.mayHold(SECRET.hash(number, 0, 1));
  }

  @Test
  void anIndexEndsWhenItIsOld() throws IOException {
    IdIndexes indexes = new IdIndexes(LARGE, SPAN);
    assertEquals(2, sealed(indexes, 1, 2, 50, 100), "an empty one is not old");
    assertEquals(2, sealed(indexes, 2, 2, 100, 50 + SPAN));
    assertEquals(3, sealed(indexes, 3, 2, 100, 51 + SPAN));
    assertEquals(3, sealed(indexes, 4, 2, 100 + SPAN, 100 + SPAN));
    assertEquals(4, sealed(indexes, 5, 1, 101 + SPAN, 101 + SPAN));
    assertEquals(4, indexes.last());
    for (long number = 1; number <= 5; number++) {
      assertTrue(has(indexes, number));
    }
    assertTrue(indexes.cover(2) && indexes.cover(4));
    assertFalse(indexes.cover(1) || indexes.cover(IdIndexes.NONE));
  }

  @Test
  void anIndexIsDroppedWhenNoTableOrFileHasItsIds() throws IOException {
    IdIndexes indexes = new IdIndexes(LARGE, SPAN);
    for (int number = 1; number <= 3; number++) {
      long at = number * (2 * SPAN);
      assertEquals(1 + number, sealed(indexes, number, 10, at, at));
    }
    indexes.trim(2);
    assertTrue(has(indexes, 1) && has(indexes, 2) && has(indexes, 3));
    indexes.trim(4);
    assertFalse(has(indexes, 1) || has(indexes, 2));
    assertTrue(has(indexes, 3));
    assertTrue(indexes.cover(4) && !indexes.cover(3));
    indexes.trim(9);
    assertTrue(has(indexes, 3), "the last is never dropped");
    assertEquals(4, indexes.last());
  }

  @Test
  void theFirstIsDroppedForWantOfMemory() throws IOException {
    IdIndexes indexes = new IdIndexes(1_000_000, SPAN);
    assertEquals(2, sealed(indexes, 1, 40_000, 5, 5));
    assertEquals(2, sealed(indexes, 2, 60_000, 5, 5), "there is memory");
    assertEquals(3, sealed(indexes, 3, 90_000, 5, 5), "it has half of the memory");
    assertTrue(indexes.bytes() > 1_000_000);
    indexes.trim(2);
    assertFalse(has(indexes, 1) || has(indexes, 2));
    assertTrue(has(indexes, 3));
    assertFalse(indexes.cover(2));
    IdIndexes none = new IdIndexes(0, SPAN);
    assertEquals(3, sealed(none, 4, 10, 5, 5));
    none.trim(3);
    assertTrue(has(none, 4), "the last is never dropped");
  }

  @Test
  void theIndexOfFilesFoundAtTheStartIsTheFirst() {
    IdIndexes indexes = new IdIndexes(LARGE, SPAN);
    IdIndex before = new IdIndex();
    before.add(7L << 40);
    assertFalse(indexes.mayHold(7L << 40));
    assertTrue(indexes.addBefore(before));
    assertTrue(indexes.cover(IdIndexes.BEFORE));
    assertEquals(2, indexes.last());
    assertTrue(indexes.mayHold(7L << 40));
    assertFalse(indexes.addBefore(before), "there is one");
    indexes.trim(2);
    assertFalse(indexes.mayHold(7L << 40));
    assertFalse(indexes.cover(IdIndexes.BEFORE));
    assertFalse(indexes.addBefore(new IdIndex()), "which would not have the ids of the other");
  }
}
