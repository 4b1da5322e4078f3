package dev.quipu.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.RequestId;
import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.TestOperation;
import dev.quipu.engine.commit.Group;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Every change of a counter is seen by watchers of it or its family; and nothing is leaked. */
final class WatchesTest {
  private static final String MEMBER = "h" + CounterAccess.MEMBER + "field";

  private final State state = new State(7, 1_000_000, 1_000, 0);
  private final Group group = new Group(ByteBuffer.allocate(1 << 20), new Followers());
  private final CounterAccess access = TestOperation.access(state, group);

  WatchesTest() {
    state.wallMillis = 1;
    group.begin(null);
  }

  @Test
  void changesOfTheCounterAreCounted() {
    assertEquals(0, access.watch("a"));
    access.set("a", 1);
    assertEquals(1, access.changes("a"));
    access.add(new Add("a", 1, RequestId.of(1, 1)));
    assertEquals(2, access.changes("a"));
    int place = state.counters.find("a");
    assertTrue(access.addAt(place, 1));
    assertTrue(access.addOnceAt(place, 1, 2, 2));
    assertEquals(4, access.changes("a"));
    assertTrue(access.expire("a", 100));
    access.setText("a", new byte[1]);
    assertTrue(access.remove("a"));
    assertEquals(7, access.changes("a"));
    access.set("b", 1);
    access.get("a");
    assertEquals(7, access.changes("a"));
    assertEquals(0, access.changes("b"), "nobody watches it");
  }

  @Test
  void changesOfMembersAreThoseOfTheFamily() {
    assertEquals(0, access.watch("h"));
    assertEquals(0, access.watch(MEMBER));
    access.set(MEMBER, 1);
    access.set("h" + CounterAccess.RANKED_MEMBER + "other", 1);
    access.set("h" + MEMBER, 1);
    assertEquals(2, access.changes("h"));
    assertEquals(1, access.changes(MEMBER));
  }

  @Test
  void aWatchEndsWithItsLastWatcher() {
    long before = state.memoryBytes();
    assertTrue(state.watches.isEmpty());
    access.watch("abc");
    assertFalse(state.watches.isEmpty());
    assertEquals(before + 128 + 6, state.memoryBytes());
    access.set("abc", 1);
    long used = state.memoryBytes();
    assertEquals(1, access.watch("abc"), "changes since the first");
    assertEquals(used, state.memoryBytes());
    access.unwatch("abc");
    access.set("abc", 2);
    assertEquals(2, access.changes("abc"));
    access.unwatch("abc");
    access.unwatch("abc"); // nothing watched: no effect
    assertEquals(0, access.changes("abc"));
    assertTrue(state.watches.isEmpty());
    assertEquals(used - 134, state.memoryBytes());
    assertEquals(0, access.watch("abc"));
  }

  @Test
  void theFamilyOfAMemberMayHaveNoName() {
    Watches watches = new Watches();
    assertEquals(0, watches.watch(""));
    watches.changed(CounterAccess.MEMBER + "field");
    watches.changed("other");
    assertEquals(1, watches.changes(""));
  }
}
