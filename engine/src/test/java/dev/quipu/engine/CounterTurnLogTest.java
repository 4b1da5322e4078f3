package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Reason;
import dev.quipu.Refusal;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.StoreException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What a turn answers, and that who reads its log answers the same. */
final class CounterTurnLogTest {
  private static final long NOW = 1_000;
  private static final RequestId ID = RequestId.of("one");
  private static final RequestId OTHER = RequestId.of("other");
  private static final byte[] TEXT = {'t'};

  private final State state = newState();
  private final Group group = new Group(ByteBuffer.allocate(1 << 16));
  private final CounterTurn turn = new CounterTurn(state, group);

  CounterTurnLogTest() {
    group.begin(null);
  }

  private static State newState() {
    State made = new State(7, 60_000, 1_000);
    made.wallMillis = NOW;
    return made;
  }

  /** Ends the frame, and lets another state read it. */
  private CounterTurn reread() {
    ByteBuffer out = group.end(new Frame(7), state, 0);
    Frame.Head head = Objects.requireNonNull(new Frame(7).read(out, 0));
    State read = newState();
    Records.read(out.slice(Frame.HEAD_BYTES, head.payloadBytes()), read);
    read.ready();
    Group empty = new Group(ByteBuffer.allocate(1 << 16));
    empty.begin(null);
    return new CounterTurn(read, empty);
  }

  private static AddResult applied(long added, long value) {
    return new AddResult.Applied(added, OptionalLong.of(value));
  }

  private static AddResult replayed(long added, long value) {
    return new AddResult.Replayed(added, OptionalLong.of(value));
  }

  private int place(String name) {
    return state.counters.find(name);
  }

  @Test
  void valuesAreInTheLogHoweverTheyCame() {
    turn.set("set", 1);
    turn.set("at", 1);
    turn.set("once", 1);
    assertEquals(applied(4, 4), turn.add(new Add("added", 4, null)));
    assertEquals(applied(5, 5), turn.add(new Add("with id", 5, ID)));
    turn.begin("begun", 6, ID);
    assertTrue(turn.addAt(place("at"), 7));
    assertTrue(turn.addOnceAt(place("once"), 8, ID.high(), ID.low()));
    for (CounterTurn each : List.of(turn, reread())) {
      assertEquals(OptionalLong.of(1), each.get("set"));
      assertEquals(OptionalLong.of(8), each.get("at"));
      assertEquals(OptionalLong.of(9), each.get("once"));
      assertEquals(OptionalLong.of(4), each.get("added"));
      assertEquals(OptionalLong.of(5), each.get("with id"));
      assertEquals(OptionalLong.of(6), each.get("begun"));
      assertEquals(replayed(5, 5), each.add(new Add("with id", 5, ID)));
      assertEquals(replayed(6, 6), each.add(new Add("begun", 6, ID)));
      assertEquals(replayed(8, 9), each.add(new Add("once", 8, ID)));
      assertEquals(6, each.size());
    }
  }

  /** Each may be the only one of its frame. */
  @Test
  void eachChangeCountsAsACommand() {
    turn.set("a", 1);
    assertEquals(1, group.commands());
    turn.add(new Add("a", 1, null));
    turn.addAt(0, 1);
    assertEquals(3, group.commands());
    turn.expire("a", NOW + 1);
    turn.expire("a", NOW + 1); // as it was, which the log need not say
    assertEquals(4, group.commands());
    turn.remove("a");
    turn.seal("a", ID);
    assertEquals(6, group.commands());
  }

  @Test
  void textsExpiriesAndRemovalsAreInTheLog() {
    turn.setText("text", TEXT);
    turn.set("expires", 1);
    assertTrue(turn.expire("expires", NOW + 1));
    turn.set("gone", 1);
    assertTrue(turn.remove("gone"));
    turn.set("was text", 1);
    turn.setText("was text", TEXT);
    turn.set("was text", 2);
    for (CounterTurn each : List.of(turn, reread())) {
      assertArrayEquals(TEXT, each.text("text"));
      assertEquals(OptionalLong.empty(), each.get("text"));
      assertEquals(NOW + 1, each.expiresAt("expires"));
      assertEquals(0, each.expiresAt("text"));
      assertFalse(each.exists("gone"));
      assertFalse(each.remove("gone") || each.expire("gone", NOW + 1));
      assertEquals(OptionalLong.of(2), each.get("was text"));
    }
  }

  @Test
  void sealsAreInTheLog() {
    assertEquals(new RequestOutcome.Sealed(), turn.seal("new", ID));
    assertEquals(0, turn.size(), "no counter comes of it");
    assertTrue(state.counters.isTombstone(place("new")));
    turn.add(new Add("a", 5, ID));
    assertEquals(new RequestOutcome.Sealed(), turn.seal("a", OTHER));
    assertFalse(state.counters.isTombstone(place("a")));
    RequestOutcome did = new RequestOutcome.Applied(5, OptionalLong.of(5));
    assertEquals(did, turn.seal("a", ID), "it is too late");
    for (CounterTurn each : List.of(turn, reread())) {
      assertEquals(new RequestOutcome.Sealed(), each.outcome("new", ID));
      assertEquals(new RequestOutcome.Sealed(), each.outcome("a", OTHER));
      assertEquals(did, each.outcome("a", ID));
      assertEquals(new RequestOutcome.NotSeen(), each.outcome("new", OTHER));
      assertEquals(new RequestOutcome.NotSeen(), each.outcome("nobody", ID));
      assertEquals(new AddResult.Refused(Refusal.SEALED, 0), each.add(new Add("new", 1, ID)));
      assertEquals(new AddResult.Refused(Refusal.SEALED, 5), each.add(new Add("a", 1, OTHER)));
    }
  }

  /** Whatever holds ids keeps its place for as long as they are remembered. */
  @Test
  void countersKnowThatTheyHaveIds() {
    turn.add(new Add("added", 5, ID));
    turn.seal("sealed", ID);
    turn.set("plain", 5);
    assertEquals(state.ids.epoch(), state.counters.epochOfIds(place("added")));
    assertEquals(state.ids.epoch(), state.counters.epochOfIds(place("sealed")));
    assertEquals(0, state.counters.epochOfIds(place("plain")));
  }

  @Test
  void whatWasRemovedWaitsToBeFreed() {
    turn.set("a", 1);
    turn.remove("a");
    assertTrue(state.counters.isTombstone(0));
    assertTrue(state.tombstones.mayFree(state.ids));
  }

  @Test
  void anotherRequestUnderTheSameIdIsAConflict() {
    turn.add(new Add("a", 5, Bounds.atMost(9), ID));
    assertEquals(replayed(5, 5), turn.add(new Add("a", 5, Bounds.atMost(9), ID)));
    assertEquals(new AddResult.Conflict(5), turn.add(new Add("a", 5, Bounds.atMost(8), ID)));
    assertEquals(new AddResult.Conflict(5), turn.add(new Add("a", 5, ID)));
    assertEquals(new AddResult.Conflict(5), turn.add(new Add("a", 4, Bounds.atMost(9), ID)));
    assertEquals(
        new AddResult.Refused(Refusal.CEILING, 5),
        turn.add(new Add("a", 5, Bounds.atMost(9), OTHER)));
    assertEquals(OptionalLong.of(5), turn.get("a"));
  }

  @Test
  void aSealedRequestOfATextIsRefusedWithoutAValue() {
    turn.set("a", 5);
    turn.seal("a", ID);
    turn.setText("a", TEXT);
    assertEquals(new AddResult.Refused(Refusal.SEALED, 0), turn.add(new Add("a", 1, ID)));
    assertThrows(IllegalArgumentException.class, () -> turn.add(new Add("a", 1, OTHER)));
    assertFalse(turn.isRepeat(new Add("a", 1, OTHER)));
    assertTrue(turn.isRepeat(new Add("a", 1, ID)));
  }

  /** What has expired is removed, and the log says so, before anything comes in its place. */
  @Test
  void whatExpiredLeavesNothingToItsSuccessor() {
    for (String name : List.of("set", "added", "text", "sealed")) {
      turn.set(name, 5);
      turn.expire(name, NOW + 1);
    }
    assertEquals(NOW, turn.nowMillis());
    state.wallMillis = NOW + 1;
    assertEquals(NOW + 1, turn.nowMillis());
    assertEquals(0, turn.expiresAt("set"));
    assertEquals(0, turn.version("set"));
    assertNull(turn.text("text"));
    assertFalse(turn.exists("set") || turn.expire("set", NOW + 9) || turn.remove("set"));
    turn.set("set", 1);
    turn.setText("text", TEXT);
    turn.seal("sealed", ID);
    assertEquals(applied(2, 2), turn.add(new Add("added", 2, null)));
    for (CounterTurn each : List.of(turn, reread())) {
      assertEquals(OptionalLong.of(1), each.get("set"));
      assertEquals(OptionalLong.of(2), each.get("added"));
      assertEquals(0, each.expiresAt("set"));
      assertEquals(0, each.expiresAt("text"));
      assertArrayEquals(TEXT, each.text("text"));
      assertFalse(each.exists("sealed"));
      assertEquals(3, each.size());
    }
  }

  /** What is counted one by one takes time, of which others are to have their part. */
  @Test
  void expiredCountersAreNotCountedAndLookedAtForIt() {
    for (int i = 0; i < 64; i++) {
      turn.set("c" + i, 1);
    }
    turn.expire("c0", NOW + 1);
    turn.expire("c1", NOW + 1);
    turn.expire("c2", NOW + 2);
    assertEquals(64, turn.size());
    assertEquals(0, turn.visited());
    state.wallMillis = NOW + 1;
    assertEquals(62, turn.size());
    assertEquals(4, turn.visited(), "one for sixteen of 64 counters");
    turn.visit(3);
    assertEquals(7, turn.visited());
  }

  @Test
  void nothingChangesWhileTheDiskTakesNothing() {
    turn.set("a", 1);
    turn.expire("a", NOW + 9);
    long changes = turn.changeCount();
    group.begin(StoreException.notApplied(Reason.FULL, "no room"));
    for (Runnable each :
        List.<Runnable>of(
            () -> turn.set("a", 2),
            () -> turn.set("new", 2),
            () -> turn.setText("a", TEXT),
            () -> turn.add(new Add("a", 1, null)),
            () -> turn.addAt(0, 1),
            () -> turn.addOnceAt(0, 1, 1, 1),
            () -> turn.begin("new", 1, ID),
            () -> turn.expire("a", NOW + 5),
            () -> turn.seal("a", ID),
            () -> turn.remove("a"))) {
      assertEquals("no room", assertThrows(StoreException.class, each::run).getMessage());
    }
    assertEquals(changes, turn.changeCount());
    assertEquals(OptionalLong.of(1), turn.get("a"));
    assertEquals(NOW + 9, turn.expiresAt("a"));
    assertEquals(1, turn.size());
    assertTrue(group.isEmpty());
  }

  @Test
  void everyChangeIsSeenByWhoWatches() {
    turn.watch("a");
    long seen = 0;
    for (Runnable each :
        List.<Runnable>of(
            () -> turn.set("a", 2),
            () -> turn.setText("a", TEXT),
            () -> turn.set("a", 3),
            () -> turn.add(new Add("a", 1, null)),
            () -> turn.expire("a", NOW + 5),
            () -> turn.seal("a", ID),
            () -> turn.remove("a"),
            () -> turn.begin("a", 1, OTHER))) {
      each.run();
      assertEquals(++seen, turn.changes("a"));
      assertFalse(state.isChanging);
    }
    assertEquals(seen, turn.watch("a"), "what a second one starts from");
    turn.unwatch("a");
    turn.unwatch("a");
    assertEquals(0, turn.changes("a"));
  }

  /** Signs that differ overflow nothing, whichever of them does. */
  @Test
  void sumsOf64BitsAreDoneAndNoOthersRefused() {
    long[][] sums = {{5, -10}, {-5, 3}, {-5, 10}, {5, -3}, {5, 3}, {-5, -3}, {0, -1}, {-1, 1}};
    for (long[] sum : sums) {
      turn.set("a", sum[0]);
      turn.set("b", sum[0]);
      assertTrue(turn.addAt(place("a"), sum[1]));
      RequestId id = RequestId.of(sum[0], sum[1]);
      assertTrue(turn.addOnceAt(place("b"), sum[1], id.high(), id.low()));
      assertEquals(OptionalLong.of(sum[0] + sum[1]), turn.get("a"));
      assertEquals(OptionalLong.of(sum[0] + sum[1]), turn.get("b"));
    }
  }

  @Test
  void aTextCountsForTheMemoryWithoutTheOneBefore() {
    turn.setText("a", new byte[1_000]);
    state.limitMemory(state.memoryBytes() + 100);
    turn.setText("a", new byte[1_100]);
    assertThrows(StoreException.class, () -> turn.setText("a", new byte[1_101]));
    turn.setText("a", new byte[1]);
    assertArrayEquals(new byte[1], turn.text("a"));
  }

  @Test
  void aCounterThatIsThereNeedsNoMemory() {
    turn.set("a", 1); // at the first place
    state.limitMemory(state.memoryBytes());
    turn.set("a", 2);
    assertEquals(applied(1, 3), turn.add(new Add("a", 1, null)));
    turn.requireMemory(List.of("a"));
    assertThrows(StoreException.class, () -> turn.requireMemory(List.of("b")));
  }

  @Test
  void theBytesOfAChangeAreAnnounced() {
    assertEquals(2 * 256 + 3 * 5, CounterTurn.bytesMax(2, 5));
    assertEquals(3 * 128, CounterTurn.endsBytesMax(3));
    assertEquals(Integer.MAX_VALUE, CounterTurn.endsBytesMax(1 << 25));
    assertEquals(Integer.MAX_VALUE, CounterTurn.bytesMax(1 << 25, Integer.MAX_VALUE));
    int most = (1 << 16) - Frame.HEAD_BYTES - Frame.ALIGNMENT;
    assertTrue(turn.fits(most) && turn.canEverFit(most) && turn.canEverFit(0));
    assertFalse(turn.fits(most + 1) || turn.canEverFit(most + 1) || turn.canEverFit(-1));
  }

  @Test
  void aRequestIsLookedAtAhead() {
    turn.add(new Add("a", 1, ID));
    long there = state.ids.touch(ID.high(), ID.low(), 0);
    assertTrue(there != 0);
    turn.touch(0, ID.high(), ID.low());
    turn.touch(0, ID.high(), ID.low());
    assertEquals(2 * there, state.touched);
  }
}
