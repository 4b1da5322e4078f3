package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Objects;
import org.junit.jupiter.api.Test;

/** When a generation of ids ends, how long it is remembered, and how many wait for the disk. */
final class RequestIdsTest {
  private static final long WINDOW = 8_000;
  private static final int TABLE_MAX = 4;
  private static final long START = 1_000_000;

  private final RequestIds ids = new RequestIds(new Secret(3), WINDOW, TABLE_MAX);
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
    IdTable cleared = new IdTable(new Secret(3));
    ids.reuse(cleared);
    add(2, START);
    ids.rotate();
    assertEquals(0, cleared.size());
    add(3, START);
    assertEquals(1, cleared.size(), "it takes what comes now");
    assertSame(first, ids.nextWaiting(), "the oldest is next");
    assertNotEquals(first, cleared);
  }
}
