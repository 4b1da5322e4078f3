package dev.quipu.engine.commit;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.TestOperation;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.ForwardingDisk;
import dev.quipu.engine.environment.Threads;
import dev.quipu.engine.ids.IdFiles;
import dev.quipu.engine.ids.Sealer;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.state.State;
import dev.quipu.simulation.time.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A committer on files in a directory, with callers, a clock and a disk controlled by tests. */
public final class CommitterSetup implements AutoCloseable {
  static final long IDENTITY = 77;
  static final long NOW = 1_800_000_000_000L;
  static final Duration WINDOW = Duration.ofSeconds(64);
  static final int SEGMENT_BYTES = 1 << 16;
  static final int IDS_IN_MEMORY = 16;

  final ManualClock clock = new ManualClock(NOW);
  final Failure failure = new Failure();
  final State state = new State(IDENTITY, WINDOW.toMillis(), IDS_IN_MEMORY, 0);
  final AtomicInteger logSyncs = new AtomicInteger();
  final Path data;
  final Disk disk = new TestDisk();
  final Committer committer;
  private final Log log;
  private final HighWater highWater;
  private final Sealer sealer;
  private boolean isClosed;

  /** Runs with each sync of the log, on the leader's thread. */
  volatile OnDisk onLogSync = () -> {};

  /** Runs when a file of request ids is created, on the sealer's thread. */
  volatile OnDisk onIdFile = () -> {};

  /** Runs when a log file is created. */
  volatile OnDisk onAllocate = () -> {};

  /** Runs when one thread of the engine waits for another. */
  volatile Runnable onAwait = () -> {};

  /** An action instead of, or in addition to, a call to the disk. */
  interface OnDisk {
    void run() throws IOException;
  }

  CommitterSetup(Path data) throws IOException {
    this(data, new HighWater.Mark(0, 0, 0, NOW), options -> options);
  }

  CommitterSetup(Path data, HighWater.Mark kept, UnaryOperator<EngineOptions> change)
      throws IOException {
    this.data = data;
    Files.createDirectories(Log.directory(data));
    Files.createDirectories(IdFiles.directory(data));
    EngineOptions options =
        change.apply(
            EngineOptions.defaults()
                .withLog(SEGMENT_BYTES, SEGMENT_BYTES)
                .withWindow(WINDOW)
                .withIdsInMemoryMax(IDS_IN_MEMORY)
                .withCallDeadline(Duration.ofMinutes(5))
                .withClock(clock));
    Environment environment = new Environment(disk, new TestThreads());
    HighWater.create(disk, data, IDENTITY, kept);
    state.ready();
    log = Log.open(environment, data, IDENTITY, SEGMENT_BYTES, List.of(), 0, 0, false, 1, failure);
    highWater = HighWater.open(disk, data, IDENTITY, kept);
    sealer = new Sealer(environment, data, failure);
    committer =
        new Committer(
            environment,
            state,
            log,
            highWater,
            IDENTITY,
            kept,
            TestOperation.settings(options),
            sealer,
            failure);
  }

  /** Files that are written but not synced: nothing here outlives the process. */
  private final class TestDisk extends ForwardingDisk {
    TestDisk() {
      super(new FileDisk());
    }

    @Override
    public DiskFile create(Path file) throws IOException {
      if (file.getFileName().toString().endsWith(".ids.tmp")) {
        onIdFile.run();
      }
      return new Unsynced(super.create(file), false);
    }

    @Override
    public DiskFile open(Path file) throws IOException {
      boolean isLog = file.getFileName().toString().matches("[0-9]{16}\\.log");
      return new Unsynced(super.open(file), isLog);
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
      Files.move(from, to, StandardCopyOption.REPLACE_EXISTING);
    }

    @Override
    public void allocate(Path path, long size) throws IOException {
      onAllocate.run();
      super.allocate(path, size);
    }
  }

  private final class Unsynced implements DiskFile {
    private final DiskFile file;
    private final boolean isLog;

    Unsynced(DiskFile file, boolean isLog) {
      this.file = file;
      this.isLog = isLog;
    }

    @Override
    public void write(java.nio.ByteBuffer bytes, long offset) throws IOException {
      file.write(bytes, offset);
    }

    @Override
    public void sync() throws IOException {
      if (isLog) {
        logSyncs.incrementAndGet();
        onLogSync.run();
      }
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }

  /** Threads whose waits are short, so that retries come soon. */
  private final class TestThreads implements Threads {
    @Override
    public Thread start(String name, Runnable work) {
      return PLATFORM.start(name, work);
    }

    @Override
    public void await(Lock lock, Condition condition, long nanos) throws InterruptedException {
      onAwait.run();
      PLATFORM.await(lock, condition, Math.min(nanos, 1_000_000));
    }
  }

  /** The work of a task. */
  interface Work {
    boolean on(State state, Group group) throws IOException;
  }

  /** A task that records its leader. */
  static final class Step extends Task {
    private final Work work;
    final AtomicInteger runs = new AtomicInteger();
    volatile @Nullable Thread leader;

    Step(Work work) {
      this.work = work;
    }

    @Override
    public boolean run(State state, Group group) throws IOException {
      leader = Thread.currentThread();
      runs.incrementAndGet();
      return work.on(state, group);
    }
  }

  /** Returns work that sets a counter. */
  static Work set(String counter, long value) {
    return (state, group) -> {
      TestOperation.access(state, group).set(counter, value);
      return true;
    };
  }

  /** Runs a task on this thread. */
  Step run(Work work) {
    Step step = new Step(work);
    committer.run(step);
    return step;
  }

  /** Blocks the thread that passes, until it is opened. */
  public static final class Gate {
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch opened = new CountDownLatch(1);

    public void pass() {
      entered.countDown();
      await(opened);
    }

    public void open() {
      opened.countDown();
    }

    public void awaitEntered() {
      await(entered);
    }

    private static void await(CountDownLatch latch) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  /** A thread that makes one call. */
  final class Caller {
    final Thread thread;
    private @Nullable Step step;
    private @Nullable RuntimeException thrown;
    private boolean isInterrupted;

    /** A call whose task is created by its own thread, unless one is given. */
    private Caller(Work work, @Nullable Step made) {
      step = made;
      thread =
          Thread.ofPlatform()
              .start(() -> {
                Step mine = made == null ? new Step(work) : made;
                step = mine;
                try {
                  committer.run(mine);
                } catch (RuntimeException e) {
                  thrown = e;
                }
                isInterrupted = Thread.currentThread().isInterrupted();
              });
    }

    /** Returns when the call waits in the queue. */
    Caller awaitParked() {
      while (LockSupport.getBlocker(thread) != committer) {
        assertTrue(thread.isAlive(), "the call does not wait");
        Thread.onSpinWait();
      }
      return this;
    }

    Step step() {
      return Objects.requireNonNull(step);
    }

    /** Returns what the call finally threw; null for nothing. */
    @Nullable RuntimeException end() {
      try {
        thread.join();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      return thrown;
    }

    /** As {@link #end}, for a call that was woken and did not give up. */
    @Nullable RuntimeException endInTime() {
      RuntimeException why = end();
      assertFalse(step().isAbandoned(), "nobody woke the call");
      return why;
    }

    boolean keptInterrupt() {
      return isInterrupted;
    }
  }

  /** Starts a call on its own thread. */
  Caller call(Work work) {
    return new Caller(work, null);
  }

  /** Starts a call that cannot be woken: another thread is woken in its place. */
  Caller callThatNobodyWakes(Work work) {
    return new Caller(work, new Step(work));
  }

  /** Starts a call that leads, and continues when the gate opens. */
  Caller lead(Gate gate, Work then) {
    Caller leader =
        call((state, group) -> {
          gate.pass();
          return then.on(state, group);
        });
    gate.awaitEntered();
    return leader;
  }

  @Override
  public void close() throws IOException {
    if (!isClosed) {
      isClosed = true;
      committer.close();
      sealer.close();
      log.close();
      highWater.close();
    }
  }
}
