package dev.quipu.engine.commit;

import static dev.quipu.engine.commit.CommitterSetup.NOW;
import static dev.quipu.engine.commit.CommitterSetup.set;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.engine.Durability;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.TestOperation;
import dev.quipu.engine.commit.CommitterSetup.Caller;
import dev.quipu.engine.commit.CommitterSetup.Gate;
import dev.quipu.engine.commit.CommitterSetup.Work;
import dev.quipu.engine.environment.Threads;
import dev.quipu.engine.ids.RequestIds;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.recovery.Snapshot;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the committer writes to disk, when, and what it rejects. */
final class CommitterFramesTest {
  private static final HighWater.Mark START = new HighWater.Mark(0, 0, 0, NOW);
  private static final Work READ = (state, group) -> true;

  /** Ids that fit in memory: one table is being filled, and three wait. */
  private static final int IDS_MAX = 4 * CommitterSetup.IDS_IN_MEMORY;

  @TempDir Path directory;
  private @Nullable CommitterSetup opened;

  private CommitterSetup open(Durability durability) throws IOException {
    return open(START, options -> options.withDurability(durability));
  }

  private CommitterSetup open(HighWater.Mark kept, UnaryOperator<EngineOptions> change)
      throws IOException {
    CommitterSetup setup = new CommitterSetup(directory, kept, change);
    opened = setup;
    return setup;
  }

  @AfterEach
  void close() throws IOException {
    CommitterSetup setup = opened;
    if (setup != null) {
      setup.close();
    }
  }

  private static Work add(int id) {
    return (state, group) -> {
      TestOperation.access(state, group).add(new Add("a", 1, RequestId.of("id-" + id)));
      return true;
    };
  }

  private static HighWater.Mark mark(CommitterSetup setup) throws IOException {
    return HighWater.read(setup.disk, setup.data, CommitterSetup.IDENTITY);
  }

  private static List<Frame.Head> frames(CommitterSetup setup) throws IOException {
    Path file = Log.directory(setup.data).resolve("0000000000000001.log");
    ByteBuffer log = setup.disk.read(file);
    Frame frame = new Frame(CommitterSetup.IDENTITY);
    List<Frame.Head> heads = new ArrayList<>();
    int at = Log.HEAD_BYTES;
    for (Frame.Head head = frame.read(log, at); head != null; head = frame.read(log, at)) {
      heads.add(head);
      at += head.frameBytes();
    }
    return heads;
  }

  private static void assertFull(QuipuException why) {
    assertEquals(Outcome.NOT_APPLIED, why.outcome());
    assertEquals(Reason.FULL, why.reason(), why.getMessage());
  }

  @Test
  void aGroupIsOneFrameAndOneSync() throws IOException {
    CommitterSetup setup = open(Durability.FSYNC);
    Gate gate = new Gate();
    Caller leader = setup.lead(gate, set("a", 1));
    Caller second = setup.call(set("b", 1)).awaitParked();
    Caller third = setup.call(set("c", 1)).awaitParked();
    gate.open();
    for (Caller caller : List.of(leader, second, third)) {
      assertNull(caller.endInTime());
    }
    assertEquals(1, setup.logSyncs.get());
    setup.clock.advance(Duration.ofSeconds(3));
    setup.run(set("a", 2));
    assertEquals(2, setup.logSyncs.get());
    assertEquals(2, setup.committer.frames());
    assertEquals(2, setup.committer.durableFrame());
    List<Frame.Head> heads = frames(setup);
    assertEquals(2, heads.size());
    Frame.Head last = heads.getLast();
    assertEquals(new Frame.Head(last.payloadBytes(), 1, 2, 3, 3_000), last);
    assertEquals(3, heads.getFirst().commands());
    assertEquals(heads.getFirst().frameBytes() + last.frameBytes(), setup.committer.bytes());
    assertEquals(new HighWater.Mark(2, 4, 3_000, NOW + 3_000), mark(setup));
  }

  @Test
  void aReadWritesNothing() throws IOException {
    CommitterSetup setup = open(Durability.FSYNC);
    setup.run(READ);
    assertEquals(0, setup.committer.frames());
    assertEquals(0, setup.logSyncs.get());
    assertEquals(List.of(), frames(setup));
  }

  @Test
  void aTaskThatNeedsAnotherFrameGetsOneWithItsOwnTime() throws IOException {
    CommitterSetup setup = open(Durability.FSYNC);
    List<String> seen = new ArrayList<>();
    setup.run((state, group) -> {
      seen.add(state.frame + " at " + state.timeMillis + ", empty: " + group.isEmpty());
      TestOperation.access(state, group).set("a", seen.size());
      setup.clock.advance(Duration.ofSeconds(1));
      return seen.size() == 3;
    });
    assertEquals(
        List.of("1 at 0, empty: true", "2 at 1000, empty: true", "3 at 2000, empty: true"), seen);
    assertEquals(3, setup.committer.frames());
  }

  @Test
  void withoutFsyncFramesAreSyncedOnDemand() throws IOException {
    CommitterSetup setup = open(Durability.NONE);
    setup.run(set("a", 1));
    setup.run(set("a", 2));
    assertEquals(2, frames(setup).size());
    assertEquals(0, setup.logSyncs.get());
    assertEquals(0, setup.committer.durableFrame());
    assertEquals(START, mark(setup));
    setup.committer.sync();
    assertEquals(1, setup.logSyncs.get());
    assertEquals(2, setup.committer.durableFrame());
    assertEquals(new HighWater.Mark(2, 2, 0, NOW), mark(setup));
    setup.clock.advance(Duration.ofMillis(10));
    setup.committer.sync();
    assertEquals(1, setup.logSyncs.get(), "nothing is left to do");
    assertEquals(new HighWater.Mark(2, 2, 0, NOW), mark(setup));
  }

  @Test
  void aSyncIncludesItsGroup() throws IOException {
    CommitterSetup setup = open(Durability.NONE);
    Gate gate = new Gate();
    Caller leader = setup.lead(gate, set("a", 1));
    Thread syncing = Thread.ofPlatform().start(setup.committer::sync);
    while (java.util.concurrent.locks.LockSupport.getBlocker(syncing) != setup.committer) {
      assertTrue(syncing.isAlive(), "the call does not wait");
      Thread.onSpinWait();
    }
    gate.open();
    assertNull(leader.endInTime());
    assertTrue(joined(syncing));
    assertEquals(1, setup.committer.durableFrame());
    assertEquals(1, setup.logSyncs.get());
  }

  private static boolean joined(Thread thread) {
    Threads.join(thread);
    return !thread.isAlive();
  }

  @Test
  void aCloseSyncsEverythingAndMarksTheTime() throws IOException {
    CommitterSetup setup = open(Durability.NONE);
    setup.run(set("a", 1));
    setup.clock.advance(Duration.ofMillis(500));
    setup.committer.close();
    assertEquals(1, setup.logSyncs.get());
    assertEquals(1, setup.committer.durableFrame());
    assertEquals(new HighWater.Mark(1, 1, 500, NOW + 500, 4_144), mark(setup));
  }

  @Test
  void aCloseThatFailsStopsTheEngine() throws IOException {
    CommitterSetup setup = open(Durability.NONE);
    setup.run(set("a", 1));
    IOException injected = new IOException("injected");
    setup.onLogSync =
        () -> {
          throw injected;
        };
    setup.committer.close();
    assertSame(injected, setup.failure.cause().orElseThrow());
    assertEquals(START, mark(setup));
  }

  @Test
  void aCloseAfterAStopWritesNothing() throws IOException {
    CommitterSetup setup = open(Durability.NONE);
    setup.run(set("a", 1));
    setup.failure.stop(new AssertionError("injected"));
    setup.committer.close();
    assertEquals(0, setup.logSyncs.get());
    assertEquals(START, mark(setup));
  }

  @Test
  void aCallDuringACloseIsRejectedImmediately() throws IOException {
    CommitterSetup setup = open(Durability.NONE);
    setup.run(set("a", 1));
    List<Caller> late = new ArrayList<>();
    setup.onLogSync = () -> late.add(setup.call(set("b", 1)).awaitParked());
    setup.committer.close();
    Caller caller = late.getFirst();
    assertTrue(caller.step().isDone());
    QuipuException why = (QuipuException) caller.endInTime();
    assertEquals("the engine is closed", why == null ? "" : why.getMessage());
    assertEquals(0, caller.step().runs.get());
  }

  @Test
  void theTimeIsMarkedThoughNothingIsWritten() throws IOException {
    CommitterSetup setup = open(Durability.FSYNC);
    setup.run(set("a", 1));
    HighWater.Mark first = new HighWater.Mark(1, 1, 0, NOW);
    setup.clock.advance(Duration.ofSeconds(1)); // one in 64 of the window
    setup.run(READ);
    assertEquals(first, mark(setup));
    setup.clock.advance(Duration.ofMillis(1));
    setup.run(READ);
    assertEquals(new HighWater.Mark(1, 1, 1_001, NOW + 1_001), mark(setup));
    setup.clock.advance(Duration.ofSeconds(1));
    setup.run(READ);
    assertEquals(1_001, mark(setup).ageMillis(), "counted from the last mark");
    setup.clock.advance(Duration.ofMillis(1));
    setup.run(READ);
    assertEquals(2_002, mark(setup).ageMillis());
  }

  @Test
  void aStartMovesTheAgeByAnEighthOfTheWindowAtMost() throws IOException {
    HighWater.Mark kept = new HighWater.Mark(0, 0, 5_000, NOW - 3_600_000);
    CommitterSetup setup = open(kept, options -> options);
    List<Long> ages = new ArrayList<>();
    setup.run((state, group) -> ages.add(state.timeMillis));
    assertEquals(List.of(5_000L + 64_000 / 8), ages);
  }

  @Test
  void theLimitOfMemoryIsThatOfTheOptions() throws IOException {
    CommitterSetup setup = open(START, options -> options.withMemoryBytesMax(1 << 20));
    Work large =
        (state, group) -> {
          state.requireMemory((1 << 20) + 1);
          return true;
        };
    assertFull(assertThrows(QuipuException.class, () -> setup.run(large)));
  }

  /** So that one frame always fits into a segment after another one. */
  @Test
  void aFrameTakesHalfOfASegmentAtMost() throws IOException {
    CommitterSetup setup = open(Durability.NONE);
    int most =
        (CommitterSetup.SEGMENT_BYTES - Log.HEAD_BYTES) / 2 - Frame.HEAD_BYTES - Frame.ALIGNMENT;
    List<Boolean> fits = new ArrayList<>();
    setup.run((state, group) -> {
      fits.add(group.canEverFit(most));
      fits.add(group.canEverFit(most + 1));
      return true;
    });
    assertEquals(List.of(true, false), fits);
  }

  @Test
  void aSnapshotStartsWithTheNextFrameAndTheTablesOfIdsBeforeIt() throws IOException {
    CommitterSetup setup = open(Durability.FSYNC);
    setup.clock.advance(Duration.ofSeconds(2));
    setup.run(add(1));
    setup.run(set("a", 1));
    int epoch = setup.state.ids.epoch();
    assertEquals(new Snapshot.Start(3, 2, 2_000), setup.committer.startSnapshot());
    assertEquals(epoch == RequestIds.EPOCH_BEFORE ? 1 : epoch + 1, setup.state.ids.epoch());
    setup.clock.advance(Duration.ofSeconds(1));
    setup.run(set("a", 2));
    assertEquals(new Snapshot.Start(4, 3, 3_000), setup.committer.startSnapshot());
    setup.run(add(2));
    int later = setup.state.ids.epoch();
    setup.run(READ);
    assertEquals(later, setup.state.ids.epoch(), "a generation ends once for each snapshot");
  }

  @Test
  void tablesOfIdsAreSealedAndTheirFilesTaken() throws IOException {
    CommitterSetup setup = open(Durability.FSYNC);
    setup.run(add(1));
    var unused = setup.committer.startSnapshot();
    assertNull(setup.committer.awaitSealed());
    assertEquals(1, setup.state.ids.waiting());
    setup.run(READ);
    assertEquals(0, setup.state.ids.waiting());
    assertEquals(1, setup.state.ids.files().size());
    setup.committer.close();
    QuipuException why = setup.committer.awaitSealed();
    assertNotNull(why);
    assertEquals(Outcome.NOT_APPLIED, why.outcome());
  }

  @Test
  void noTableIsSealedBeforeTheFramesOfItsIdsAreSynced() throws IOException {
    CommitterSetup setup = open(Durability.NONE);
    List<Long> durable = new ArrayList<>();
    setup.onIdFile = () -> durable.add(setup.committer.durableFrame());
    setup.run(add(1));
    setup.run(add(2));
    var unused = setup.committer.startSnapshot();
    assertNull(setup.committer.awaitSealed());
    assertEquals(List.of(2L), durable);
    assertEquals(1, setup.logSyncs.get());
    setup.run(add(3));
    setup.committer.sync();
    setup.run(set("a", 1));
    assertEquals(5, setup.committer.startSnapshot().frame());
    assertNull(setup.committer.awaitSealed());
    assertEquals(List.of(2L, 3L), durable);
    assertEquals(2, setup.logSyncs.get(), "later frames have no ids of the table");
  }

  @Test
  void idsAreRejectedWhileTheyCannotBeSealed() throws IOException {
    CommitterSetup setup = open(Durability.NONE);
    AtomicBoolean isFull = new AtomicBoolean(true);
    setup.onIdFile =
        () -> {
          if (isFull.get()) {
            throw new IOException("No space left on device");
          }
        };
    for (int i = 0; i < IDS_MAX; i++) {
      setup.run(add(i));
    }
    assertFull(assertThrows(QuipuException.class, () -> setup.run(add(IDS_MAX))));
    setup.run(READ);
    assertFalse(setup.failure.hasEnded());
    isFull.set(false);
    boolean isRejected = true;
    while (isRejected) { // until the sealer has retried
      try {
        setup.run(add(IDS_MAX));
        isRejected = false;
      } catch (QuipuException e) {
        assertFull(e);
      }
    }
    assertEquals(IDS_MAX + 1, setup.state.ids.size());
  }

  @Test
  void idsWaitForADiskThatIsSlow() throws IOException {
    CommitterSetup setup = open(Durability.NONE);
    Gate gate = new Gate();
    AtomicInteger waits = new AtomicInteger();
    AtomicInteger files = new AtomicInteger();
    setup.onIdFile =
        () -> {
          files.incrementAndGet();
          gate.pass();
        };
    for (int i = 0; i < IDS_MAX; i++) {
      setup.run(add(i));
    }
    setup.onAwait =
        () -> {
          waits.incrementAndGet();
          gate.open();
        };
    setup.run(add(IDS_MAX));
    assertTrue(waits.get() > 0, "it did not wait");
    assertNull(setup.committer.awaitSealed());
    assertEquals(2, files.get(), "the next table follows at once");
    assertEquals(IDS_MAX + 1, setup.state.ids.size());
    for (int i = IDS_MAX + 1; i < 4 * IDS_MAX; i++) {
      setup.run(add(i));
    }
    assertEquals(4 * IDS_MAX, setup.state.ids.size());
  }

  @Test
  void changesAreRejectedBeforeTheLogIsFullAndReadsAreNot() throws IOException {
    CommitterSetup setup = open(Durability.NONE);
    setup.onAllocate =
        () -> {
          throw new IOException("No space left on device");
        };
    byte[] text = new byte[20_000];
    Work large =
        (state, group) -> {
          TestOperation.access(state, group).setText("a", text);
          return true;
        };
    int taken = 0;
    QuipuException full = null;
    while (full == null) {
      assertTrue(taken < 7, "three fit into a segment, and there are two segments at most");
      try {
        setup.run(large);
        taken++;
      } catch (QuipuException e) {
        full = e;
      }
    }
    assertFull(full);
    assertTrue(taken >= 2, "taken: " + taken);
    setup.run(READ);
    assertFalse(setup.failure.hasEnded());
  }
}
