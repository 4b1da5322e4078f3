package dev.quipu.engine.commit;

import dev.quipu.Limits;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.Settings;
import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.ids.Sealer;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.measure.EngineObserver.Work;
import dev.quipu.engine.measure.Stopwatch;
import dev.quipu.engine.recovery.Snapshot;
import dev.quipu.engine.state.State;
import dev.quipu.engine.state.StateSizes;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Commits calls in groups, each of which is one write and one sync. Thread-safe.
 *
 * <pre>{@code
 * Group commit. Every call becomes a task in a queue. One thread at a time is the commit leader: it
 * takes the queued tasks, runs them on the state, writes one frame, syncs, and releases their
 * callers. There is no dedicated thread: a caller that finds no leader becomes the leader, so that
 * a single call needs no thread switch; while it syncs, other callers queue and form the next
 * group.
 *
 * A leader that is done wakes the caller of the next task. A caller that gives up waiting marks its
 * task abandoned first, and then checks once more whether it can lead; a leader that finds only
 * abandoned tasks continues to lead. So a queued task always has a thread responsible for it.
 *
 * Reads are tasks as well. What a read observed is on disk before its caller gets it.
 *
 * Any Throwable after a task has changed memory stops the engine: see Failure.
 * }</pre>
 */
public final class Committer {
  private static final int TASKS_PER_FRAME_MAX = 16_384;
  private static final int ROUNDS_MAX = 8;
  private static final int FRAME_BYTES_MAX = 8 << 20;
  private static final int MARKS_PER_WINDOW = 64;

  private final State state;
  private final Log log;
  private final HighWater highWater;
  private final Frame frame;
  private final Group group;
  private final EngineClock clock;
  private final Duration callDeadline;
  private final Sealer sealer;
  private final Failure failure;
  private final boolean syncsEach;
  private final ConcurrentLinkedQueue<Task> queue = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean leading = new AtomicBoolean();
  private final List<Task> ready = new ArrayList<>();
  private @Nullable Task current;
  private final int frameBytesMax;
  private final LongAdder frames = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final Stopwatch stopwatch;
  private volatile StateSizes latest;
  private long groupStart;
  private volatile boolean rotateWanted;
  private volatile Snapshot.@Nullable Start snapshotStart;
  private volatile long durableFrame;
  private long durableCommands;
  private final long markEveryMillis;
  private long markedMillis;

  public Committer(
      Environment environment,
      State state,
      Log log,
      HighWater highWater,
      long identity,
      HighWater.Mark kept,
      Settings settings,
      Sealer sealer,
      Failure failure) {
    this.state = state;
    this.log = log;
    this.highWater = highWater;
    this.frame = new Frame(identity);
    this.frameBytesMax = Math.min(FRAME_BYTES_MAX, log.frameBytesMax() / 2);
    this.group = new Group(environment.disk().buffer(frameBytesMax), state.counters.followers);
    this.clock =
        new EngineClock(settings.clock(), state.timeMillis, kept, settings.leapMillisMax());
    this.callDeadline = settings.callDeadline();
    this.sealer = sealer;
    this.failure = failure;
    this.syncsEach = settings.syncsEach();
    this.durableFrame = state.frame;
    this.durableCommands = state.commands;
    this.markEveryMillis = settings.window().toMillis() / MARKS_PER_WINDOW;
    this.markedMillis = state.timeMillis;
    this.stopwatch = environment.stopwatch();
    this.latest = state.sizes();
    state.limitMemory(settings.memoryBytesMax());
    state.thresholds.limitFrame(frameBytesMax / 2); // the log takes frames of twice this size
    state.frame++; // replaced by the frame that is being filled
    state.idsAreSealed = false;
    failure.onEnd(this::freeWaiters);
  }

  /**
   * Runs a task and returns when its effect is on disk.
   *
   * @throws QuipuException if it was rejected, or its outcome is unknown
   */
  public void run(Task task) {
    try {
      queue.add(task);
      await(task);
    } catch (Error e) {
      task.abandon(); // no caller waits for it
      failure.stop(e);
      throw e;
    }
    task.rethrow();
  }

  /** Returns what {@code work} computes from the state at one moment; it must fit into a frame. */
  public <T> T get(BiFunction<State, Group, T> work) {
    Query<T> query = new Query<>(work);
    run(query);
    return query.result();
  }

  private void await(Task task) {
    long deadline = 0;
    while (!task.isDone()) {
      if (leading.compareAndSet(false, true)) {
        leadAndHandOver();
        if (!task.isDone() && failure.hasEnded()) {
          task.fail(failure.unknown()); // an error occurred between two checks
        }
        continue;
      }
      long now = Clock.system().nanoTime();
      deadline = deadline == 0 ? now + callDeadline.toNanos() : deadline;
      if (now - deadline >= 0) {
        giveUp(task, Reason.TIMEOUT, "no reply from the disk within " + Limits.text(callDeadline));
        break;
      }
      LockSupport.parkNanos(this, deadline - now);
      if (Thread.interrupted()) {
        try {
          giveUp(task, Reason.UNAVAILABLE, "interrupted while waiting");
        } finally {
          Thread.currentThread().interrupt();
        }
        break;
      }
    }
  }

  /**
   * Stops waiting for a task.
   *
   * @throws QuipuException if it is not done yet
   */
  private void giveUp(Task task, Reason reason, String why) {
    task.abandon(); // before checking for a leader, which then wakes another caller
    if (leading.compareAndSet(false, true)) {
      leadAndHandOver();
    }
    if (!task.isDone()) {
      throw new OutcomeUnknownException(reason, why, null);
    }
  }

  private void leadAndHandOver() {
    boolean interrupted = false;
    try {
      do {
        try {
          interrupted |= Thread.interrupted(); // waits until the group is complete
          lead();
        } finally {
          leading.set(false);
        }
      } while (!wakeNext() && leading.compareAndSet(false, true));
    } catch (Throwable e) { // otherwise the next caller is not woken
      failure.stop(e);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends all waiting calls after the engine has ended; an active leader does so itself. */
  private void freeWaiters() {
    do {
      if (!leading.compareAndSet(false, true)) {
        return; // the active leader detects this
      }
      try {
        drain();
      } finally {
        leading.set(false);
      }
    } while (!queue.isEmpty()); // a call may have been queued since, and waits for this leader
  }

  /**
   * Wakes the caller of the next task; returns false if that task was abandoned, so that this
   * leader must run it. Allocates nothing: see {@link #drain}.
   */
  private boolean wakeNext() {
    Task next = queue.peek();
    if (next == null) {
      return true;
    }
    if (next.isAbandoned()) {
      return false;
    }
    LockSupport.unpark(next.caller());
    return true;
  }

  /**
   * Ends the generation of request ids, between two frames, and returns the frame at which a
   * snapshot taken from now on starts.
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

  /** Waits for request ids that are being written to disk; see {@link Sealer#awaitSealed}. */
  @Nullable QuipuException awaitSealed() {
    return sealer.awaitSealed();
  }

  /**
   * Syncs all frames to disk, regardless of the durability.
   *
   * @throws QuipuException if the engine has stopped
   */
  public void sync() {
    run(new Syncing());
  }

  /** Returns the number of the last frame that is on disk. */
  public long durableFrame() {
    return durableFrame;
  }

  /** Returns the number of frames written since the start. */
  public long frames() {
    return frames.sum();
  }

  /** Returns the bytes of frames written since the start. */
  public long bytes() {
    return bytes.sum();
  }

  /** Returns the sizes of the state after the last group. */
  public StateSizes latest() {
    return latest;
  }

  /** Rejects all calls from now on, and returns when the last group is complete. */
  @SuppressWarnings("ThreadPriorityCheck") // closing is rare, and a group completes soon
  public void close() {
    while (!leading.compareAndSet(false, true)) {
      Thread.yield(); // the subsequent steps close files that a leader uses
    }
    lead(); // everything queued before
    try {
      if (!failure.hasEnded()) {
        syncAll();
        tick();
        mark(log.end());
      }
    } catch (Throwable e) {
      failure.stop(e);
    }
    failure.close();
    leading.set(false);
    freeWaiters();
  }

  private void lead() {
    try {
      for (int round = 0; round < ROUNDS_MAX && !failure.hasEnded() && !queue.isEmpty(); round++) {
        begin();
        int taken = 0;
        for (Task task = queue.peek(); task != null; task = queue.peek()) {
          current = task; // before it leaves the queue, so that its call ends in any case
          queue.poll();
          execute(task);
          if (++taken == TASKS_PER_FRAME_MAX || failure.hasEnded()) {
            break;
          }
        }
        flush();
      }
    } catch (Throwable e) { // memory may differ from the log: nothing is acknowledged any more
      failure.stop(e);
    }
    if (failure.hasEnded()) {
      drain();
    }
  }

  /** Ends all calls after the engine has ended. Allocates nothing: the heap may be exhausted. */
  private void drain() {
    Task broken = current;
    if (broken != null) {
      current = null;
      broken.fail(failure.unknown());
    }
    for (int i = 0; i < ready.size(); i++) {
      ready.get(i).fail(failure.unknown());
    }
    ready.clear();
    for (Task task = queue.peek(); task != null; task = queue.peek()) {
      task.fail(failure.notApplied());
      queue.poll();
    }
  }

  private void execute(Task task) throws IOException {
    long before = state.changes;
    try {
      while (!task.run(state, group)) {
        flush();
        if (failure.hasEnded()) {
          return; // see drain
        }
        begin();
        before = state.changes;
      }
      if (state.isChanging) {
        throw new IllegalStateException("a change was not completed");
      }
      ready.add(task);
    } catch (RuntimeException e) {
      if (state.changes != before) {
        throw e;
      }
      task.fail(e);
    }
    current = null;
  }

  private void tick() {
    clock.tick();
    state.wallMillis = clock.wallMillis();
    state.timeMillis = clock.ageMillis();
  }

  private void begin() throws IOException {
    groupStart = stopwatch.start();
    tick();
    state.history.tick(state.wallMillis, state.frame - 1);
    state.thresholds.tick(state.wallMillis);
    sealer.takeSealed(state.ids);
    if (rotateWanted) {
      state.ids.rotate();
      state.history.cut(state.frame - 1);
      snapshotStart = new Snapshot.Start(state.frame, state.commands, state.timeMillis);
      rotateWanted = false;
    }
    state.ids.advance(state.timeMillis);
    offerNext();
    if (state.timeMillis - markedMillis > markEveryMillis) {
      mark(0);
    }
    group.begin(rejection());
  }

  /**
   * Records how far the age time has advanced, though nothing was written to the log.
   *
   * @param end end of the log if this is the last mark; otherwise 0
   */
  private void mark(int end) throws IOException {
    highWater.write(
        new HighWater.Mark(durableFrame, durableCommands, state.timeMillis, state.wallMillis, end));
    markedMillis = state.timeMillis;
  }

  /**
   * Offers the oldest table for sealing; never before the frames that brought its ids are synced.
   */
  private void offerNext() throws IOException {
    IdTable table = state.ids.nextWaiting();
    if (table != null && table.lastFrame() > durableFrame) {
      syncAll();
    }
    sealer.offer(table);
  }

  private @Nullable QuipuException rejection() throws IOException {
    if (!log.hasRoom(frameBytesMax)) {
      return log.noRoom();
    }
    while (!state.ids.hasRoom()) {
      QuipuException full = sealer.awaitSealed();
      sealer.takeSealed(state.ids);
      state.ids.advance(state.timeMillis);
      offerNext();
      if (full != null && !state.ids.hasRoom()) {
        return full;
      }
    }
    return null;
  }

  private void flush() throws IOException {
    if (!group.isEmpty()) {
      ByteBuffer out = group.end(frame, state, state.commands);
      int length = out.remaining();
      log.append(out, state.frame, syncsEach);
      state.commands += group.commands();
      state.frame++;
      if (syncsEach) {
        acknowledged();
      }
      stopwatch.end(Work.GROUP, group.commands(), groupStart);
      frames.increment();
      bytes.add(length);
    }
    if (failure.hasEnded()) {
      return; // see drain
    }
    latest = state.sizes();
    for (int i = 0; i < ready.size(); i++) {
      ready.get(i).succeed();
    }
    ready.clear();
    group.begin(null);
  }

  /** Acknowledges all frames so far: they are on disk. */
  private void acknowledged() throws IOException {
    long last = state.frame - 1;
    highWater.write(new HighWater.Mark(last, state.commands, state.timeMillis, state.wallMillis));
    markedMillis = state.timeMillis;
    durableCommands = state.commands;
    durableFrame = last;
  }

  private void syncAll() throws IOException {
    log.sync();
    if (durableFrame != state.frame - 1) {
      acknowledged();
    }
  }

  /** A task whose only effect is to begin a frame. */
  static final class Nothing extends Task {
    @Override
    public boolean run(State state, Group group) {
      return true;
    }
  }

  /** Syncs what was acknowledged before it was on disk. */
  private final class Syncing extends Task {
    @Override
    public boolean run(State state, Group group) throws IOException {
      if (!group.isEmpty()) {
        return false; // the content of this frame first
      }
      syncAll();
      return true;
    }
  }
}
