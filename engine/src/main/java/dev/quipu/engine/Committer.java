package dev.quipu.engine;

import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/*
 * Every call becomes a task in a queue. One thread at a time leads: it takes the tasks that are
 * there, runs them on the state, writes one frame, syncs, and lets their callers go. There is no
 * thread of its own for it: a caller that finds nobody leading leads, so that a lone call needs no
 * other thread to wake up; while it syncs, others queue, and are the next group.
 *
 * Reads are tasks as well. What a read saw is on the disk before its caller hears of it.
 *
 * After an I/O error on a frame nobody knows what is on the disk. Its callers hear UNKNOWN, and the
 * engine stops: only opening it again tells what is there.
 */

/** Turns calls into groups, each of which is one write and one sync. Thread-safe. */
final class Committer {
  private static final int TASKS_PER_FRAME_MAX = 16_384;
  private static final int ROUNDS_MAX = 8;
  private static final int FRAME_BYTES_MAX = 8 << 20;

  private final State state;
  private final Log log;
  private final HighWater highWater;
  private final Frame frame;
  private final Group group;
  private final Clock clock;
  private final Duration callDeadline;
  private final Sealer sealer;
  private final boolean syncsEach;
  private final ConcurrentLinkedQueue<Task> queue = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean leading = new AtomicBoolean();
  private final List<Task> ready = new ArrayList<>();
  private final int frameBytesMax;
  private final long wallStartMillis;
  private final long nanoStart;
  private final LongAdder frames = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final AtomicReference<@Nullable Consumer<Throwable>> onFailure = new AtomicReference<>();
  private volatile @Nullable StoreException stopped;
  private volatile boolean rotateWanted;
  private volatile Snapshot.@Nullable Start snapshotStart;
  private volatile long durableFrame;

  Committer(
      State state,
      Log log,
      HighWater highWater,
      long identity,
      EngineOptions options,
      Sealer sealer) {
    this.state = state;
    this.log = log;
    this.highWater = highWater;
    this.frame = new Frame(identity);
    this.frameBytesMax = Math.min(FRAME_BYTES_MAX, log.frameBytesMax() / 2);
    this.group = new Group(frameBytesMax);
    this.clock = options.clock();
    this.callDeadline = options.callDeadline();
    this.sealer = sealer;
    this.syncsEach = options.durability() instanceof Durability.Fsync;
    this.wallStartMillis = Math.max(clock.epochMillis(), state.timeMillis);
    this.nanoStart = clock.nanoTime();
    this.durableFrame = state.frame;
    state.counters.startVersions(wallStartMillis << 20);
    state.frame++; // from now on, the frame that is being filled
    state.idsAreSealed = false;
  }

  /**
   * Runs a task and returns when what it did has reached the disk.
   *
   * @throws StoreException if it was refused, or it is not known whether it was done
   */
  void run(Task task) {
    queue.add(task);
    long deadline = 0;
    while (!task.isDone()) {
      if (leading.compareAndSet(false, true)) {
        boolean interrupted = Thread.interrupted(); // waits until the group is through
        try {
          lead();
        } finally {
          leading.set(false);
          if (interrupted) {
            Thread.currentThread().interrupt();
          }
        }
        wakeNext();
        continue;
      }
      long now = Clock.system().nanoTime();
      deadline = deadline == 0 ? now + callDeadline.toNanos() : deadline;
      if (now - deadline >= 0) {
        throw StoreException.unknown(
            Reason.TIMEOUT, "no answer from the disk within " + callDeadline, null);
      }
      LockSupport.parkNanos(this, deadline - now);
      if (Thread.interrupted()) {
        Thread.currentThread().interrupt();
        throw StoreException.unknown(Reason.UNAVAILABLE, "interrupted while waiting", null);
      }
    }
    task.rethrow();
  }

  /**
   * Ends the generation of request ids, between two frames, and tells with which frame a snapshot
   * that is taken from now on starts.
   */
  Snapshot.Start startSnapshot() {
    snapshotStart = null;
    rotateWanted = true;
    while (true) {
      run(new Nothing()); // throws if the engine has stopped
      Snapshot.Start start = snapshotStart;
      if (start != null) {
        return start;
      }
    }
  }

  /** Waits for request ids that are on their way to disk; see {@link Sealer#awaitSealed}. */
  @Nullable StoreException awaitSealed() {
    return sealer.awaitSealed();
  }

  /**
   * Returns when all frames have reached the disk, whatever the durability.
   *
   * @throws StoreException if the engine has stopped
   */
  void sync() {
    run(new Syncing());
    StoreException why = stopped;
    if (why != null) {
      throw why;
    }
  }

  /** The last frame that has reached the disk. */
  long durableFrame() {
    return durableFrame;
  }

  /** Frames written since the start. */
  long frames() {
    return frames.sum();
  }

  /** Bytes of frames written since the start. */
  long bytes() {
    return bytes.sum();
  }

  /** What stopped the engine; null while it runs. */
  @Nullable StoreException stopped() {
    return stopped;
  }

  /** Refuses all calls from now on, and returns when the last group is through. */
  void close() {
    if (stopped == null) {
      run(new Syncing());
      run(new Closing());
    }
  }

  private void wakeNext() {
    Task next = queue.peek();
    if (next != null) {
      LockSupport.unpark(next.caller());
    }
  }

  private void lead() {
    for (int round = 0; round < ROUNDS_MAX && !queue.isEmpty(); round++) {
      begin();
      int taken = 0;
      for (Task task = queue.poll(); task != null; task = queue.poll()) {
        execute(task);
        if (++taken == TASKS_PER_FRAME_MAX) {
          break;
        }
      }
      flush();
    }
  }

  private void execute(Task task) {
    try {
      StoreException why = stopped;
      if (why != null) {
        throw StoreException.notApplied(why.reason(), why.getMessage());
      }
      while (!task.run(state, group)) {
        flush();
        begin();
        if (stopped != null) {
          throw StoreException.unknown(
              Reason.UNAVAILABLE, Objects.requireNonNull(stopped).getMessage(), stopped);
        }
      }
      ready.add(task);
    } catch (RuntimeException e) {
      task.fail(e);
    }
  }

  private void begin() {
    if (stopped != null) { // what is in memory may not be on the disk: let nothing go there
      group.begin(stopped);
      return;
    }
    long elapsed = clock.nanoTime() - nanoStart;
    state.timeMillis = Math.max(state.timeMillis, wallStartMillis + elapsed / 1_000_000);
    sealer.takeSealed(state.ids);
    if (rotateWanted) {
      state.ids.rotate();
      snapshotStart = new Snapshot.Start(state.frame, state.commands, state.timeMillis);
      rotateWanted = false;
    }
    state.ids.advance(state.timeMillis);
    offerNext();
    group.begin(refusal());
  }

  /** Has the oldest table sealed; never before the frames that its ids came with are synced. */
  private void offerNext() {
    IdTable table = state.ids.nextWaiting();
    if (table != null && table.lastFrame() > durableFrame) {
      syncAll();
    }
    if (stopped == null) {
      sealer.offer(table);
    }
  }

  private @Nullable StoreException refusal() {
    if (!log.hasRoom(frameBytesMax)) {
      return log.noRoom();
    }
    while (!state.ids.hasRoom()) {
      StoreException failure = sealer.awaitSealed();
      sealer.takeSealed(state.ids);
      state.ids.advance(state.timeMillis);
      offerNext();
      if (failure != null && !state.ids.hasRoom()) {
        return failure;
      }
    }
    return null;
  }

  private void flush() {
    if (!group.isEmpty()) {
      try {
        ByteBuffer out = group.end(frame, state, state.commands);
        int length = out.remaining();
        log.append(out, state.frame, syncsEach);
        state.commands += group.commands();
        state.frame++;
        if (syncsEach) {
          acknowledged();
        }
        frames.increment();
        bytes.add(length);
      } catch (IOException | RuntimeException e) {
        stop(e);
        return;
      }
    }
    for (Task task : ready) {
      task.succeed();
    }
    ready.clear();
    group.begin(null);
  }

  /** All frames so far are on the disk. */
  private void acknowledged() throws IOException {
    long last = state.frame - 1;
    highWater.write(last, state.commands);
    durableFrame = last;
  }

  private void syncAll() {
    try {
      log.sync();
      if (durableFrame != state.frame - 1) {
        acknowledged();
      }
    } catch (IOException | RuntimeException e) {
      stop(e);
    }
  }

  /** Stops the engine on a failure; see {@link Engine#stop}. */
  void stop(Throwable cause) {
    if (failure.compareAndSet(null, cause)) {
      stopped =
          StoreException.unknown(
              Reason.UNAVAILABLE, "the engine stopped and must be opened again: " + cause, cause);
      Consumer<Throwable> listener = onFailure.getAndSet(null);
      if (listener != null) {
        listener.accept(cause);
      }
    }
  }

  Optional<Throwable> failure() {
    return Optional.ofNullable(failure.get());
  }

  void onFailure(Consumer<Throwable> listener) {
    onFailure.set(listener);
    Throwable cause = failure.get();
    if (cause != null && onFailure.compareAndSet(listener, null)) {
      listener.accept(cause);
    }
  }

  private void stop(Exception e) {
    StoreException why =
        StoreException.unknown(
            Reason.UNAVAILABLE,
            "the engine stopped after an error of the disk, and must be opened again: " + e,
            e);
    stopped = why;
    for (Task task : ready) {
      task.fail(why);
    }
    ready.clear();
    group.begin(why);
  }

  /** A task that only makes a frame begin. */
  static final class Nothing extends Task {
    @Override
    boolean run(State state, Group group) {
      return true;
    }
  }

  /** Brings to the disk what was answered before it was there. */
  private final class Syncing extends Task {
    @Override
    boolean run(State state, Group group) {
      if (!group.isEmpty()) {
        return false; // first what is in this frame
      }
      if (stopped == null) {
        syncAll();
      }
      return true;
    }
  }

  /** The last task. */
  private final class Closing extends Task {
    @Override
    boolean run(State state, Group group) {
      stopped = StoreException.notApplied(Reason.UNAVAILABLE, "the engine is closed");
      return true;
    }
  }
}
