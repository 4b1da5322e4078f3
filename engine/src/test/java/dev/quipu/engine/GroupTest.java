package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** How much fits into a frame. */
final class GroupTest {
  private static final int CAPACITY = 4_096;
  private static final int MOST = CAPACITY - Frame.HEAD_BYTES - Frame.ALIGNMENT;

  private final State state = new State(7, 1_000, 1_000);
  private final Group group = new Group(ByteBuffer.allocate(CAPACITY));
  private final CounterTurn turn = new CounterTurn(state, group);

  GroupTest() {
    state.wallMillis = 1;
    group.begin(null);
  }

  @Test
  void anEmptyFrameTakesWhatCanEverFit() {
    for (int bytes : new int[] {0, 1, MOST}) {
      assertTrue(group.fits(bytes) && group.canEverFit(bytes) && turn.fits(bytes));
      assertTrue(turn.canEverFit(bytes));
    }
    assertFalse(group.fits(MOST + 1) || group.canEverFit(MOST + 1) || turn.fits(MOST + 1));
    assertFalse(turn.canEverFit(MOST + 1) || turn.canEverFit(-1));
    assertEquals(MOST / Records.COUNTER_RECORD_BYTES_MAX, group.room());
  }

  /** Values are written when the frame ends: one record for each counter, however often set. */
  @Test
  void whatIsWrittenAtTheEndIsCounted() {
    turn.set("a", 1);
    assertTrue(group.fits(1));
    int left = 0;
    while (group.fits(left + 1)) {
      left++;
    }
    turn.set("a", 2);
    assertTrue(group.fits(left) && !group.fits(left + 1));
    assertEquals(left / Records.COUNTER_RECORD_BYTES_MAX, group.room());
    assertTrue(group.canEverFit(MOST), "which is about an empty frame");
    while (group.fits(CounterTurn.bytesMax(1, 4))) {
      turn.set("c" + state.counters.size(), Long.MIN_VALUE);
    }
    assertTrue(group.end(new Frame(7), state, 0).limit() <= CAPACITY);
  }
}
