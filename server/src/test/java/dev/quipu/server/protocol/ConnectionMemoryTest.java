package dev.quipu.server.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.server.net.MemoryBudget;
import org.junit.jupiter.api.Test;

/** Reservations of a connection in a budget that others use up. */
final class ConnectionMemoryTest {
  private static final long LIMIT = 1 << 20;
  private static final long REPLY = 400 << 10;

  private final MemoryBudget budget = new MemoryBudget(LIMIT);
  private final ConnectionMemory memory = new ConnectionMemory(budget, LIMIT);

  @Test
  void aReplyIsReservedFromWhenItIsCollectedUntilItIsRead() {
    assertEquals(ConnectionMemory.Room.TAKEN, memory.collect(REPLY));
    assertTrue(budget.tryReserve(LIMIT - budget.usedBytes()));
    assertEquals(REPLY, memory.keep(REPLY));
    assertEquals(LIMIT, budget.usedBytes());
    memory.give(REPLY);
    assertEquals(LIMIT - (REPLY - ConnectionMemory.FREE_BYTES), budget.usedBytes());
  }

  @Test
  void collectedBytesThatAreNotKeptAreReleased() {
    assertEquals(ConnectionMemory.Room.TAKEN, memory.collect(REPLY));
    assertEquals(REPLY / 2, memory.keep(REPLY / 2));
    assertEquals(REPLY / 2 - ConnectionMemory.FREE_BYTES, budget.usedBytes());
    assertEquals(ConnectionMemory.Room.TAKEN, memory.collect(REPLY / 2));
    assertEquals(0, memory.keep(0));
    assertEquals(REPLY / 2 - ConnectionMemory.FREE_BYTES, budget.usedBytes());
  }

  /** The reply exists already: what was collected for it must not go to another connection. */
  @Test
  void whatIsCollectedStaysReservedIfTheRestIsOverTheBudget() {
    assertEquals(ConnectionMemory.Room.TAKEN, memory.collect(REPLY));
    assertTrue(budget.tryReserve(LIMIT - budget.usedBytes()));
    assertEquals(REPLY, memory.keep(REPLY + ConnectionMemory.FREE_BYTES));
    assertEquals(LIMIT, budget.usedBytes());
    memory.give(REPLY);
    assertEquals(LIMIT - (REPLY - ConnectionMemory.FREE_BYTES), budget.usedBytes());
  }
}
