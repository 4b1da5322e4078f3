package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.RequestId;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Outcome;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import dev.quipu.store.Version;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What clients make the engine keep, and what of it is rejected. */
final class StateTest {
  private static final Key KEY = new Key("p", "s");

  private final State state = new State(7, 1_000, 1_000);
  private final Group group = new Group(ByteBuffer.allocate(1 << 16));
  private final CounterTurn turn = new CounterTurn(state, group);

  StateTest() {
    state.wallMillis = 1;
    group.begin(null);
  }

  private static Optional<Item> item(int length) {
    Map<String, Field> fields = Map.of("f", new Field.Text("x".repeat(length)));
    return Optional.of(new Item(KEY, fields, new Version("1"), Optional.empty()));
  }

  @Test
  void itemsCountForTheMemoryAsLongAsTheyAreThere() {
    long before = state.memoryBytes();
    state.setItem(KEY, item(1_000));
    long small = state.memoryBytes() - before;
    assertTrue(small >= 2 * 1_000 && small < 7_000, "bytes: " + small);
    state.setItem(KEY, item(2_000));
    long large = state.memoryBytes() - before;
    assertEquals(small + 6_000, large, "in the place of the other: a char may take 3 bytes");
    state.setItem(KEY, Optional.empty());
    assertEquals(before, state.memoryBytes());
  }

  @Test
  void whatIsAboveTheLimitIsRejectedAndNothingElse() {
    long limit = 5L << 20;
    state.limitMemory(limit);
    long left = limit - state.memoryBytes();
    assertDoesNotThrow(() -> state.requireMemory(left));
    StoreException why = assertThrows(StoreException.class, () -> state.requireMemory(left + 1));
    assertEquals(Outcome.NOT_APPLIED, why.outcome());
    assertEquals(Reason.FULL, why.reason());
    assertTrue(why.getMessage().contains("the limit is 5 MiB"), why.getMessage());
    state.limitMemory(0);
    assertDoesNotThrow(() -> state.requireMemory(0), "what takes no more is let through");
    assertDoesNotThrow(() -> state.requireMemory(-1));
  }

  @Test
  void severalNamesAreRejectedTogether() {
    turn.set("a", 1);
    state.limitMemory(state.memoryBytes() + CounterTable.memoryBytes("b"));
    assertDoesNotThrow(() -> turn.requireMemory(List.of("a", "b")));
    assertThrows(StoreException.class, () -> turn.requireMemory(List.of("b", "c")));
    assertThrows(StoreException.class, () -> turn.setText("a", new byte[10_000]));
    assertEquals(1, turn.get("a").orElseThrow());
    turn.set("b", 2);
    assertThrows(StoreException.class, () -> turn.set("c", 3));
    assertThrows(StoreException.class, () -> turn.seal("c", RequestId.of("x")));
    assertThrows(StoreException.class, () -> turn.watch("w".repeat(500)));
  }

  @Test
  void aChangeThatHasBegunIsSeen() {
    long before = state.changes;
    state.beginChange();
    assertTrue(state.isChanging);
    assertEquals(before + 1, state.changes);
    state.endChange();
    assertTrue(!state.isChanging);
    for (Runnable each :
        List.<Runnable>of(
            () -> turn.set("a", 1),
            () -> turn.addAt(0, 1),
            () -> turn.addOnceAt(0, 1, 1, 1),
            () -> turn.expire("a", 100),
            () -> turn.setText("a", new byte[1]),
            () -> turn.seal("a", RequestId.of("x")),
            () -> turn.remove("a"))) {
      long changes = state.changes;
      each.run();
      assertEquals(changes + 1, state.changes);
      assertTrue(!state.isChanging);
    }
  }
}
