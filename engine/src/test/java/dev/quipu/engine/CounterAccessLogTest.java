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
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.state.Followers;
import dev.quipu.engine.state.State;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Results of changes, and that a state replayed from the log gives the same results. */
final class CounterAccessLogTest {
  private static final long NOW = 1_000;
  private static final RequestId ID = RequestId.of("one");
  private static final RequestId OTHER = RequestId.of("other");
  private static final byte[] TEXT = {'t'};

  private final State state = newState();
  private final Group group = new Group(ByteBuffer.allocate(1 << 16), new Followers());
  private final CounterAccess access = new CounterAccess(state, group);

  CounterAccessLogTest() {
    group.begin(null);
  }

  private static State newState() {
    State made = new State(7, 60_000, 1_000, 0);
    made.wallMillis = NOW;
    return made;
  }

  /** Ends the frame, and replays it into another state. */
  private CounterAccess reread() {
    ByteBuffer out = group.end(new Frame(7), state, 0);
    Frame.Head head = Objects.requireNonNull(new Frame(7).read(out, 0));
    State read = newState();
    Records.read(out.slice(Frame.HEAD_BYTES, head.payloadBytes()), read);
    read.ready();
    Group empty = new Group(ByteBuffer.allocate(1 << 16), new Followers());
    empty.begin(null);
    return new CounterAccess(read, empty);
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
  void valuesAreInTheLogWhateverChangedThem() {
    access.set("set", 1);
    access.set("at", 1);
    access.set("once", 1);
    assertEquals(applied(4, 4), access.add(new Add("added", 4, null)));
    assertEquals(applied(5, 5), access.add(new Add("with id", 5, ID)));
    access.begin("begun", 6, ID);
    assertTrue(access.addAt(place("at"), 7));
    assertTrue(access.addOnceAt(place("once"), 8, ID.high(), ID.low()));
    for (CounterAccess each : List.of(access, reread())) {
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

  /** Each may be the only change of its frame. */
  @Test
  void eachChangeCountsAsACommand() {
    access.set("a", 1);
    assertEquals(1, group.commands());
    access.add(new Add("a", 1, null));
    access.addAt(0, 1);
    assertEquals(3, group.commands());
    access.expire("a", NOW + 1);
    access.expire("a", NOW + 1); // unchanged, so need not be logged
    assertEquals(4, group.commands());
    access.remove("a");
    access.cancel("a", ID);
    assertEquals(6, group.commands());
  }

  @Test
  void textsExpiriesAndRemovalsAreInTheLog() {
    access.setText("text", TEXT);
    access.set("expires", 1);
    assertTrue(access.expire("expires", NOW + 1));
    access.set("gone", 1);
    assertTrue(access.remove("gone"));
    access.set("was text", 1);
    access.setText("was text", TEXT);
    access.set("was text", 2);
    for (CounterAccess each : List.of(access, reread())) {
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
  void cancellationsAreInTheLog() {
    assertEquals(new RequestOutcome.Canceled(), access.cancel("new", ID));
    assertEquals(0, access.size(), "no counter comes of it");
    assertTrue(state.counters.isTombstone(place("new")));
    access.add(new Add("a", 5, ID));
    assertEquals(new RequestOutcome.Canceled(), access.cancel("a", OTHER));
    assertFalse(state.counters.isTombstone(place("a")));
    RequestOutcome did = new RequestOutcome.Applied(5, OptionalLong.of(5));
    assertEquals(did, access.cancel("a", ID), "it is too late");
    for (CounterAccess each : List.of(access, reread())) {
      assertEquals(new RequestOutcome.Canceled(), each.outcome("new", ID));
      assertEquals(new RequestOutcome.Canceled(), each.outcome("a", OTHER));
      assertEquals(did, each.outcome("a", ID));
      assertEquals(new RequestOutcome.NotSeen(), each.outcome("new", OTHER));
      assertEquals(new RequestOutcome.NotSeen(), each.outcome("nobody", ID));
      assertEquals(new AddResult.Rejected(Rejection.CANCELED, 0), each.add(new Add("new", 1, ID)));
      assertEquals(new AddResult.Rejected(Rejection.CANCELED, 5), each.add(new Add("a", 1, OTHER)));
    }
  }

  /** A counter with ids keeps its ordinal while they are remembered. */
  @Test
  void countersKnowThatTheyHaveIds() {
    access.add(new Add("added", 5, ID));
    access.cancel("sealed", ID);
    access.set("plain", 5);
    assertEquals(state.ids.epoch(), state.counters.epochOfIds(place("added")));
    assertEquals(state.ids.epoch(), state.counters.epochOfIds(place("sealed")));
    assertEquals(0, state.counters.epochOfIds(place("plain")));
  }

  @Test
  void removedCountersWaitToBeFreed() {
    access.set("a", 1);
    access.remove("a");
    assertTrue(state.counters.isTombstone(0));
    assertTrue(state.tombstones.mayFree(state.ids));
  }

  @Test
  void anotherRequestUnderTheSameIdIsAConflict() {
    access.add(new Add("a", 5, Bounds.atMost(9), ID));
    assertEquals(replayed(5, 5), access.add(new Add("a", 5, Bounds.atMost(9), ID)));
    assertEquals(new AddResult.Conflict(5), access.add(new Add("a", 5, Bounds.atMost(8), ID)));
    assertEquals(new AddResult.Conflict(5), access.add(new Add("a", 5, ID)));
    assertEquals(new AddResult.Conflict(5), access.add(new Add("a", 4, Bounds.atMost(9), ID)));
    assertEquals(
        new AddResult.Rejected(Rejection.CEILING, 5),
        access.add(new Add("a", 5, Bounds.atMost(9), OTHER)));
    assertEquals(OptionalLong.of(5), access.get("a"));
  }

  @Test
  void aCanceledRequestOfATextIsRejectedWithoutAValue() {
    access.set("a", 5);
    access.cancel("a", ID);
    access.setText("a", TEXT);
    assertEquals(new AddResult.Rejected(Rejection.CANCELED, 0), access.add(new Add("a", 1, ID)));
    assertThrows(IllegalArgumentException.class, () -> access.add(new Add("a", 1, OTHER)));
    assertFalse(access.isRepeat(new Add("a", 1, OTHER)));
    assertTrue(access.isRepeat(new Add("a", 1, ID)));
  }

  /** An expired counter is removed, also in the log, before a new one takes its place. */
  @Test
  void anExpiredCounterLeavesNothingToItsSuccessor() {
    for (String name : List.of("set", "added", "text", "sealed")) {
      access.set(name, 5);
      access.expire(name, NOW + 1);
    }
    assertEquals(NOW, access.nowMillis());
    state.wallMillis = NOW + 1;
    assertEquals(NOW + 1, access.nowMillis());
    assertEquals(0, access.expiresAt("set"));
    assertEquals(0, access.version("set"));
    assertNull(access.text("text"));
    assertFalse(access.exists("set") || access.expire("set", NOW + 9) || access.remove("set"));
    access.set("set", 1);
    access.setText("text", TEXT);
    access.cancel("sealed", ID);
    assertEquals(applied(2, 2), access.add(new Add("added", 2, null)));
    for (CounterAccess each : List.of(access, reread())) {
      assertEquals(OptionalLong.of(1), each.get("set"));
      assertEquals(OptionalLong.of(2), each.get("added"));
      assertEquals(0, each.expiresAt("set"));
      assertEquals(0, each.expiresAt("text"));
      assertArrayEquals(TEXT, each.text("text"));
      assertFalse(each.exists("sealed"));
      assertEquals(3, each.size());
    }
  }

  /** Work per counter is counted, so that the task yields to others. */
  @Test
  void expiredCountersAreVisitedButNotCounted() {
    for (int i = 0; i < 64; i++) {
      access.set("c" + i, 1);
    }
    access.expire("c0", NOW + 1);
    access.expire("c1", NOW + 1);
    access.expire("c2", NOW + 2);
    assertEquals(64, access.size());
    assertEquals(0, access.visited());
    state.wallMillis = NOW + 1;
    assertEquals(62, access.size());
    assertEquals(4, access.visited(), "one for sixteen of 64 counters");
    access.visit(3);
    assertEquals(7, access.visited());
  }

  @Test
  void nothingChangesWhileTheDiskIsFull() {
    access.set("a", 1);
    access.expire("a", NOW + 9);
    long changes = access.changeCount();
    group.begin(new NotAppliedException(Reason.FULL, "no room"));
    for (Runnable each :
        List.<Runnable>of(
            () -> access.set("a", 2),
            () -> access.set("new", 2),
            () -> access.setText("a", TEXT),
            () -> access.add(new Add("a", 1, null)),
            () -> access.addAt(0, 1),
            () -> access.addOnceAt(0, 1, 1, 1),
            () -> access.begin("new", 1, ID),
            () -> access.expire("a", NOW + 5),
            () -> access.cancel("a", ID),
            () -> access.remove("a"))) {
      assertEquals("no room", assertThrows(QuipuException.class, each::run).getMessage());
    }
    assertEquals(changes, access.changeCount());
    assertEquals(OptionalLong.of(1), access.get("a"));
    assertEquals(NOW + 9, access.expiresAt("a"));
    assertEquals(1, access.size());
    assertTrue(group.isEmpty());
  }

  @Test
  void everyChangeIsSeenByItsWatchers() {
    access.watch("a");
    long seen = 0;
    for (Runnable each :
        List.<Runnable>of(
            () -> access.set("a", 2),
            () -> access.setText("a", TEXT),
            () -> access.set("a", 3),
            () -> access.add(new Add("a", 1, null)),
            () -> access.expire("a", NOW + 5),
            () -> access.cancel("a", ID),
            () -> access.remove("a"),
            () -> access.begin("a", 1, OTHER))) {
      each.run();
      assertEquals(++seen, access.changes("a"));
      assertFalse(state.isChanging);
    }
    assertEquals(seen, access.watch("a"), "what a second one starts from");
    access.unwatch("a");
    access.unwatch("a");
    assertEquals(0, access.changes("a"));
  }

  /** Addends of different signs never overflow. */
  @Test
  void onlySumsBeyond64BitsAreRejected() {
    long[][] sums = {{5, -10}, {-5, 3}, {-5, 10}, {5, -3}, {5, 3}, {-5, -3}, {0, -1}, {-1, 1}};
    for (long[] sum : sums) {
      access.set("a", sum[0]);
      access.set("b", sum[0]);
      assertTrue(access.addAt(place("a"), sum[1]));
      RequestId id = RequestId.of(sum[0], sum[1]);
      assertTrue(access.addOnceAt(place("b"), sum[1], id.high(), id.low()));
      assertEquals(OptionalLong.of(sum[0] + sum[1]), access.get("a"));
      assertEquals(OptionalLong.of(sum[0] + sum[1]), access.get("b"));
    }
  }

  @Test
  void aReplacedTextNoLongerCountsForMemory() {
    access.setText("a", new byte[1_000]);
    state.limitMemory(state.memoryBytes() + 100);
    access.setText("a", new byte[1_100]);
    assertThrows(QuipuException.class, () -> access.setText("a", new byte[1_101]));
    access.setText("a", new byte[1]);
    assertArrayEquals(new byte[1], access.text("a"));
  }

  @Test
  void anExistingCounterNeedsNoMemory() {
    access.set("a", 1); // at the first place
    state.limitMemory(state.memoryBytes());
    access.set("a", 2);
    assertEquals(applied(1, 3), access.add(new Add("a", 1, null)));
    access.requireRoom(List.of("a"));
    assertThrows(QuipuException.class, () -> access.requireRoom(List.of("b")));
  }

  @Test
  void theBytesOfAChangeAreAnnounced() {
    assertEquals(2 * 256 + 3 * 5, CounterAccess.bytesMax(2, 5));
    assertEquals(3 * 128, CounterAccess.endsBytesMax(3));
    assertEquals(Integer.MAX_VALUE, CounterAccess.endsBytesMax(1 << 25));
    assertEquals(Integer.MAX_VALUE, CounterAccess.bytesMax(1 << 25, Integer.MAX_VALUE));
    int most = (1 << 16) - Frame.HEAD_BYTES - Frame.ALIGNMENT;
    assertTrue(access.fits(most) && access.canEverFit(most) && access.canEverFit(0));
    assertFalse(access.fits(most + 1) || access.canEverFit(most + 1) || access.canEverFit(-1));
  }

  @Test
  void aRequestIsPrefetched() {
    access.add(new Add("a", 1, ID));
    access.expectId(0, ID.high(), ID.low());
    access.readIds();
    long there = state.ids.touched();
    assertTrue(there != 0);
    access.expectId(0, ID.high(), ID.low());
    access.expectId(0, ID.high(), ID.low());
    access.readIds();
    assertEquals(3 * there, state.ids.touched());
  }
}
