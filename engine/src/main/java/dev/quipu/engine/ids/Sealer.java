package dev.quipu.engine.ids;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.Threads;
import dev.quipu.engine.measure.EngineObserver.Work;
import dev.quipu.engine.measure.Stopwatch;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes tables of request ids to disk, one at a time, concurrently with the committer: it takes a
 * table and returns a file. After an error it retries every second.
 */
public final class Sealer implements Closeable {
  private static final long RETRY_SECONDS = 1;
  private static final Logger LOGGER = LoggerFactory.getLogger(Sealer.class);

  private final Disk disk;
  private final Path directory;
  private final Threads threads;
  private final Failure engine;
  private final Thread thread;
  private final Stopwatch stopwatch;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private @Nullable IdTable offered; // guarded by lock
  private @Nullable IdFile written; // guarded by lock
  private @Nullable QuipuException failure; // guarded by lock
  private @Nullable IdTable retired; // whose ids are in a file; guarded by lock
  private @Nullable IdTable cleared; // guarded by lock
  private boolean closed; // guarded by lock

  public Sealer(Environment environment, Path directory, Failure failure) {
    this.disk = environment.disk();
    this.threads = environment.threads();
    this.engine = failure;
    this.directory = directory;
    this.stopwatch = environment.stopwatch();
    this.thread = threads.start("quipu-id-sealer", failure.guarded(this::seal));
  }

  /** Requests that a table be written, if none is being written. */
  public void offer(@Nullable IdTable table) {
    if (table == null) {
      return;
    }
    lock.lock();
    try {
      if (offered == null) {
        offered = table;
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Replaces a written table with its file. */
  public void takeSealed(RequestIds ids) {
    lock.lock();
    try {
      if (written != null && offered != null) {
        ids.sealed(offered, written);
        retired = offered;
        offered = null;
        written = null;
        changed.signalAll();
      }
      if (cleared != null) {
        ids.reuse(cleared);
        cleared = null;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits for the table being written. Returns the error, or null on success. */
  public @Nullable QuipuException awaitSealed() {
    lock.lock();
    try {
      while (offered != null && written == null && failure == null && !isEnded()) {
        threads.awaitOther(lock, changed);
      }
      return isEnded() ? new NotAppliedException(Reason.UNAVAILABLE, "closed") : failure;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    Threads.join(thread);
  }

  private boolean isEnded() {
    return closed || engine.hasEnded();
  }

  private void seal() {
    lock.lock();
    try {
      while (!closed) {
        IdTable old = retired;
        if (old != null) {
          retired = null;
          lock.unlock();
          try {
            old.clear();
          } finally {
            lock.lock();
          }
          cleared = old;
          continue; // it may have been closed in the meantime
        }
        IdTable table = offered;
        if (table == null || written != null) {
          changed.await();
          continue;
        }
        lock.unlock();
        IdFile file = null;
        IOException error = null;
        try {
          long start = stopwatch.start();
          file = IdFiles.write(disk, directory, table);
          stopwatch.end(Work.SEAL, file.entries(), start);
        } catch (IOException e) {
          error = e;
        } catch (DamageException e) { // the file just written cannot be read
          error = new IOException(e);
        } finally {
          lock.lock();
        }
        sealed(file, error);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      try {
        closed = true; // also after an error, so that no thread waits for it forever
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  private void sealed(@Nullable IdFile file, @Nullable IOException error)
      throws InterruptedException {
    if (error == null) {
      written = file;
      failure = null;
      changed.signalAll();
      return;
    }
    if (failure == null) {
      LOGGER
          .atWarn()
          .addKeyValue("directory", directory)
          .setCause(error)
          .log("Sealing request ids failed; retrying every second");
    }
    boolean isFull = String.valueOf(error.getMessage()).contains("No space left");
    failure =
        new NotAppliedException(
            isFull ? Reason.FULL : Reason.UNAVAILABLE,
            (isFull
                    ? "disk full: cannot store request ids in %s: %s"
                    : "cannot seal request ids in %s: %s")
                .formatted(IdFiles.directory(directory), error.getMessage()),
            error);
    changed.signalAll();
    if (!closed) {
      threads.await(lock, changed, TimeUnit.SECONDS.toNanos(RETRY_SECONDS));
    }
  }
}
