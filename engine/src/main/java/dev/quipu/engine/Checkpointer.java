package dev.quipu.engine;

import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * CHECKPOINT, beside the writes:
 *
 *   1. End the generation of request ids between two frames; the next frame is where the log will
 *      have to be read from.
 *   2. Wait until all request ids before it are in files.
 *   3. Write the snapshot: the files, then counters and items, a few at a time, each few taken from
 *      the committer like any other read.
 *   4. Sync, rename. From here on it counts.
 *   5. Remove the older snapshot, the segments of the log before 1, files of forgotten ids.
 *   Broken off anywhere, the older snapshot and its log are still whole.
 */

/** Takes snapshots when the log has grown, and tidies up. Has a thread of its own. */
final class Checkpointer implements AutoCloseable {
  private static final int COUNTERS_AT_ONCE = 4_096;
  private static final int ITEMS_AT_ONCE = 512;
  private static final long TICK_SECONDS = 1;
  private static final Logger LOGGER = LoggerFactory.getLogger(Checkpointer.class);

  private final Disk disk;
  private final Path directory;
  private final long identity;
  private final EngineOptions options;
  private final Committer committer;
  private final Log log;
  private final HighWater highWater;
  private final Thread thread;
  private final ReentrantLock working = new ReentrantLock();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private boolean closed; // guarded by lock
  private boolean failing;
  private volatile long bytesBefore;

  Checkpointer(
      Disk disk,
      Path directory,
      long identity,
      EngineOptions options,
      Committer committer,
      Log log,
      HighWater highWater,
      long logBytes) {
    this.disk = disk;
    this.directory = directory;
    this.identity = identity;
    this.options = options;
    this.committer = committer;
    this.log = log;
    this.highWater = highWater;
    this.bytesBefore = -logBytes;
    this.thread = new Thread(this::work, "quipu-checkpointer");
    thread.setDaemon(true);
    thread.start();
  }

  /** Bytes of log that would have to be read at the next start. */
  long logBytes() {
    return committer.bytes() - bytesBefore;
  }

  /** Takes a snapshot now. */
  void checkpoint() throws IOException {
    working.lock();
    try {
      long bytes = committer.bytes();
      Snapshot.Start start = committer.startSnapshot();
      List<IdFile> files = awaitIdFiles();
      try (Snapshot snapshot = Snapshot.start(disk, directory, identity, start)) {
        for (IdFile file : files) {
          snapshot.idFile(file);
        }
        writeCounters(snapshot);
        List<Key> expired = writeItems(snapshot);
        committer.sync(); // all that the snapshot may know of
        snapshot.end(committer.durableFrame());
        removeExpired(expired);
      }
      bytesBefore = bytes;
      for (Path path : Snapshot.all(directory)) {
        if (Snapshot.frameOf(path) < start.frame()) {
          disk.delete(path);
        }
      }
      log.recycle(start.frame());
      dropForgotten();
    } finally {
      working.unlock();
    }
  }

  /** Stops the thread. Does not take a last snapshot. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void work() {
    while (awaitTick()) {
      try {
        highWater.sync();
        if (logBytes() >= options.checkpointBytes()) {
          checkpoint();
        }
        failing = false;
      } catch (IOException | StoreException e) {
        if (!failing && committer.stopped() == null) {
          LOGGER.atWarn().addKeyValue("directory", directory).setCause(e).log("no checkpoint");
        }
        failing = true; // and try again at the next tick
      }
    }
  }

  private boolean awaitTick() {
    lock.lock();
    try {
      long left = TimeUnit.SECONDS.toNanos(TICK_SECONDS);
      while (!closed && left > 0) {
        left = changed.awaitNanos(left);
      }
      return !closed;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }

  private List<IdFile> awaitIdFiles() throws IOException {
    while (true) {
      IdFilesTask task = new IdFilesTask();
      committer.run(task);
      if (task.files != null) {
        return task.files;
      }
      StoreException failure = committer.awaitSealed();
      if (failure != null) {
        throw new IOException(failure);
      }
    }
  }

  private void writeCounters(Snapshot snapshot) throws IOException {
    for (int first = 0; ; first += COUNTERS_AT_ONCE) {
      CountersTask task = new CountersTask(first);
      committer.run(task);
      for (int i = 0; i < task.contents.size(); i++) {
        CounterTable.Content content = task.contents.get(i);
        if (content != null) { // an ordinal without a name is what a salvage left
          snapshot.counter(first + i, content);
        }
      }
      if (task.contents.size() < COUNTERS_AT_ONCE) {
        return; // counters that came since are in the log behind the start
      }
    }
  }

  private List<Key> writeItems(Snapshot snapshot) throws IOException {
    List<Key> expired = new ArrayList<>();
    Instant now = Instant.ofEpochMilli(options.clock().epochMillis());
    Key after = null;
    while (true) {
      ItemsTask task = new ItemsTask(after);
      committer.run(task);
      for (Item item : task.items) {
        snapshot.item(item);
        if (item.isExpired(now)) {
          expired.add(item.key());
        }
      }
      if (task.items.size() < ITEMS_AT_ONCE) {
        return expired;
      }
      after = task.items.getLast().key();
    }
  }

  private void removeExpired(List<Key> expired) {
    for (Key key : expired) {
      committer.run(new RemoveExpiredTask(key, options.clock().epochMillis()));
    }
  }

  private void dropForgotten() throws IOException {
    DropForgottenTask task = new DropForgottenTask();
    committer.run(task);
    for (IdFile file : task.gone) {
      disk.delete(file.path());
    }
  }

  private static final class IdFilesTask extends Task {
    @Nullable List<IdFile> files;

    @Override
    boolean run(State state, Group group) {
      files = state.ids.nextWaiting() == null ? state.ids.files() : null;
      return true;
    }
  }

  /** Some counters as they are; those that have expired are removed. */
  private static final class CountersTask extends Task {
    final int first;
    final List<CounterTable.@Nullable Content> contents = new ArrayList<>();

    CountersTask(int first) {
      this.first = first;
    }

    @Override
    boolean run(State state, Group group) {
      if (!group.fits(COUNTERS_AT_ONCE * Records.COUNTER_RECORD_BYTES_MAX)) {
        return false;
      }
      CounterTable counters = state.counters;
      for (int i = first; i < Math.min(counters.size(), first + COUNTERS_AT_ONCE); i++) {
        if (group.isWritable() && counters.isWritten(i) && !counters.isAlive(i, state.timeMillis)) {
          counters.remove(i);
          group.plain(counters, i);
        }
        contents.add(counters.content(i));
      }
      return true;
    }
  }

  private static final class ItemsTask extends Task {
    final @Nullable Key after;
    List<Item> items = List.of();

    ItemsTask(@Nullable Key after) {
      this.after = after;
    }

    @Override
    boolean run(State state, Group group) {
      items = state.items.next(after, ITEMS_AT_ONCE);
      return true;
    }
  }

  private static final class RemoveExpiredTask extends Task {
    final Key key;
    final long nowMillis;

    RemoveExpiredTask(Key key, long nowMillis) {
      this.key = key;
      this.nowMillis = nowMillis;
    }

    @Override
    boolean run(State state, Group group) {
      Optional<Item> item = state.items.get(key);
      if (item.isEmpty() || !item.get().isExpired(Instant.ofEpochMilli(nowMillis))) {
        return true; // somebody took its place since
      }
      group.requireWritable();
      if (!group.fits(Records.keyBytesMax(key))) {
        return false;
      }
      state.items.set(key, Optional.empty());
      group.noItem(key);
      return true;
    }
  }

  private static final class DropForgottenTask extends Task {
    List<IdFile> gone = List.of();

    @Override
    boolean run(State state, Group group) {
      gone = state.ids.dropForgotten(state.timeMillis);
      return true;
    }
  }
}
