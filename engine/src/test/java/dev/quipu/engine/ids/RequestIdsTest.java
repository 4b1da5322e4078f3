package dev.quipu.engine.ids;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.environment.FileDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When a generation of ids ends, how long it is remembered, and how many wait for the disk. */
final class RequestIdsTest {
  private static final long WINDOW = 8_000;
  private static final int TABLE_MAX = 4;
  private static final long START = 1_000_000;

  @TempDir Path directory;
  private RequestIds ids = new RequestIds(new Secret(3), WINDOW, TABLE_MAX, 0);
  private final long[] entry = new long[IdTable.STRIDE];

  private void add(long id, long atMillis) {
    ids.add(id, id, IdTable.meta(1, IdTable.APPLIED, 0), id, 2 * id, atMillis, id);
  }

  private boolean isFound(long id, long nowMillis) {
    return ids.find(id, id, 1, nowMillis, entry);
  }

  @Test
  void anEighthOfTheWindowEndsAGeneration() {
    assertFalse(ids.advance(START), "an empty one never ends");
    add(1, START);
    add(2, START + 900);
    assertFalse(ids.advance(START + 1_000));
    assertEquals(0, ids.waiting());
    assertNull(ids.nextWaiting());
    assertTrue(ids.advance(START + 1_001));
    assertEquals(1, ids.waiting());
    assertEquals(2, Objects.requireNonNull(ids.nextWaiting()).size());
    assertTrue(ids.advance(START + 1_001), "it still waits");
    assertEquals(1, ids.waiting());
    assertEquals(2, ids.size());
    assertTrue(isFound(1, START + 1_001));
  }

  @Test
  void anIdIsRememberedForTheWindowAndAnEighthOfItAtMost() {
    add(1, START);
    assertTrue(isFound(1, START + WINDOW + 1_000));
    assertEquals(1, entry[3]);
    assertEquals(2, entry[4]);
    assertFalse(isFound(1, START + WINDOW + 1_001));
    assertFalse(isFound(2, START));
    ids.rotate();
    assertTrue(isFound(1, START + WINDOW + 1_000));
    assertFalse(isFound(1, START + WINDOW + 1_001));
  }

  @Test
  void aFullTableEndsItsGenerationUntilTooManyWait() {
    long next = 0;
    for (int table = 1; table <= RequestIds.WAITING_MAX; table++) {
      for (int i = 0; i < TABLE_MAX; i++) {
        assertEquals(table - 1, ids.waiting());
        add(next++, START);
        assertTrue(ids.hasRoom());
        boolean unused = ids.advance(START);
      }
      assertEquals(table, ids.waiting());
    }
    for (int i = 0; i < TABLE_MAX; i++) {
      assertTrue(ids.hasRoom());
      add(next++, START);
      boolean unused = ids.advance(START);
    }
    assertFalse(ids.hasRoom(), "the disk has not taken the others");
    assertEquals(RequestIds.WAITING_MAX, ids.waiting());
    assertEquals(next, ids.size());
    for (long id = 0; id < next; id++) {
      assertTrue(isFound(id, START), "id " + id);
    }
  }

  @Test
  void generationsHaveEpochsOnceAllWasRead() {
    assertEquals(RequestIds.EPOCH_BEFORE, ids.epoch());
    add(1, START);
    ids.rotate();
    assertEquals(RequestIds.EPOCH_BEFORE, ids.epoch(), "while the disk is read");
    ids.ready();
    add(2, START);
    ids.rotate();
    assertEquals(1, ids.epoch());
    assertTrue(ids.isLive(RequestIds.EPOCH_BEFORE) && ids.isLive(1));
    assertFalse(ids.isLive(0) || ids.isLive(2));
    for (int i = 1; i < RequestIds.EPOCH_BEFORE; i++) {
      assertEquals(i, ids.epoch());
      add(2 + i, START);
      ids.rotate();
    }
    assertEquals(1, ids.epoch(), "the number of the ids from before is not given again");
  }

  @Test
  void aClearedTableIsUsedForTheNextGeneration() {
    add(1, START);
    ids.rotate();
    IdTable first = ids.nextWaiting();
    IdTable cleared = new IdTable(new Secret(3), 1 << 16);
    ids.reuse(cleared);
    add(2, START);
    ids.rotate();
    assertEquals(0, cleared.size());
    add(3, START);
    assertEquals(1, cleared.size(), "it takes what comes now");
    assertSame(first, ids.nextWaiting(), "the oldest is next");
    assertNotEquals(first, cleared);
  }

  private IdFile write(IdTable table) throws IOException {
    return IdFiles.write(new FileDisk(), directory, table);
  }

  /** Creates a file with one id of this number, which is also its frame. */
  private IdFile file(long id, long atMillis) throws IOException {
    IdTable table = new IdTable(new Secret(3), 1 << 16);
    table.add(id, id, IdTable.meta(1, IdTable.APPLIED, 0), id, 2 * id, atMillis, id);
    return write(table);
  }

  private void sealNext() throws IOException {
    IdTable next = Objects.requireNonNull(ids.nextWaiting());
    ids.sealed(next, write(next));
  }

  @Test
  void aFileTakesThePlaceOfItsTable() throws IOException {
    Files.createDirectory(IdFiles.directory(directory));
    ids.ready();
    for (long id = 1; id <= 3; id++) {
      add(id, START + id);
      ids.rotate();
    }
    sealNext();
    sealNext();
    assertEquals(1, ids.waiting());
    assertEquals(2, ids.files().size());
    assertEquals(3, ids.size());
    for (long id = 1; id <= 3; id++) {
      assertTrue(isFound(id, START + 10));
      assertEquals(2 * id, entry[4]);
    }
    assertFalse(isFound(4, START + 10));
    assertFalse(ids.find(1, 1, 2, START + 10, entry), "of another counter");
    assertTrue(isFound(1, START + 1 + WINDOW + 1_000));
    assertFalse(isFound(1, START + 1 + WINDOW + 1_001));
    assertTrue(isFound(2, START + 1 + WINDOW + 1_001));
  }

  @Test
  void aGenerationIsLiveUntilItsFileIsDropped() throws IOException {
    Files.createDirectory(IdFiles.directory(directory));
    ids.ready();
    add(1, START);
    ids.rotate();
    add(2, START + 1);
    ids.rotate();
    add(3, START + 2);
    ids.rotate(); // the epochs are 255, 1 and 2
    sealNext();
    sealNext();
    assertEquals(3, ids.epoch());
    assertTrue(ids.isLive(RequestIds.EPOCH_BEFORE) && ids.isLive(1) && ids.isLive(2));
    assertEquals(List.of(), ids.forgotten(START + WINDOW + 1_000));
    List<IdFile> forgotten = ids.forgotten(START + WINDOW + 1_001);
    assertEquals(List.of(ids.files().getFirst()), forgotten);
    assertEquals(2, ids.files().size(), "they are not dropped yet");
    ids.drop(forgotten);
    assertFalse(ids.isLive(RequestIds.EPOCH_BEFORE));
    assertTrue(ids.isLive(1) && ids.isLive(2) && ids.isLive(3));
    assertEquals(2, ids.size());
    ids.drop(ids.files());
    assertFalse(ids.isLive(1));
    assertTrue(ids.isLive(2), "which waits for the disk");
  }

  @Test
  void filesFoundAtTheStartAreInOrderOfTheirFrames() throws IOException {
    Files.createDirectory(IdFiles.directory(directory));
    IdFile five = file(5, START);
    IdFile seven = file(7, START);
    IdFile nine = file(9, START);
    ids.add(seven);
    ids.add(five);
    ids.add(nine);
    assertEquals(List.of(five, seven, nine), ids.files());
    assertFalse(isInLaterFile(5, 5));
    assertTrue(isInLaterFile(5, 4));
    assertTrue(isInLaterFile(7, 6));
    assertFalse(isInLaterFile(7, 7), "it lies in the file of that frame");
    assertTrue(isInLaterFile(9, 7));
    assertFalse(isInLaterFile(8, 0));
    ids.ready();
    add(10, START);
    ids.rotate();
    assertTrue(ids.isLive(RequestIds.EPOCH_BEFORE));
    ids.drop(List.of(seven, five));
    assertTrue(ids.isLive(RequestIds.EPOCH_BEFORE));
    sealNext();
    ids.drop(ids.files());
    assertFalse(ids.isLive(RequestIds.EPOCH_BEFORE));
  }

  private boolean isInLaterFile(long id, long frame) {
    return ids.isInLaterFile(id, id, 1, frame, entry);
  }

  @Test
  void theNewestOfTwoIsFound() throws IOException {
    Files.createDirectory(IdFiles.directory(directory));
    for (int value = 1; value <= 4; value++) {
      ids.add(1, 1, IdTable.meta(1, IdTable.APPLIED, 0), 0, value, START, value);
      assertTrue(isFound(1, START));
      assertEquals(value, entry[4]);
      if (value < 4) {
        ids.rotate();
        assertTrue(isFound(1, START));
        assertEquals(value, entry[4]);
      }
    }
    ids.rotate();
    while (ids.waiting() > 0) {
      sealNext();
      assertTrue(isFound(1, START));
      assertEquals(4, entry[4]);
    }
  }

  private long readAhead(long low) {
    long before = ids.touched();
    ids.expect(1, low, 1);
    ids.readAhead();
    return ids.touched() - before;
  }

  /** The slots of the tables and of the index; of files, those that the index does not cover. */
  @Test
  void readingAheadReadsTablesTheIndexAndFilesThatItDoesNotCover() throws IOException {
    Files.createDirectory(IdFiles.directory(directory));
    ids = new RequestIds(new Secret(3), WINDOW, TABLE_MAX, 1 << 20);
    assertEquals(0, readAhead(1));
    add(1, START);
    long inTable = readAhead(1);
    assertNotEquals(0, inTable);
    assertEquals(inTable, readAhead(1));
    ids.rotate();
    assertEquals(inTable, readAhead(1), "in the table that waits");
    sealNext();
    long indexed = readAhead(1);
    assertNotEquals(0, indexed);
    assertNotEquals(indexed, inTable);
    IdFile before = file(1, START);
    ids.add(before);
    long[] hash = {new Secret(3).hash(1, 1, 1)};
    assertEquals(indexed + before.filter().touch(hash, 1), readAhead(1));
  }

  /** What was read ahead is about the files of then: an id that gets into a file later is found. */
  @Test
  void anIdThatIsSealedAfterReadingAheadIsFound() throws IOException {
    Files.createDirectory(IdFiles.directory(directory));
    add(1, START);
    ids.rotate();
    sealNext();
    long unused = readAhead(2);
    assertFalse(isFound(2, START), "from what was read ahead");
    add(2, START);
    ids.rotate();
    assertTrue(isFound(2, START), "in the table");
    sealNext();
    assertTrue(isFound(2, START), "in the file");
    for (int low = 1; low < 200; low++) {
      ids.expect(1, low, 1); // more than it keeps
    }
    ids.readAhead();
    assertTrue(isFound(1, START) && isFound(2, START) && !isFound(3, START));
    for (int low : new int[] {2, 2, 1}) { // as often as needed, in any order
      assertTrue(isFound(low, START));
    }
  }

  /** Files of which no index knows are looked up by their filters. */
  @Test
  void idsOfFilesFoundAtTheStartAreFoundWithAnIndexAndWithout() throws IOException {
    Files.createDirectory(IdFiles.directory(directory));
    RequestIds some = new RequestIds(new Secret(3), WINDOW, TABLE_MAX, 2 * 2 * 8);
    IdFile five = file(5, START);
    IdFile seven = file(7, START);
    IdFile nine = file(9, START);
    for (IdFile each : List.of(five, seven, nine)) {
      some.add(each);
    }
    some.add(11, 11, IdTable.meta(1, IdTable.APPLIED, 0), 11, 22, START, 11);
    assertFound(some, List.of(5L, 7L, 9L, 11L));
    assertEquals(List.of(nine, seven), some.unindexed(), "the newest, for which there is memory");
    assertEquals(List.of(), ids.unindexed(), "without memory, none");
    IdIndex index = Objects.requireNonNull(IdIndex.of(some.unindexed(), new Secret(3), () -> true));
    assertTrue(some.indexed(List.of(nine, seven), index));
    assertEquals(List.of(), some.unindexed());
    assertFound(some, List.of(5L, 7L, 9L, 11L));
    some.rotate(); // for which there is no memory then: the index of files is dropped
    assertEquals(IdIndexes.BEFORE, nine.index());
    assertFound(some, List.of(5L, 7L, 9L, 11L));
    assertFalse(some.indexed(List.of(five), index), "too late");
    assertFound(some, List.of(5L, 7L, 9L, 11L));
  }

  private void assertFound(RequestIds where, List<Long> expected) {
    for (int ahead = 0; ahead < 2; ahead++) {
      for (long id = 1; id < 20; id++) {
        if (ahead == 1) {
          where.expect(id, id, 1);
          where.readAhead();
        }
        assertEquals(
            expected.contains(id), where.find(id, id, 1, START, entry), "id " + id + ", " + ahead);
      }
    }
  }

  /** Each table has another index, since there is no memory for more. */
  @Test
  void idsWithoutAnIndexAreFoundUntilTheyAreForgotten() throws IOException {
    Files.createDirectory(IdFiles.directory(directory));
    for (long id = 1; id <= 6; id++) {
      add(id, START + id * 1_000);
      ids.rotate();
      if (id > 2) {
        sealNext();
      }
    }
    assertEquals(2, ids.waiting());
    for (long id = 1; id <= 6; id++) {
      assertTrue(isFound(id, START + 6_000), "id " + id);
    }
    IdFile merged = merged(ids.files());
    assertTrue(ids.merged(ids.files(), merged));
    for (long id = 1; id <= 6; id++) {
      assertTrue(isFound(id, START + 6_000), "id " + id);
      assertFalse(isFound(id + 10, START + 6_000));
    }
  }

  private IdFile merged(List<IdFile> files) throws IOException {
    return Objects.requireNonNull(
        new IdMerge(new FileDisk(), directory, 3).merge(files, () -> true));
  }

  @Test
  void aGenerationWithoutIdsDoesNotEnd() {
    ids.rotate();
    assertEquals(0, ids.waiting());
    add(1, START);
    for (int i = 0; i < RequestIds.WAITING_MAX; i++) {
      ids.rotate();
      add(2 + i, START);
    }
    assertEquals(RequestIds.WAITING_MAX, ids.waiting());
    assertTrue(ids.hasRoom(), "in the active table");
    assertTrue(ids.advance(START + 1_001), "an old table goes on taking what comes");
  }
}
