package dev.quipu.engine.backup;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.engine.backup.Manifest.Base;
import dev.quipu.engine.backup.Manifest.ClockReading;
import dev.quipu.engine.backup.Manifest.LogFile;
import dev.quipu.engine.backup.Manifest.StoredFile;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.HeldLock;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.recovery.FormatFile;
import dev.quipu.engine.recovery.Snapshot;
import dev.quipu.engine.recovery.SnapshotReader;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Copies a data directory, which a running engine may be writing, to a backup.
 *
 * <pre>{@code
 * BACKUP: a directory with the log up to a position, and snapshots from which it can be replayed.
 *
 *   1. Read the name of the newest snapshot, then the high-water mark: all up to it is durable.
 *   2. Append the frames up to the mark that the backup does not have to its copy of the log.
 *   3. Copy the snapshot, its file of counters and its files of request ids, if they are new. They
 *      never change.
 *   4. Sync and read back everything, then replace the manifest. Until then the old one is valid.
 *
 * The engine is not asked, nor stopped: each frame proves by its checksum, which contains its
 * number and the identity of the directory, that it is the next one. A file that the engine removed
 * in the meantime is missing, or shows frames of another number; then the run starts again.
 *
 * Files are copied, never linked: segments are reused in place, and a link would share each damaged
 * byte.
 * }</pre>
 *
 * <p>Not thread-safe.
 */
public final class Backup implements AutoCloseable {
  private static final int ATTEMPTS_MAX = 10;

  /** Distance by which the two times of an engine may drift before it is recorded. */
  private static final long CLOCK_SLACK_MILLIS = 10;

  private final Disk disk;
  private final Clock wallClock;
  private final Path data;
  private final Path backup;
  private final HeldLock lock;
  private final long identity;
  private final LogCopier log;
  private @Nullable Manifest manifest;
  private boolean mayHaveStrays = true; // of a run that was interrupted

  /**
   * The state of a backup.
   *
   * @param position the last frame of the log in it
   * @param commands commands in all frames up to it
   * @param time when that was the last acknowledged frame
   */
  public record Status(long position, long commands, Instant time) {}

  private Backup(Disk disk, Clock wallClock, Path data, Path backup, HeldLock lock)
      throws IOException {
    this.disk = disk;
    this.wallClock = wallClock;
    this.data = data;
    this.backup = backup;
    this.lock = lock;
    this.identity = FormatFile.identity(disk, data);
    this.log = new LogCopier(disk, data, backup, identity);
    if (Manifest.exists(disk, backup)) {
      manifest = Manifest.read(disk, backup);
      Path format = backup.resolve(Manifest.FORMAT_FILE);
      if (!Digests.matches(disk, backup, manifest.format())
          || FormatFile.identityIn(disk, backup, format) != identity) {
        throw new NotAppliedException(
            Reason.INVALID,
            "%s is the backup of another data directory than %s; use another target"
                .formatted(backup, data));
      }
      if (!disk.read(format).equals(disk.read(data.resolve(FormatFile.FILE)))) {
        throw new NotAppliedException(
            Reason.INVALID,
            "%s and the backup %s have different histories since a restoration; use another target"
                .formatted(data, backup));
      }
    }
  }

  /**
   * Opens a backup of a data directory; creates it if the target is missing or empty.
   *
   * @throws NotAppliedException if the target is in use, has other content, or is a backup of
   *     another directory, or of the one that this directory was restored from
   */
  public static Backup open(Path data, Path backup) throws IOException {
    return open(new FileDisk(), Clock.system(), data, backup);
  }

  static Backup open(Disk disk, Clock wallClock, Path data, Path backup) throws IOException {
    if (!disk.exists(data.resolve(FormatFile.FILE))) {
      throw new NotAppliedException(Reason.INVALID, data + " is not a data directory");
    }
    Path absolute = backup.toAbsolutePath().normalize();
    if (absolute.startsWith(data.toAbsolutePath().normalize())) {
      throw new NotAppliedException(
          Reason.INVALID,
          "%s is in the data directory %s; use another directory, on another disk"
              .formatted(backup, data));
    }
    if (disk.exists(backup) && !Manifest.exists(disk, backup) && hasOthers(disk, backup)) {
      throw new NotAppliedException(
          Reason.INVALID,
          backup + " is not empty and not a backup; specify another directory, or a new one");
    }
    disk.createDirectories(backup);
    HeldLock lock = disk.lock(backup);
    try {
      return new Backup(disk, wallClock, data, backup, lock);
    } catch (IOException | RuntimeException e) {
      lock.close();
      throw e;
    }
  }

  private static boolean hasOthers(Disk disk, Path backup) throws IOException {
    List<String> own =
        List.of(
            "lock",
            "log",
            Manifest.SNAPSHOTS,
            Manifest.IDS,
            Manifest.FORMAT_FILE,
            Manifest.FILE + ".tmp");
    return disk.list(backup).stream()
        .anyMatch(entry -> !own.contains(String.valueOf(entry.getFileName())));
  }

  /**
   * Copies what is new. If it fails, the backup is as it was before.
   *
   * @throws DamageException if the data directory or the backup is damaged
   */
  public Status run() throws IOException {
    NoSuchFileException gone = null;
    boolean wasInterrupted = mayHaveStrays;
    mayHaveStrays = true;
    for (int i = 0; i < ATTEMPTS_MAX; i++) {
      try {
        Status status = copy();
        if (wasInterrupted || i > 0) {
          removeStrays();
        }
        mayHaveStrays = false;
        return status;
      } catch (NoSuchFileException e) { // the engine has taken a snapshot
        gone = e;
      }
    }
    throw new IOException(
        "the files of %s change faster than they are copied".formatted(data), gone);
  }

  private void removeStrays() throws IOException {
    Manifest written = manifest;
    if (written != null) {
      for (Path each : written.strays(disk, backup)) {
        disk.delete(each);
      }
    }
  }

  private Status copy() throws IOException {
    Instant now = Instant.ofEpochMilli(wallClock.epochMillis());
    Optional<Path> snapshot = Snapshot.newest(disk, data);
    HighWater.Mark mark = HighWater.read(disk, data, identity);
    Manifest before = manifest;
    if (before != null && mark.frame() < before.position()) {
      throw otherHistory(data, backup);
    }
    List<LogFile> files = log.copy(before == null ? List.of() : before.log(), mark);
    List<Base> bases = new ArrayList<>(before == null ? List.of() : before.bases());
    Map<String, StoredFile> shared = new LinkedHashMap<>();
    if (before != null) {
      before.shared().forEach(each -> shared.put(each.name(), each));
    }
    if (snapshot.isPresent()) {
      long start = Snapshot.frameOf(snapshot.get());
      if (bases.stream().noneMatch(base -> base.startFrame() == start)) {
        bases.add(base(snapshot.get(), start, shared));
      }
    }
    StoredFile format = before == null ? format() : before.format();
    List<ClockReading> clock =
        Manifest.with(
            before == null ? List.of() : before.clock(),
            new ClockReading(mark.ageMillis(), mark.wallMillis()),
            CLOCK_SLACK_MILLIS);
    Manifest next =
        new Manifest(
            mark.frame(),
            mark.commands(),
            now,
            clock,
            format,
            files,
            bases,
            List.copyOf(shared.values()));
    if (!next.covers(next.position())) {
      throw new NoSuchFileException(data.toString()); // a snapshot was taken in the meantime
    }
    if (!next.equals(before)) {
      syncDirectories();
      next.write(disk, backup);
      manifest = next;
    }
    return new Status(next.position(), next.commands(), next.time());
  }

  private void syncDirectories() throws IOException {
    for (String each : List.of("log", Manifest.SNAPSHOTS, Manifest.IDS, "")) {
      Path directory = backup.resolve(each);
      if (disk.exists(directory)) {
        disk.syncDirectory(directory);
      }
    }
  }

  private StoredFile format() throws IOException {
    return copy(data.resolve(FormatFile.FILE), Manifest.FORMAT_FILE);
  }

  private Base base(Path snapshot, long start, Map<String, StoredFile> shared) throws IOException {
    StoredFile file = copy(snapshot, Base.name(start));
    Snapshot.Contents contents = outline(snapshot, file.name());
    List<String> names = new ArrayList<>();
    if (!contents.counters().isEmpty()) {
      names.add(contents.counters());
    }
    contents.idFiles().forEach(each -> names.add(each.name()));
    for (String each : names) {
      String name = Manifest.shared(each);
      if (!shared.containsKey(name)) {
        Path from = data.resolve(Manifest.inData(each));
        shared.put(name, copy(from, name));
        if (Snapshot.isCounterFile(each)) {
          var unused = outline(from, name);
        } else {
          IdFile.open(disk, backup.resolve(name)).verify();
        }
      }
    }
    return new Base(start, contents.endFrame(), file, names);
  }

  /** Verifies a copy of a snapshot, or of a file of counters. */
  private Snapshot.Contents outline(Path from, String copied) throws IOException {
    try {
      return SnapshotReader.outline(disk, backup.resolve(copied), identity);
    } catch (DamageException e) {
      var unused = SnapshotReader.outline(disk, from, identity);
      throw new NoSuchFileException(from.toString()); // it was replaced during the copy
    }
  }

  private StoredFile copy(Path from, String name) throws IOException {
    Path to = backup.resolve(name);
    disk.createDirectories(Objects.requireNonNull(to.toAbsolutePath().getParent()));
    Path draft = to.resolveSibling(to.getFileName() + ".tmp");
    MessageDigest digest = Digests.start();
    long size = disk.size(from);
    ByteBuffer chunk = ByteBuffer.allocate(Math.clamp(size, 1, Digests.CHUNK_BYTES));
    try (DiskFile out = disk.create(draft)) {
      for (long at = 0; at < size; at += chunk.limit()) {
        chunk.clear().limit((int) Math.min(chunk.capacity(), size - at));
        disk.read(from, at, chunk);
        chunk.flip();
        if (!chunk.hasRemaining()) {
          throw new NoSuchFileException(from.toString());
        }
        digest.update(chunk.duplicate());
        out.write(chunk, at);
      }
      out.sync();
    }
    disk.rename(draft, to);
    StoredFile file = new StoredFile(name, size, Digests.soFar(digest));
    if (!Digests.matches(disk, backup, file)) {
      throw new IOException(to + " differs from what was written to it: the disk is faulty");
    }
    return file;
  }

  static NotAppliedException otherHistory(Path data, Path backup) {
    return new NotAppliedException(
        Reason.INVALID,
        "the backup %s has changes that %s does not have, such as after a copy of older data; use another target"
            .formatted(backup, data));
  }

  /** Releases the backup. */
  @Override
  public void close() throws IOException {
    lock.close();
  }
}
