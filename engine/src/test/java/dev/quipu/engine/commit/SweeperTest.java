package dev.quipu.engine.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.Durability;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.TestOperation;
import dev.quipu.engine.environment.Closer;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.Threads;
import dev.quipu.engine.ids.IdFiles;
import dev.quipu.engine.ids.Sealer;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.state.Followers;
import dev.quipu.engine.state.State;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.testkit.pace.Progress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How much one sweep removes, and in how many frames. */
final class SweeperTest {
  private static final long NOW = 1_000_000;
  private static final int SEGMENT_BYTES = 1 << 16; // of which a frame removes four counters

  @TempDir Path directory;

  private final Closer opened = new Closer();
  private final ManualClock clock = new ManualClock(NOW);
  private final State state = new State(7, 60_000, 1_000, 0);
  private Committer committer;
  private ExpirySweeper sweeper;

  @BeforeEach
  void open() throws IOException {
    Disk disk = new FileDisk();
    Environment environment = new Environment(disk, Threads.PLATFORM);
    Failure failure = new Failure();
    HighWater.Mark mark = new HighWater.Mark(0, 0, 0, NOW);
    disk.createDirectories(Log.directory(directory));
    disk.createDirectories(IdFiles.directory(directory));
    HighWater.create(disk, directory, 7, mark);
    Log log =
        opened.add(
            Log.open(
                environment,
                directory,
                7,
                SEGMENT_BYTES,
                List.of(),
                Log.HEAD_BYTES,
                Log.HEAD_BYTES,
                false,
                1,
                failure));
    HighWater highWater = opened.add(HighWater.open(disk, directory, 7, mark));
    Sealer sealer = opened.add(new Sealer(environment, directory, failure));
    EngineOptions options =
        EngineOptions.defaults()
            .withLog(SEGMENT_BYTES, 1 << 20)
            .withDurability(Durability.NONE)
            .withClock(clock);
    state.ready();
    committer =
        new Committer(
            environment,
            state,
            log,
            highWater,
            7,
            mark,
            TestOperation.settings(options),
            sealer,
            failure);
    opened.add(committer::close);
    sweeper = new ExpirySweeper(committer, SEGMENT_BYTES);
  }

  @AfterEach
  void close() {
    opened.close();
  }

  private int counter(String name, long expiresAt) {
    int ordinal = state.counters.add(name);
    state.counters.set(ordinal, 1);
    state.counters.expire(ordinal, expiresAt);
    return ordinal;
  }

  private static Key key(int number) {
    return new Key("p" + number / 1_000, "%060d".formatted(number % 1_000));
  }

  private void item(int number, Optional<Instant> expiresAt) {
    Map<String, Field> fields = Map.of("f", new Field.Number(1));
    state.setItem(
        key(number), Optional.of(new Item(key(number), fields, Records.version(1), expiresAt)));
  }

  private void expiredItem(int number) {
    item(number, Optional.of(Instant.ofEpochMilli(NOW)));
  }

  private boolean hasItem(int number) {
    return state.items.get(key(number)).isPresent();
  }

  /** So other calls run after a few removals. */
  @Test
  void aFrameRemovesOneCounterForEach16KibOfASegment() {
    for (int i = 0; i < 8; i++) {
      counter("c" + i, NOW);
    }
    sweeper.sweep();
    assertEquals(0, state.counters.named());
    assertEquals(2, committer.frames());
    assertEquals(8, state.commands);
  }

  @Test
  void aSweepFreesAllThatWaits() {
    for (int i = 0; i < 9; i++) {
      state.tombstones.add(state.counters.add("c" + i));
    }
    sweeper.sweep();
    assertEquals(0, state.counters.named());
    assertEquals(3, committer.frames());
  }

  @Test
  void aFrameRemovesOneCounterAtLeast() {
    counter("a", NOW);
    counter("b", NOW);
    new ExpirySweeper(committer, 1).sweep();
    assertEquals(0, state.counters.named());
    assertEquals(2, committer.frames());
  }

  @Test
  void unexpiredCountersStayAndNothingIsWritten() {
    counter("a", NOW + 1);
    item(0, Optional.of(Instant.ofEpochMilli(NOW + 1)));
    item(1, Optional.empty());
    sweeper.sweep();
    assertEquals(1, state.counters.named());
    assertEquals(2, state.items.size());
    assertEquals(0, committer.frames());
    clock.advance(Duration.ofMillis(1));
    sweeper.sweep();
    assertEquals(0, state.counters.named());
    assertFalse(hasItem(0));
    assertTrue(hasItem(1));
  }

  @Test
  void aPartOfASweepRemovesAllExpiredCounters() {
    for (int i = 0; i < 9; i++) {
      counter("c" + i, NOW);
    }
    sweeper.sweepPart();
    assertEquals(0, state.counters.named());
  }

  /** A frame of this log holds less than 500 of them. */
  @Test
  void expiredItemsAreRemovedOverSeveralFrames() {
    int items = 3_000;
    for (int i = 0; i < items; i++) {
      if (i % 3 == 0) {
        item(i, Optional.empty());
      } else {
        expiredItem(i);
      }
    }
    long changes = state.changes;
    sweeper.sweep();
    assertEquals(1_000, state.items.size());
    for (int i = 0; i < items; i++) {
      assertEquals(i % 3 == 0, hasItem(i), "item " + i);
    }
    assertEquals(2_000, state.commands, "each is in the log");
    assertEquals(changes + 2_000, state.changes);
    assertTrue(committer.frames() > 1);
  }

  /**
   * 50 pages of 1,024 items are one part; the next part continues after them, and finally starts
   * over.
   */
  @Test
  void aPartScansFiftyPagesOfItems() {
    int part = 50 * 1_024;
    for (int i = 0; i < part + 10; i++) {
      item(100_000 + i, Optional.empty()); // keys of the same length are ordered by number
    }
    expiredItem(100_000 + part - 1);
    expiredItem(100_000 + part);
    sweeper.sweepPart();
    assertFalse(hasItem(100_000 + part - 1));
    assertTrue(hasItem(100_000 + part), "the first of the next part");
    expiredItem(100_000);
    sweeper.sweepPart();
    assertFalse(hasItem(100_000 + part));
    assertTrue(hasItem(100_000), "behind which the walk was");
    sweeper.sweepPart();
    assertFalse(hasItem(100_000));
    expiredItem(100_000);
    sweeper.sweep(); // from the start, wherever the parts begin
    assertFalse(hasItem(100_000));
  }

  @Test
  void aSweepReleasesTheNextOne() {
    sweeper.sweep();
    assertTimeoutPreemptively(Progress.STALL_MAX, sweeper::sweepPart); // in another thread
    assertTimeoutPreemptively(Progress.STALL_MAX, sweeper::sweep);
  }

  /** Runs one part of a sweep, without a committer. */
  private static boolean sweepOnce(State state, Group group, int atOnce) {
    return new ExpirySweeper.SweepTask(new int[atOnce]).run(state, group);
  }

  private static Group groupFor(int records) {
    ByteBuffer out = ByteBuffer.allocate(Frame.HEAD_BYTES + Frame.ALIGNMENT + 64 * records);
    Group group = new Group(out, new Followers());
    group.begin(null);
    return group;
  }

  /** Each may write two records: its removal, and that its ordinal is free. */
  @Test
  void noMoreExpireThanHalfTheRecordsThatFit() {
    state.wallMillis = NOW;
    for (int i = 0; i < 10; i++) {
      counter("c" + i, NOW);
    }
    Group group = groupFor(6);
    long changes = state.changes;
    assertTrue(sweepOnce(state, group, 100));
    assertEquals(changes + 3, state.changes);
    assertEquals(3, group.commands());
    assertEquals(7, state.counters.named());
    assertFalse(state.isChanging);
  }

  @Test
  void noMoreAreFreedThanRecordsFit() {
    state.wallMillis = NOW;
    Group group = groupFor(1_000);
    CounterAccess access = TestOperation.access(state, group);
    for (int i = 0; i < 10; i++) {
      access.set("c" + i, 1);
      access.remove("c" + i);
    }
    long changes = state.changes;
    assertTrue(sweepOnce(state, groupFor(7), 100));
    assertEquals(3, state.counters.named());
    assertEquals(changes + 7, state.changes);
    assertFalse(state.isChanging);
    assertTrue(sweepOnce(state, groupFor(100), 2));
    assertEquals(1, state.counters.named());
  }

  @Test
  void aFullDiskRemovesNothing() {
    state.wallMillis = NOW;
    counter("a", NOW);
    Group group = groupFor(100);
    group.begin(new NotAppliedException(Reason.FULL, "no room"));
    assertThrows(QuipuException.class, () -> sweepOnce(state, group, 10));
    assertEquals(1, state.counters.writtenSize());
  }

  @Test
  void aFullDiskIsNoErrorIfThereIsNothingToRemove() {
    state.wallMillis = NOW;
    counter("a", NOW + 1);
    Group group = groupFor(100);
    group.begin(new NotAppliedException(Reason.FULL, "no room"));
    assertTrue(sweepOnce(state, group, 10));
  }

  /** Replaying the frame changes another state in the same way. */
  @Test
  void theLogRecordsRemovedAndFreedCounters() {
    ByteBuffer out = ByteBuffer.allocate(1 << 16);
    Group group = new Group(out, new Followers());
    group.begin(null);
    state.wallMillis = NOW - 1;
    CounterAccess access = TestOperation.access(state, group);
    access.set("no ids", 1);
    access.expire("no ids", NOW);
    access.begin("with ids", 2, RequestId.of("one"));
    access.expire("with ids", NOW);
    state.wallMillis = NOW;
    assertTrue(sweepOnce(state, group, 10));
    State reread = new State(7, 60_000, 1_000, 0);
    Records.read(out.duplicate().flip().position(Frame.HEAD_BYTES), reread);
    for (State each : List.of(state, reread)) {
      assertNull(each.counters.name(0), "its place is free");
      assertEquals("with ids", each.counters.name(1), "its ids refer to it");
      assertFalse(each.counters.isWritten(1));
    }
    assertTrue(state.counters.isTombstone(1));
    assertFalse(state.isChanging);
  }
}
