package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.RequestId;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Every change of a counter is seen by who watches it, or its family; and nothing is kept. */
final class WatchesTest {
  private static final String MEMBER = "h" + CounterTurn.MEMBER + "field";

  private final State state = new State(7, 1_000_000, 1_000);
  private final Group group = new Group(ByteBuffer.allocate(1 << 20));
  private final CounterTurn turn = new CounterTurn(state, group);

  WatchesTest() {
    state.wallMillis = 1;
    group.begin(null);
  }

  @Test
  void changesOfTheCounterAreCounted() {
    assertEquals(0, turn.watch("a"));
    turn.set("a", 1);
    assertEquals(1, turn.changes("a"));
    turn.add(new Add("a", 1, RequestId.of(1, 1)));
    assertEquals(2, turn.changes("a"));
    int place = state.counters.find("a");
    assertTrue(turn.addAt(place, 1));
    assertTrue(turn.addOnceAt(place, 1, 2, 2));
    assertEquals(4, turn.changes("a"));
    assertTrue(turn.expire("a", 100));
    turn.setText("a", new byte[1]);
    assertTrue(turn.remove("a"));
    assertEquals(7, turn.changes("a"));
    turn.set("b", 1);
    turn.get("a");
    assertEquals(7, turn.changes("a"));
    assertEquals(0, turn.changes("b"), "nobody watches it");
  }

  @Test
  void changesOfMembersAreThoseOfTheFamily() {
    assertEquals(0, turn.watch("h"));
    assertEquals(0, turn.watch(MEMBER));
    turn.set(MEMBER, 1);
    turn.set("h" + CounterTurn.RANKED_MEMBER + "other", 1);
    turn.set("h" + MEMBER, 1);
    assertEquals(2, turn.changes("h"));
    assertEquals(1, turn.changes(MEMBER));
  }

  @Test
  void aWatchEndsWithTheLastWhoWatches() {
    long before = state.memoryBytes();
    assertTrue(state.watches.isEmpty());
    turn.watch("abc");
    assertFalse(state.watches.isEmpty());
    assertEquals(before + 128 + 6, state.memoryBytes());
    turn.set("abc", 1);
    long used = state.memoryBytes();
    assertEquals(1, turn.watch("abc"), "changes since the first");
    assertEquals(used, state.memoryBytes());
    turn.unwatch("abc");
    turn.set("abc", 2);
    assertEquals(2, turn.changes("abc"));
    turn.unwatch("abc");
    turn.unwatch("abc"); // nobody does: nothing happens
    assertEquals(0, turn.changes("abc"));
    assertTrue(state.watches.isEmpty());
    assertEquals(used - 134, state.memoryBytes());
    assertEquals(0, turn.watch("abc"));
  }

  @Test
  void theFamilyOfAMemberMayHaveNoName() {
    Watches watches = new Watches();
    assertEquals(0, watches.watch(""));
    watches.changed(CounterTurn.MEMBER + "field");
    watches.changed("other");
    assertEquals(1, watches.changes(""));
  }
}
