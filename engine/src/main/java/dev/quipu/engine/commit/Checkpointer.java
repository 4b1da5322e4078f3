package dev.quipu.engine.commit;

import dev.quipu.QuipuException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.Settings;
import dev.quipu.engine.environment.Ticker;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.ids.RequestIds;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.HoldRecord;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.measure.EngineObserver.Work;
import dev.quipu.engine.measure.Stopwatch;
import dev.quipu.engine.past.HistoryKeeping;
import dev.quipu.engine.recovery.Snapshot;
import dev.quipu.engine.state.OpenHold;
import dev.quipu.engine.state.State;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes snapshots when the log has grown or ids were forgotten. Runs its own thread.
 *
 * <pre>{@code
 * CHECKPOINT, concurrent with writes:
 *
 *   1. End the generation of request ids between two frames; the log will have to be read from
 *      the next frame on.
 *   2. Wait until all request ids of earlier frames are in files.
 *   3. If there are many counters, and no file has most of them as they are, write such a file.
 *   4. Write the snapshot: the names of the files of ids that are not forgotten, then counters (or
 *      those that have changed since the file) and items, a few at a time, each batch read by the
 *      committer like any other read.
 *   5. Sync, rename. From here on the snapshot is in effect.
 *   6. Remove the older snapshot and file of counters, the log segments before 1, the files of
 *      forgotten ids, and those whose ids were in merged files at 4.
 *   If it is interrupted at any point, the older snapshot and its log are still complete.
 *
 * A file is dropped from memory in step 6 only: while a durable snapshot lists it, no ordinal that
 * its ids refer to is reused (see Tombstones).
 * }</pre>
 */
public final class Checkpointer implements AutoCloseable {
  /** Maximum size of the log that a close leaves for the next start to read. */
  private static final long LOG_BYTES_LEFT_MAX = 16 << 20;

  private static final int ITEMS_AT_ONCE = 512;
  private static final int HOLDS_AT_ONCE = 512;
  private static final Duration TICK = Duration.ofSeconds(1);
  private static final Duration PAUSE = Duration.ofMillis(8); // after each MiB: at most 125 MiB/s
  private static final int LOOKS_PER_WINDOW = 64;
  private static final Logger LOGGER = LoggerFactory.getLogger(Checkpointer.class);

  private final Disk disk;
  private final Stopwatch stopwatch;
  private final Path directory;
  private final long identity;
  private final Settings settings;
  private final Committer committer;
  private final Log log;
  private final HighWater highWater;
  private final Ticker ticker;
  private final IdMerger merger;
  private final HistoryKeeping history;
  private final Failure failure;
  private final ReentrantLock working = new ReentrantLock();
  private boolean failing;
  private long lookedNanos;
  private volatile long bytesBefore;

  public Checkpointer(
      Environment environment,
      Path directory,
      long identity,
      Settings settings,
      Committer committer,
      Failure failure,
      Log log,
      HighWater highWater,
      HistoryKeeping history,
      long logBytes) {
    this.history = history;
    this.disk = environment.disk();
    this.stopwatch = environment.stopwatch();
    this.failure = failure;
    this.directory = directory;
    this.identity = identity;
    this.settings = settings;
    this.committer = committer;
    this.log = log;
    this.highWater = highWater;
    this.bytesBefore = -logBytes;
    this.lookedNanos = settings.clock().nanoTime();
    this.merger = new IdMerger(environment, directory, identity, committer, failure);
    this.ticker = new Ticker(environment, failure, "quipu-checkpointer", TICK, this::tick);
  }

  /** Returns the bytes of log that the next start would have to read. */
  public long logBytes() {
    return committer.bytes() - bytesBefore;
  }

  /** Takes a snapshot now, as fast as possible. */
  public void checkpoint() throws IOException {
    checkpoint(() -> true);
  }

  private void checkpoint(BooleanSupplier pause) throws IOException {
    long watch = stopwatch.start();
    working.lock();
    try {
      var unused = awaitIdFiles(Long.MAX_VALUE); // otherwise each attempt adds a waiting table
      long bytes = committer.bytes();
      Snapshot.Start start = committer.startSnapshot();
      // As old as the snapshot says: after a crash the age time may have advanced no further.
      IdFilesTask ids = awaitIdFiles(start.timeMillis());
      String counterFile = counterFile(start, pause);
      try (Snapshot snapshot = Snapshot.start(disk, directory, identity, start)) {
        snapshot.pause(pause);
        snapshot.idFiles(ids.remembered, ids.isSalvaged);
        if (counterFile.isEmpty()) {
          snapshot.counters(this::read, false);
        } else {
          snapshot.counters(counterFile, this::read);
        }
        writeHolds(snapshot);
        writeItems(snapshot);
        snapshot.thresholds(this::read);
        committer.sync(); // all that the snapshot may reflect
        history.write(); // what the log before it has
        snapshot.end(committer.durableFrame());
      }
      bytesBefore = bytes;
      removeOlder(start.frame(), counterFile);
      log.recycle(start.frame());
      drop(ids.forgotten, ids.replaced);
      stopwatch.end(Work.CHECKPOINT, 1, watch);
    } finally {
      working.unlock();
    }
  }

  /** Returns the file of counters that a snapshot refers to; empty if it has them itself. */
  private String counterFile(Snapshot.Start start, BooleanSupplier pause) throws IOException {
    long fileMin = settings.countersOfFileMin();
    String present =
        read(state -> {
          int counters = state.counters.named();
          boolean isUseful =
              counters >= fileMin
                  && state.counters.images().changed() <= settings.changedCountersMax(counters);
          state.counterFile = isUseful ? state.counterFile : "";
          return state.counterFile;
        });
    if (!present.isEmpty() || read(state -> state.counters.named() < fileMin)) {
      return present;
    }
    try (Snapshot file = Snapshot.startCounters(disk, directory, identity, start)) {
      file.pause(pause);
      file.counters(this::read, true);
      file.end(committer.durableFrame());
      String name = String.valueOf(file.path().getFileName());
      return read(state -> state.counterFile = name);
    }
  }

  private void removeOlder(long startFrame, String counterFile) throws IOException {
    for (Path path : Snapshot.all(disk, directory)) {
      if (Snapshot.frameOf(path) < startFrame) {
        disk.delete(path);
      }
    }
    for (Path path : Snapshot.counterFiles(disk, directory)) {
      if (!counterFile.equals(String.valueOf(path.getFileName()))) {
        disk.delete(path);
      }
    }
  }

  /** Stops the threads. Does not take a final snapshot. */
  @Override
  public void close() {
    merger.close();
    ticker.close();
  }

  /** Stops the threads, and takes a snapshot if the next start would have to read much. */
  public void closeForFastStart() {
    close();
    try {
      if (!failure.hasEnded() && logBytes() > LOG_BYTES_LEFT_MAX) {
        checkpoint();
      }
    } catch (IOException | QuipuException e) {
      LOGGER.atWarn().setCause(e).log("Snapshot on close failed; the next start reads the log");
    }
  }

  private void tick(Ticker ticker) {
    try {
      highWater.sync();
      if (logBytes() >= settings.checkpointBytes() || hasUnneededIdFiles()) {
        long begun = committer.bytes();
        checkpoint(() -> ticker.pause(isBehind(begun) ? Duration.ZERO : PAUSE));
      }
      failing = false;
    } catch (InterruptedIOException e) {
      return; // the engine is closing
    } catch (IOException | RuntimeException e) {
      if (!failing && !failure.hasEnded()) {
        LOGGER
            .atWarn()
            .addKeyValue("directory", directory)
            .setCause(e)
            .log("Checkpoint failed; retrying every second");
      }
      failing = true;
    }
  }

  /** Returns whether the log has grown as much as it may since a snapshot was begun. */
  private boolean isBehind(long begun) {
    return committer.bytes() - begun >= settings.checkpointBytes();
  }

  /** Returns whether there are files of ids that justify a new snapshot without them. */
  private boolean hasUnneededIdFiles() {
    long now = settings.clock().nanoTime();
    if (now - lookedNanos < settings.window().toNanos() / LOOKS_PER_WINDOW) {
      return false;
    }
    lookedNanos = now;
    IdFilesTask task = new IdFilesTask(Long.MAX_VALUE);
    committer.run(task);
    return !task.forgotten.isEmpty() || !task.replaced.isEmpty();
  }

  private IdFilesTask awaitIdFiles(long ageMillis) throws IOException {
    while (true) {
      IdFilesTask task = new IdFilesTask(ageMillis);
      committer.run(task);
      if (!task.isWaiting) {
        return task;
      }
      QuipuException why = committer.awaitSealed();
      if (why != null) {
        throw new IOException(why);
      }
    }
  }

  private <T> T read(Function<State, T> read) {
    return committer.get((state, group) -> read.apply(state));
  }

  private void writeHolds(Snapshot snapshot) throws IOException {
    committer.get((state, group) -> {
      state.holds.beginList();
      return true;
    });
    List<HoldRecord> holds;
    do {
      holds =
          committer.get((state, group) ->
              state.holds.nextOfList(HOLDS_AT_ONCE).stream().map(OpenHold::current).toList());
      for (HoldRecord hold : holds) {
        snapshot.hold(hold);
      }
    } while (holds.size() == HOLDS_AT_ONCE); // one that was placed or extended since is in the log
  }

  private void writeItems(Snapshot snapshot) throws IOException {
    @Nullable Key after = null;
    while (true) {
      @Nullable Key last = after;
      List<Item> items = committer.get((state, group) -> state.items.next(last, ITEMS_AT_ONCE));
      for (Item item : items) {
        snapshot.item(item);
      }
      if (items.size() < ITEMS_AT_ONCE) {
        return;
      }
      after = items.getLast().key();
    }
  }

  private void drop(List<IdFile> forgotten, List<IdFile> replaced) throws IOException {
    if (forgotten.isEmpty() && replaced.isEmpty()) {
      return;
    }
    committer.get((state, group) -> {
      state.ids.drop(forgotten);
      state.ids.dropReplaced(replaced);
      return true;
    });
    List<IdFile> unneeded = new ArrayList<>(forgotten);
    unneeded.addAll(replaced);
    for (IdFile file : unneeded) {
      disk.delete(file.path());
    }
  }

  private static final class IdFilesTask extends Task {
    private final long ageMillis;
    boolean isWaiting;
    boolean isSalvaged;
    List<IdFile> remembered = List.of();
    List<IdFile> forgotten = List.of();
    List<IdFile> replaced = List.of();

    /** At an age time, or now if that is earlier. */
    IdFilesTask(long ageMillis) {
      this.ageMillis = ageMillis;
    }

    @Override
    public boolean run(State state, Group group) {
      isWaiting = state.ids.nextWaiting() != null;
      forgotten = state.ids.forgotten(Math.min(ageMillis, state.timeMillis));
      replaced = state.ids.replaced();
      remembered = new ArrayList<>(state.ids.files());
      remembered.removeAll(forgotten);
      isSalvaged = state.isSalvaged && state.ids.isLive(RequestIds.EPOCH_BEFORE);
      return true;
    }
  }
}
