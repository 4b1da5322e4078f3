package dev.quipu.engine.log;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.Threads;
import dev.quipu.engine.measure.EngineObserver.Work;
import dev.quipu.engine.measure.Stopwatch;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The append-only log. Only the committer appends; {@link #recycle} may run concurrently.
 *
 * <pre>{@code
 * LOG: consecutive frames in segments of equal size, log/NUMBER.log.
 *
 * A segment is filled with zeros before it is used, or is reused: an overwrite is synced faster
 * than an append, and cannot fail for lack of space. Frames continue from one segment to the next;
 * no frame spans two. The first page of a segment is its head:
 *
 *   long magic, int format, int segment bytes, long number, long first frame, int CRC32C
 *
 * Leftovers of an earlier use after a frame are recognized by their frame numbers, which are never
 * reused.
 *
 * A spare segment is kept ready. A change is accepted only if the frame that will carry it is sure
 * to have space: in the current segment, or in the spare. So a full disk rejects a change, and
 * never fails in the middle of one.
 * }</pre>
 */
public final class Log implements Closeable {
  public static final int HEAD_BYTES = 4_096;
  private static final long MAGIC = 0x51554950554C4731L; // "QUIPULG1"
  private static final int HEAD_CRC = 32;
  private static final int COPY_BYTES = 1 << 20;
  private static final int NAME_DIGITS = 16;

  /** Segments kept for reuse: creating one writes as much as filling it. */
  private static final int SPARES_MAX = 4;

  /** Maximum size of the log that is kept for a backup, in bytes. */
  private static final long KEPT_BYTES_MAX = 1L << 30;

  private static final Pattern SPARE = Pattern.compile("spare-([0-9]{1,18})\\.log");

  private static final Logger LOGGER = LoggerFactory.getLogger(Log.class);

  private final Disk disk;
  private final Threads threads;
  private final Stopwatch stopwatch;
  private final Failure engine;
  private final Path directory;
  private final long identity;
  private final int segmentBytes;
  private final List<Segment> segments = new ArrayList<>(); // guarded by lock
  private final ConcurrentLinkedDeque<Path> spares = new ConcurrentLinkedDeque<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition spareChanged = lock.newCondition();
  private @Nullable Thread preparer;
  private @Nullable DiskFile file;
  private int position;
  private boolean dirty; // some written frames are not synced
  private long unsyncedBytes; // of these
  private boolean spareWanted;
  private int spareFailures; // guarded by lock
  private @Nullable IOException lastFailure; // guarded by lock
  private boolean closed; // guarded by lock
  private long spareNumber; // guarded by lock
  private volatile long keptFrom = Long.MAX_VALUE; // frame

  /** A segment that is in use. */
  public record Segment(long number, long firstFrame, Path path) {}

  private Log(
      Environment environment, Path directory, long identity, int segmentBytes, Failure engine) {
    this.engine = engine;
    this.disk = environment.disk();
    this.threads = environment.threads();
    this.stopwatch = environment.stopwatch();
    this.directory = directory;
    this.identity = identity;
    this.segmentBytes = segmentBytes;
  }

  /** Returns the directory of the log within a data directory. */
  public static Path directory(Path data) {
    return data.resolve("log");
  }

  /**
   * Continues after the last frame, or starts a new log.
   *
   * @param inUse segments from the oldest needed to the last, in order; empty for a new log
   * @param end offset of the next frame in the last of them
   * @param syncedEnd end of the frames that are known to be durable; those up to {@code end} are
   *     made durable before anything is appended
   * @param isTailStale whether discarded frames follow the end
   * @param nextFrame the number of the next frame
   * @param segmentBytes size of new segments; those in use may have another
   */
  public static Log open(
      Environment environment,
      Path data,
      long identity,
      int segmentBytes,
      List<Segment> inUse,
      int end,
      int syncedEnd,
      boolean isTailStale,
      long nextFrame,
      Failure failure)
      throws IOException {
    Disk disk = environment.disk();
    Log log = new Log(environment, directory(data), identity, segmentBytes, failure);
    log.adoptFiles(inUse);
    if (inUse.isEmpty()) {
      log.roll(1, nextFrame);
    } else {
      Segment last = inUse.getLast();
      log.file = disk.open(last.path);
      log.position = end;
      writeAgain(disk, last.path, syncedEnd, end);
      // A segment of another size is not appended to, nor one with discarded frames after the end.
      if (isTailStale || disk.size(last.path) != segmentBytes) {
        log.roll(last.number + 1, nextFrame);
      }
    }
    log.preparer = log.threads.start("quipu-log-preparer", failure.guarded(log::prepareSpares));
    return log;
  }

  /**
   * Rewrites a part of a segment and syncs it. Reading it proves only that the page cache has it:
   * after a failed sync the kernel marks pages as clean, and never writes them.
   */
  public static void writeAgain(Disk disk, Path segment, int from, int to) throws IOException {
    ByteBuffer part = disk.buffer(Math.clamp((long) to - from, 1, COPY_BYTES));
    try (DiskFile file = disk.open(segment)) {
      for (int at = from; at < to; at += part.capacity()) {
        part.clear().limit(Math.min(part.capacity(), to - at));
        disk.read(segment, at, part);
        file.write(part.flip(), at);
      }
      file.sync();
    }
  }

  /** Removes leftovers of an earlier run, and keeps files that can serve as spares. */
  private void adoptFiles(List<Segment> inUse) throws IOException {
    segments.addAll(inUse);
    List<Path> used = inUse.stream().map(Segment::path).toList();
    for (Path path : disk.list(directory)) {
      Matcher spare = SPARE.matcher(path.getFileName().toString());
      if (spare.matches() && disk.size(path) == segmentBytes && spares.size() < SPARES_MAX) {
        spares.add(path);
        // No new spare may get the name of this one.
        spareNumber = Math.max(spareNumber, Long.parseLong(spare.group(1)));
      } else if (!used.contains(path)) {
        disk.delete(path);
      }
    }
  }

  /**
   * Returns whether space for a frame of this size is guaranteed. If it is not yet, waits for a
   * spare segment, unless the last attempt to prepare one failed.
   */
  public boolean hasRoom(int frameBytes) {
    if (segmentBytes - position >= frameBytes || !spares.isEmpty()) {
      return true;
    }
    lock.lock();
    try {
      // Waits for a preparer that is working; one that failed is asked to retry, without waiting.
      boolean failing = spareFailures > 0;
      spareWanted = true;
      spareChanged.signalAll();
      while (spares.isEmpty() && !failing && !closed && !engine.hasEnded()) {
        threads.awaitOther(lock, spareChanged);
        failing = spareFailures > 0;
      }
      return !spares.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the rejection that explains why there is no space. */
  public QuipuException noRoom() {
    lock.lock();
    try {
      String cause = lastFailure == null ? "" : ": " + lastFailure.getMessage();
      return new NotAppliedException(
          Reason.FULL,
          "disk full: no space for the next %d MiB of log in %s%s"
              .formatted(segmentBytes >> 20, directory, cause));
    } finally {
      lock.unlock();
    }
  }

  /** Returns the size of the largest frame that a segment can hold. */
  public int frameBytesMax() {
    return segmentBytes - HEAD_BYTES;
  }

  /**
   * Writes a frame.
   *
   * @param number the number of the frame
   * @param isSynced whether to sync before returning
   */
  public void append(ByteBuffer frame, long number, boolean isSynced) throws IOException {
    if (segmentBytes - position < frame.remaining()) {
      roll(lastNumber() + 1, number);
    }
    DiskFile current = Objects.requireNonNull(file);
    int length = frame.remaining();
    current.write(frame, position);
    position += length;
    dirty = true;
    unsyncedBytes += length;
    if (isSynced) {
      sync();
    }
  }

  /** Returns when all frames are on disk. */
  public void sync() throws IOException {
    if (dirty) {
      long start = stopwatch.start();
      Objects.requireNonNull(file).sync();
      dirty = false;
      stopwatch.end(Work.SYNC, unsyncedBytes, start);
      unsyncedBytes = 0;
    }
  }

  /** Returns the offset after the last frame in its segment. */
  public int end() {
    return position;
  }

  /** Returns the size of new segments. */
  public int segmentBytes() {
    return segmentBytes;
  }

  /** Returns the number of segments in use. */
  public int segments() {
    lock.lock();
    try {
      return segments.size();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Keeps the segments with frames from {@code frame} on, until the next call, though the engine
   * does not need them; at most {@link #KEPT_BYTES_MAX}, and not while the disk is full.
   */
  public void keepFrom(long frame) {
    keptFrom = frame;
  }

  private boolean isRecyclable(Segment next, long frame) {
    boolean isKept =
        next.firstFrame > keptFrom && (long) segments.size() * segmentBytes <= KEPT_BYTES_MAX;
    return next.firstFrame <= frame && !isKept;
  }

  /** Recycles the segments that hold only frames before {@code frame}, except those kept. */
  public void recycle(long frame) throws IOException {
    lock.lock();
    try {
      while (segments.size() > 1 && isRecyclable(segments.get(1), frame)) {
        Segment gone = segments.removeFirst();
        if (spares.size() < SPARES_MAX && disk.size(gone.path) == segmentBytes) {
          Path spare = sparePath(".log");
          disk.rename(gone.path, spare);
          spares.add(spare);
          spareFailures = 0;
          spareChanged.signalAll();
        } else {
          disk.delete(gone.path);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() throws IOException {
    lock.lock();
    try {
      closed = true;
      spareChanged.signalAll();
    } finally {
      lock.unlock();
    }
    Thread started = preparer;
    if (started != null) {
      Threads.join(started);
    }
    if (file != null) {
      file.close();
    }
  }

  private long lastNumber() {
    lock.lock();
    try {
      return segments.getLast().number;
    } finally {
      lock.unlock();
    }
  }

  private void roll(long number, long firstFrame) throws IOException {
    Path spare = spares.poll();
    if (spare == null) {
      spare = prepare();
    }
    if (file != null) {
      sync(); // no frame may follow on disk where an earlier one is missing
      file.close();
    }
    try (DiskFile next = disk.open(spare)) {
      next.write(head(identity, segmentBytes, number, firstFrame), 0);
      next.sync();
    }
    Path path = directory.resolve(fileName(number));
    disk.rename(spare, path);
    file = disk.open(path);
    position = HEAD_BYTES;
    lock.lock();
    try {
      segments.add(new Segment(number, firstFrame, path));
      spareWanted = true;
      spareChanged.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void prepareSpares() {
    lock.lock();
    try {
      while (!closed) {
        if (!spares.isEmpty() || !spareWanted) {
          spareChanged.await();
          continue;
        }
        spareWanted = false;
        lock.unlock();
        Path spare = null;
        IOException failure = null;
        try {
          spare = prepare();
        } catch (IOException e) {
          failure = e;
        } finally {
          lock.lock();
        }
        prepared(spare, failure);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      try {
        closed = true; // also after an error, so that no thread waits for it forever
        spareChanged.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  private void prepared(@Nullable Path spare, @Nullable IOException failure) {
    if (spare != null) {
      spares.add(spare);
      spareFailures = 0;
      lastFailure = null;
    } else {
      spareFailures++;
      lastFailure = failure;
      keptFrom = Long.MAX_VALUE;
      if (spareFailures == 1) {
        LOGGER
            .atWarn()
            .addKeyValue("directory", directory)
            .setCause(failure)
            .log("Preparing a log segment failed; writes are rejected when the last one is full");
      }
    }
    spareChanged.signalAll();
  }

  private Path prepare() throws IOException {
    long free = disk.usableBytes(directory);
    if (free < segmentBytes) { // called repeatedly while the disk is full: avoid futile writes
      throw new IOException("No space left on device: %d MiB are free".formatted(free >> 20));
    }
    Path draft = sparePath(".tmp");
    try {
      disk.allocate(draft, segmentBytes);
      Path spare = sparePath(".log");
      disk.rename(draft, spare);
      return spare;
    } catch (IOException e) {
      disk.delete(draft);
      throw e;
    }
  }

  private Path sparePath(String suffix) {
    lock.lock();
    try {
      return directory.resolve("spare-%d%s".formatted(++spareNumber, suffix));
    } finally {
      lock.unlock();
    }
  }

  /** Returns the name of a segment: without a Formatter, whose locales take time to load. */
  public static String fileName(long number) {
    String digits = Long.toString(number);
    return "0".repeat(Math.max(0, NAME_DIGITS - digits.length())) + digits + ".log";
  }

  private static ByteBuffer head(long identity, int bytes, long number, long firstFrame) {
    ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES);
    head.putLong(MAGIC).putInt(1).putInt(bytes).putLong(number).putLong(firstFrame);
    return head.putInt(HEAD_CRC, crc(head, identity)).clear();
  }

  /**
   * Reads the header of a segment.
   *
   * @throws DamageException if it is not a valid header of this directory
   */
  public static Segment readHead(Disk disk, Path path, long identity) throws IOException {
    ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES);
    disk.read(path, 0, head);
    long number = head.getLong(16);
    if (head.hasRemaining()
        || head.getLong(0) != MAGIC
        || head.getInt(HEAD_CRC) != crc(head, identity)
        || !path.getFileName().toString().equals(fileName(number))) {
      throw new DamageException(Damage.SEGMENT_HEAD, path, 0, "the header is damaged");
    }
    return new Segment(number, head.getLong(24), path);
  }

  private static int crc(ByteBuffer head, long identity) {
    CRC32C crc = new CRC32C();
    crc.update(ByteBuffer.allocate(8).putLong(identity).flip());
    crc.update(head.slice(0, HEAD_CRC));
    return (int) crc.getValue();
  }

  /** Returns the segments, starting with the oldest; none if there is no log. */
  public static List<Path> segmentFiles(Disk disk, Path directory) throws IOException {
    Path log = directory(directory);
    if (!disk.exists(log)) {
      return List.of();
    }
    return disk.list(log).stream()
        .filter(file -> file.getFileName().toString().matches("[0-9]{16}\\.log"))
        .toList();
  }
}
