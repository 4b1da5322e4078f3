package dev.quipu.engine.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.TestOperation;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.state.Followers;
import dev.quipu.engine.state.State;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The capacity and content of a frame. */
final class GroupTest {
  private static final int CAPACITY = 4_096;
  private static final int MOST = CAPACITY - Frame.HEAD_BYTES - Frame.ALIGNMENT;

  private final State state = new State(7, 1_000, 1_000, 0);
  private final Group group = new Group(ByteBuffer.allocate(CAPACITY), new Followers());
  private final CounterAccess access = TestOperation.access(state, group);

  GroupTest() {
    state.wallMillis = 1;
    group.begin(null);
  }

  @Test
  void anEmptyFrameTakesWhatCanEverFit() {
    for (int bytes : new int[] {0, 1, MOST}) {
      assertTrue(group.fits(bytes) && group.canEverFit(bytes) && access.fits(bytes));
      assertTrue(access.canEverFit(bytes));
    }
    assertFalse(group.fits(MOST + 1) || group.canEverFit(MOST + 1) || access.fits(MOST + 1));
    assertFalse(access.canEverFit(MOST + 1) || access.canEverFit(-1));
    assertEquals(MOST / Records.COUNTER_RECORD_BYTES_MAX, group.room());
  }

  /**
   * Values are written at the end of the frame: one record per counter, however often it was set.
   */
  @Test
  void valuesWrittenAtTheEndCountForTheSize() {
    access.set("a", 1);
    assertTrue(group.fits(1));
    int left = 0;
    while (group.fits(left + 1)) {
      left++;
    }
    access.set("a", 2);
    assertTrue(group.fits(left) && !group.fits(left + 1));
    assertEquals(left / Records.COUNTER_RECORD_BYTES_MAX, group.room());
    assertTrue(group.canEverFit(MOST), "which is about an empty frame");
    while (group.fits(CounterAccess.bytesMax(1, 4))) {
      access.set("c" + state.counters.size(), Long.MIN_VALUE);
    }
    assertTrue(group.end(new Frame(7), state, 0).limit() <= CAPACITY);
  }

  @Test
  void spaceIsCountedInWholeRecordsWithoutPadding() {
    int capacity = Frame.HEAD_BYTES + Frame.ALIGNMENT + 4 * Records.COUNTER_RECORD_BYTES_MAX;
    Group exact = new Group(ByteBuffer.allocate(capacity), new Followers());
    exact.begin(null);
    assertEquals(4, exact.room());
    Group less = new Group(ByteBuffer.allocate(capacity - 1), new Followers());
    less.begin(null);
    assertEquals(3, less.room());
  }

  /** Ends the frame, and returns its payload. */
  private ByteBuffer payload(int commands) {
    assertEquals(commands, group.commands());
    assertEquals(commands == 0, group.isEmpty());
    ByteBuffer frame = group.end(new Frame(7), state, 5);
    Frame.Head head = new Frame(7).read(frame, 0);
    assertEquals(new Frame.Head(frame.getInt(4), commands, state.frame, 5, 0), head);
    return frame.slice(Frame.HEAD_BYTES, frame.getInt(4));
  }

  private static ByteBuffer records(Consumer<ByteBuffer> write) {
    ByteBuffer out = ByteBuffer.allocate(CAPACITY);
    write.accept(out);
    return out.flip();
  }

  private void assertRecord(int commands, Consumer<Group> change, Consumer<ByteBuffer> write) {
    group.begin(null);
    change.accept(group);
    assertEquals(records(write), payload(commands));
    group.begin(null);
    assertTrue(group.isEmpty());
  }

  @Test
  void eachChangeIsACommandAndItsRecord() {
    byte[] text = {1, 2, 3};
    Key key = new Key("p", "s");
    Item item = new Item(key, Map.of(), new Version("1"), Optional.empty());
    assertRecord(0, to -> to.name(3, "n"), out -> Records.name(out, 3, "n"));
    assertRecord(1, to -> to.text(3, text), out -> Records.text(out, 3, text));
    assertRecord(1, to -> to.expires(3, 99), out -> Records.expires(out, 3, 99));
    assertRecord(1, to -> to.gone(3), out -> Records.gone(out, 3));
    assertRecord(1, to -> to.free(3), out -> Records.free(out, 3));
    assertRecord(1, to -> to.cancel(3, 4, 5), out -> Records.cancel(out, 3, 4, 5));
    assertRecord(1, to -> to.item(item), out -> Records.item(out, item));
    assertRecord(1, to -> to.noItem(key), out -> Records.noItem(out, key));
    assertRecord(1, to -> to.once(3, 4, 5, 6, 7, 8), out -> Records.once(out, 3, 4, 5, 6, 7, 8));
  }

  @Test
  void aValueIsInEachFrameInWhichItWasSet() {
    for (String counter : List.of("first", "a", "b", "c")) {
      access.set(counter, 1);
    }
    assertEquals(4, group.commands());
    var unused = group.end(new Frame(7), state, 0);
    for (int value = 2; value < 4; value++) {
      group.begin(null);
      access.set("b", 0);
      access.set("b", value);
      int last = value;
      assertEquals(records(out -> Records.value(out, 2, last)), payload(2));
    }
  }

  @Test
  void aFrameTakesTheValuesOfManyCounters() {
    Group large = new Group(ByteBuffer.allocate(1 << 16), new Followers());
    large.begin(null);
    CounterAccess many = TestOperation.access(state, large);
    for (int i = 0; i < 300; i++) {
      many.set("c" + i, i);
    }
    ByteBuffer frame = large.end(new Frame(7), state, 0);
    State read = new State(7, 1_000, 1_000, 0);
    Records.read(frame.slice(Frame.HEAD_BYTES, frame.getInt(4)), read);
    for (int i = 0; i < 300; i++) {
      assertEquals(i, read.counters.value(read.counters.find("c" + i)));
    }
  }

  @Test
  void changesAreRejectedInAFrameBegunWithARejection() {
    group.begin(new NotAppliedException(Reason.FULL, "no room"));
    QuipuException why = assertThrows(QuipuException.class, () -> access.set("a", 1));
    assertEquals("no room", why.getMessage());
    assertEquals(Reason.FULL, why.reason());
    group.begin(null);
    access.set("a", 1);
    assertEquals(1, group.commands());
  }
}
