package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.ForwardingDisk;
import dev.quipu.engine.environment.HeldLock;
import dev.quipu.engine.environment.Threads;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Condition;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.testkit.pace.Progress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Limits of calls, statistics, and what the engine does without being called. */
final class EngineCallsTest {
  private static final EngineOptions OPTIONS =
      EngineOptions.defaults().withLog(1 << 20, 4 << 20).withDurability(Durability.NONE);

  /** Speeds up the engine's threads: one second becomes a millisecond. */
  private static final Threads QUICK =
      new Threads() {
        @Override
        public Thread start(String name, Runnable work) {
          return Threads.PLATFORM.start(name, work);
        }

        @Override
        public void await(Lock lock, java.util.concurrent.locks.Condition condition, long nanos)
            throws InterruptedException {
          Threads.PLATFORM.await(lock, condition, nanos / 1_000);
        }
      };

  @TempDir Path directory;

  private static List<Add> adds(int count) {
    return Collections.nCopies(count, new Add("a", 1, null));
  }

  private static void await(BooleanSupplier condition) {
    assertTimeoutPreemptively(
        Progress.STALL_MAX,
        () -> {
          while (!condition.getAsBoolean()) {
            Thread.onSpinWait();
          }
        });
  }

  @Test
  void oneCallAcceptsTenThousandAdds() {
    try (Engine engine = Engine.open(directory, OPTIONS)) {
      String message =
          assertThrows(IllegalArgumentException.class, () -> engine.addAll(adds(10_001)))
              .getMessage();
      assertEquals("10001 adds in one call; the limit is 10000. Send several calls", message);
      assertEquals(Optional.empty(), engine.read("a"));
      assertEquals(10_000, engine.addAll(adds(10_000)).size());
      assertEquals(Optional.of(Reading.exact(10_000)), engine.read("a"));
    }
  }

  @Test
  void aPageHasOneToAThousandCounters() {
    try (Engine engine = Engine.open(directory, OPTIONS)) {
      engine.addAll(List.of(new Add("a", 1, null), new Add("b", 1, null)));
      assertThrows(IllegalArgumentException.class, () -> engine.list("", "", 0));
      String message =
          assertThrows(IllegalArgumentException.class, () -> engine.list("", "", 1_001))
              .getMessage();
      assertEquals("limit is 1001; it must be from 1 to 1000", message);
      assertEquals(1, engine.list("", "", 1).counters().size());
      assertEquals(2, engine.list("", "", 1_000).counters().size());
    }
  }

  @Test
  void anInvalidNameIsRejected() {
    try (Engine engine = Engine.open(directory, OPTIONS)) {
      RequestId id = RequestId.of("one");
      assertThrows(IllegalArgumentException.class, () -> engine.read(""));
      assertThrows(IllegalArgumentException.class, () -> engine.read("a\u0001"));
      assertThrows(IllegalArgumentException.class, () -> engine.outcome("", id));
      assertThrows(IllegalArgumentException.class, () -> engine.cancel("x".repeat(513), id));
      assertEquals(0, engine.statistics().tombstones());
    }
  }

  @Test
  void aTextAndAnExpiredCounterAreNotRead() {
    ManualClock clock = new ManualClock(1_000_000);
    try (Engine engine = Engine.open(directory, OPTIONS.withClock(clock))) {
      TestOperation.run(
          engine,
          access -> {
            access.setText("text", new byte[] {'t'});
            access.set("expires", 1);
            access.expire("expires", 1_000_001);
          });
      assertEquals(Optional.empty(), engine.read("text"));
      assertEquals(Optional.of(Reading.exact(1)), engine.read("expires"));
      clock.advance(Duration.ofMillis(1));
      assertEquals(Optional.empty(), engine.read("expires"));
      assertEquals(Optional.empty(), engine.read("never there"));
    }
  }

  @Test
  void aRequestIsCanceledOnlyOnDemand() {
    Add add = new Add("a", 5, RequestId.of("one"));
    RequestId other = RequestId.of("other");
    try (Engine engine = Engine.open(directory, OPTIONS)) {
      assertEquals(new RequestOutcome.NotSeen(), engine.outcome("a", other));
      assertEquals(new RequestOutcome.NotSeen(), engine.outcome("a", other));
      engine.add(add);
      RequestOutcome applied = new RequestOutcome.Applied(5, OptionalLong.of(5));
      assertEquals(applied, engine.outcome("a", RequestId.of("one")));
      assertEquals(applied, engine.cancel("a", RequestId.of("one")));
      assertEquals(new RequestOutcome.Canceled(), engine.cancel("a", other));
      assertEquals(new RequestOutcome.Canceled(), engine.outcome("a", other));
      assertEquals(
          new AddResult.Rejected(dev.quipu.Rejection.CANCELED, 5),
          engine.add(new Add("a", 1, other)));
    }
  }

  @Test
  void statisticsCountContentAndWork() {
    try (Engine engine = Engine.open(directory, OPTIONS)) {
      EngineStatistics empty = engine.statistics();
      assertEquals(new EngineStatistics.Adds(0, 0, 0, 0, 0, 0, 0), empty.adds());
      assertEquals(0, empty.counters() + empty.memoryBytes() + empty.frames());
      assertEquals(empty, engine.latestStatistics());
      engine.addAll(
          List.of(
              new Add("a", 1, RequestId.of("1")),
              new Add("b", 1, RequestId.of("2")),
              new Add("c", 1, RequestId.of("3")),
              new Add("d", 1, null)));
      TestOperation.run(engine, access -> access.remove("b"));
      for (String sort : List.of("1", "2")) {
        engine
            .driver()
            .write(
                new Write.Put(
                    new Key("p", sort),
                    Map.of("f", new Field.Number(1)),
                    Optional.empty(),
                    Condition.always()));
      }
      EngineStatistics found = engine.statistics();
      assertEquals(found, engine.latestStatistics());
      assertEquals(new EngineStatistics.Adds(4, 0, 0, 0, 0, 0, 0), found.adds());
      assertEquals(3, found.requestIdsInMemory());
      assertEquals(found.logBytes(), found.replayBytes());
      assertEquals(3, found.counters());
      assertEquals(1, found.tombstones());
      assertEquals(2, found.items());
      assertEquals(3, found.requestIds());
      assertEquals(0, found.idFiles());
      assertEquals(4, found.frames(), "one for each call");
      assertTrue(found.logBytes() >= 4 * 40 && found.logBytes() % 8 == 0);
      assertTrue(found.memoryBytes() > 4 * 48 + 2 * 256, "bytes: " + found.memoryBytes());
      assertEquals(1, found.segments());
      engine.checkpoint();
      assertEquals(1, engine.statistics().idFiles());
      assertEquals(3, engine.statistics().requestIds());
      assertEquals(0, engine.statistics().requestIdsInMemory());
      assertEquals(0, engine.statistics().replayBytes());
    }
  }

  @Test
  void aSnapshotThatCannotBeWrittenIsReported() {
    Disk disk =
        new ForwardingDisk(new FileDisk()) {
          @Override
          public void rename(Path from, Path to) throws IOException {
            if (to.toString().endsWith(".snap")) {
              throw new IOException("injected");
            }
            super.rename(from, to);
          }
        };
    try (Engine engine = Engine.open(directory, OPTIONS, new Environment(disk, Threads.PLATFORM))) {
      QuipuException why = assertThrows(QuipuException.class, engine::checkpoint);
      assertEquals(Outcome.NOT_APPLIED, why.outcome());
      assertEquals(Reason.UNAVAILABLE, why.reason());
      assertEquals("cannot take a snapshot: injected", why.getMessage());
      assertEquals(new AddResult.Applied(1, OptionalLong.of(1)), engine.add(new Add("a", 1, null)));
    }
  }

  @Test
  void itDescribesItself() {
    for (Durability each : List.of(Durability.NONE, Durability.FSYNC)) {
      try (Engine engine = Engine.open(directory, OPTIONS.withDurability(each))) {
        assertSame(each, engine.durability());
        assertEquals("engine", engine.spec().name());
        assertEquals(Engine.storeProfile(), engine.driver().profile());
        assertEquals("engine", Engine.storeProfile().name());
        assertSame(engine.driver(), engine.driver());
      }
    }
  }

  @Test
  void aFailureIsReportedOnceAndNothingCountsAnyMore() {
    List<Throwable> reported = new ArrayList<>();
    Throwable cause = new IOException("first");
    try (Engine engine = Engine.open(directory, OPTIONS)) {
      engine.onFailure(reported::add);
      assertEquals(Optional.empty(), engine.failure());
      engine.stop(cause);
      engine.stop(new IOException("second"));
      assertEquals(Optional.of(cause), engine.failure());
      assertEquals(List.of(cause), reported);
      assertThrows(QuipuException.class, () -> engine.add(new Add("a", 1, null)));
    }
  }

  @Test
  void expiredCountersAreRemovedWithoutACall() {
    ManualClock clock = new ManualClock(1_000_000);
    try (Engine engine =
        Engine.open(directory, OPTIONS.withClock(clock), new Environment(new FileDisk(), QUICK))) {
      TestOperation.run(
          engine,
          access -> {
            access.set("a", 1);
            access.expire("a", 1_000_001);
          });
      clock.advance(Duration.ofMillis(1));
      await(() -> engine.statistics().tombstones() == 0); // the name is gone too
    }
  }

  @Test
  void expiredCountersAreRemovedOnDemand() {
    ManualClock clock = new ManualClock(1_000_000);
    try (Engine engine = Engine.open(directory, OPTIONS.withClock(clock))) {
      TestOperation.run(
          engine,
          access -> {
            access.set("a", 1);
            access.expire("a", 1_000_001);
          });
      clock.advance(Duration.ofMillis(1));
      engine.sweep();
      assertEquals(0, engine.statistics().tombstones());
    }
  }

  @Test
  void anEngineThatLostItsDirectoryStops() {
    AtomicBoolean isLost = new AtomicBoolean();
    Disk disk =
        new ForwardingDisk(new FileDisk()) {
          @Override
          public HeldLock lock(Path locked) throws IOException {
            HeldLock lock = super.lock(locked);
            return new HeldLock() {
              @Override
              public void check() throws IOException {
                if (isLost.get()) {
                  throw new IOException("lost");
                }
              }

              @Override
              public void close() throws IOException {
                lock.close();
              }
            };
          }
        };
    try (Engine engine = Engine.open(directory, OPTIONS, new Environment(disk, QUICK))) {
      engine.add(new Add("a", 1, null));
      isLost.set(true);
      await(() -> engine.failure().isPresent());
      assertEquals("lost", engine.failure().orElseThrow().getMessage());
      assertThrows(QuipuException.class, () -> engine.add(new Add("a", 1, null)));
    }
  }

  /** Counts syncs of the log. */
  private static final class SyncCount extends ForwardingDisk {
    final AtomicInteger syncs = new AtomicInteger();

    SyncCount() {
      super(new FileDisk());
    }

    @Override
    public DiskFile create(Path file) throws IOException {
      return counted(file, super.create(file));
    }

    @Override
    public DiskFile open(Path file) throws IOException {
      return counted(file, super.open(file));
    }

    private DiskFile counted(Path path, DiskFile file) {
      boolean isLog = path.getFileName().toString().matches("[0-9]+\\.log");
      return new DiskFile() {
        @Override
        public void write(ByteBuffer bytes, long offset) throws IOException {
          file.write(bytes, offset);
        }

        @Override
        public void sync() throws IOException {
          file.sync();
          if (isLog) {
            syncs.incrementAndGet();
          }
        }

        @Override
        public void close() throws IOException {
          file.close();
        }
      };
    }
  }

  @Test
  void aPeriodicSyncNeedsNoCall() {
    Durability often = new Durability.Interval(Duration.ofMillis(100));
    SyncCount disk = new SyncCount();
    try (Engine engine =
        Engine.open(directory, OPTIONS.withDurability(often), new Environment(disk, QUICK))) {
      assertSame(often, engine.durability());
      int before = disk.syncs.get();
      engine.add(new Add("a", 1, null));
      await(() -> disk.syncs.get() > before);
    }
  }
}
