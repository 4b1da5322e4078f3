package dev.quipu.engine.state;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.TestOperation;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.log.HoldRecord;
import dev.quipu.engine.log.Records;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Memory that clients can claim, and what is rejected. */
final class StateTest {
  private static final Key KEY = new Key("p", "s");

  private final State state = new State(7, 1_000, 1_000, 0);
  private final Group group = new Group(ByteBuffer.allocate(1 << 16), new Followers());
  private final CounterAccess access = TestOperation.access(state, group);

  StateTest() {
    state.wallMillis = 1;
    group.begin(null);
  }

  private static Optional<Item> item(int length) {
    Map<String, Field> fields = Map.of("f", new Field.Text("x".repeat(length)));
    return Optional.of(new Item(KEY, fields, new Version("1"), Optional.empty()));
  }

  @Test
  void itemsCountForMemoryWhileTheyExist() {
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

  /** A snapshot may have names as they became after the records that are read after it. */
  @Test
  void aRemovalEndsWhatIsHeldOnTheCounterThatHadTheNameThen() {
    state.name(1, "seats");
    state.value(1, 5);
    var part = new HoldRecord.Part("seats", 0, -2, Long.MIN_VALUE, Long.MAX_VALUE, 0, false);
    state.hold(new HoldRecord(1, 2, 0, 9, 0, List.of(part)));
    state.free(0);
    HoldRecord hold = Objects.requireNonNull(state.holds.find(1, 2)).current();
    assertTrue(hold.parts().getFirst().isVoid());
    assertEquals(0, state.holds.held(1));
  }

  @Test
  void onlyChangesAboveTheLimitAreRejected() {
    long limit = 5L << 20;
    state.limitMemory(limit);
    long left = limit - state.memoryBytes();
    assertDoesNotThrow(() -> state.requireMemory(left));
    QuipuException why = assertThrows(QuipuException.class, () -> state.requireMemory(left + 1));
    assertEquals(Outcome.NOT_APPLIED, why.outcome());
    assertEquals(Reason.FULL, why.reason());
    assertTrue(why.getMessage().contains("of 5,242,880 bytes"), why.getMessage());
    state.limitMemory(0);
    assertDoesNotThrow(() -> state.requireMemory(0), "what takes no more is accepted");
    assertDoesNotThrow(() -> state.requireMemory(-1));
  }

  @Test
  void memoryUseIsReportedInBytes() {
    state.counters.setText(state.counters.add("a"), new byte[3 << 20]);
    access.watch("w");
    long names = 52; // of the counter, without its text
    assertEquals(names + 96 + (3 << 20) + 128 + 2, state.memoryBytes());
    state.limitMemory(4 << 20);
    QuipuException why = assertThrows(QuipuException.class, () -> state.requireMemory(1 << 20));
    String sizes =
        "1,048,576 more bytes are needed; counters, texts, items, holds and crossings take 3,146,006";
    assertTrue(why.getMessage().contains(sizes), why.getMessage());
  }

  @Test
  void ofANameOnlyWhatIsBeyondItsSlotTakesMore() {
    assertEquals(52, state.counters.neededBytes("a", 0));
    assertEquals(52, state.counters.neededBytes("é".repeat(8), 0));
    assertEquals(52 + 5, state.counters.neededBytes("é".repeat(10), 0));
  }

  @Test
  void severalNamesAreRejectedTogether() {
    access.set("a", 1);
    state.limitMemory(state.memoryBytes() + state.counters.neededBytes("b", 0));
    assertDoesNotThrow(() -> access.requireRoom(List.of("a", "b")));
    assertThrows(QuipuException.class, () -> access.requireRoom(List.of("b", "c")));
    assertThrows(QuipuException.class, () -> access.setText("a", new byte[10_000]));
    assertEquals(1, access.get("a").orElseThrow());
    access.set("b", 2);
    assertThrows(QuipuException.class, () -> access.set("c", 3));
    assertThrows(QuipuException.class, () -> access.cancel("c", RequestId.of("x")));
    assertThrows(QuipuException.class, () -> access.watch("w".repeat(500)));
  }

  @Test
  void aBegunChangeIsDetected() {
    long before = state.changes;
    state.beginChange();
    assertTrue(state.isChanging);
    assertEquals(before + 1, state.changes);
    state.endChange();
    assertTrue(!state.isChanging);
    for (Runnable each :
        List.<Runnable>of(
            () -> access.set("a", 1),
            () -> access.addAt(0, 1),
            () -> access.addOnceAt(0, 1, 1, 1),
            () -> access.expire("a", 100),
            () -> access.setText("a", new byte[1]),
            () -> access.cancel("a", RequestId.of("x")),
            () -> access.remove("a"))) {
      long changes = state.changes;
      each.run();
      assertEquals(changes + 1, state.changes);
      assertTrue(!state.isChanging);
    }
  }

  /** A snapshot taken concurrently with writes may lack counters that its log has records of. */
  @Test
  void logRecordsMayBeOfOrdinalsThatDoNotExistYet() {
    int page = CounterTablePage.SIZE;
    state.expires(page - 1, 9);
    assertEquals(page, state.counters.size());
    state.gone(page);
    assertEquals(page + 1, state.counters.size());
    state.free(2 * page);
    assertEquals(2 * page + 1, state.counters.size());
    state.value(3 * page, 5);
    state.text(4 * page, new byte[] {'t'});
    state.once(5 * page, 1, 2, 3, 4, 0);
    state.cancel(6 * page, 1, 2);
    state.hadIds(7 * page);
    assertEquals(9, state.counters.expiresAt(page - 1));
    assertEquals(5, state.counters.value(3 * page));
    assertArrayEquals(new byte[] {'t'}, state.counters.text(4 * page));
    assertEquals(4, state.counters.value(5 * page));
    for (int ordinal : new int[] {5 * page, 6 * page, 7 * page}) {
      assertEquals(255, state.counters.epochOfIds(ordinal), "of all that was read");
    }
    assertEquals(2, state.ids.size());
  }

  @Test
  void logRecordsChangeExistingCounters() {
    state.name(0, "a");
    state.value(0, 1);
    state.expires(0, 9);
    state.name(1, "b");
    state.text(1, new byte[] {'t'});
    state.name(2, "c");
    state.item(KEY, item(10));
    assertEquals(1, state.items.size());
    assertEquals(9, access.expiresAt("a"));
    state.gone(0);
    state.free(1);
    state.item(KEY, Optional.empty());
    assertEquals(0, state.items.size());
    assertEquals(0, state.itemBytes);
    assertFalse(access.exists("a") || access.exists("b"));
    assertEquals(0, state.counters.find("a"));
    assertEquals(-1, state.counters.find("b"));
    state.ready();
    assertTrue(state.counters.isTombstone(0) && state.counters.isTombstone(2));
    assertFalse(state.counters.isTombstone(1));
    assertEquals(1, state.counters.add("d"), "the place that is free");
  }

  @Test
  void anExistingCounterIsNotATombstone() {
    int last = CounterTablePage.SIZE - 1; // of the only page
    state.name(last, "a");
    state.value(last, 1);
    state.ready();
    assertFalse(state.counters.isTombstone(last));
  }

  /** What was read shares one epoch, for it is not in order; what follows gets new epochs. */
  @Test
  void epochsOfIdsBeginWhenAllWasRead() {
    state.once(0, 1, 2, 3, 4, 0);
    state.ids.rotate();
    assertEquals(255, state.ids.epoch());
    state.ready();
    state.once(0, 5, 6, 3, 4, 0);
    state.ids.rotate();
    assertEquals(1, state.ids.epoch());
  }

  /** After a salvage an id may refer to an ordinal whose name was lost. */
  @Test
  void placesWithoutANameAreReservedAfterASalvage() {
    state.name(1, "b");
    state.isSalvaged = true;
    state.ready();
    assertEquals(2, state.counters.add("c"));
    State whole = new State(7, 1_000, 1_000, 0);
    whole.name(1, "b");
    whole.ready();
    assertEquals(0, whole.counters.add("c"));
  }

  @Test
  void idsThatAreInAFileAreNotRememberedTwice() {
    state.idsAreSealed = true;
    state.once(0, 1, 2, 3, 4, 0);
    assertEquals(0, state.ids.size());
    assertEquals(255, state.counters.epochOfIds(0));
    state.idsAreSealed = false;
    state.once(0, 1, 2, 3, 4, 0);
    assertEquals(1, state.ids.size());
  }

  @Test
  void aSnapshotRecordIsInvalidInTheLog() {
    ByteBuffer none = ByteBuffer.allocate(0);
    assertThrows(IllegalStateException.class, () -> state.snapshot(Records.START, none));
  }
}
