package dev.quipu.engine.backup;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.engine.backup.Manifest.Base;
import dev.quipu.engine.backup.Manifest.LogFile;
import dev.quipu.engine.backup.Manifest.StoredFile;
import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.recovery.FormatFile;
import dev.quipu.engine.recovery.Snapshot;
import dev.quipu.engine.recovery.SnapshotReader;
import dev.quipu.time.Randomness;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Checks a backup, and restores positions of it, also while it is continued. */
public final class BackupFiles {
  private final Disk disk;
  private final Path backup;
  private final Manifest manifest;

  private BackupFiles(Disk disk, Path backup) throws IOException {
    this.disk = disk;
    this.backup = backup;
    if (!isBackup(disk, backup)) {
      throw new NotAppliedException(
          Reason.INVALID, "%s is not a backup: it has no file %s".formatted(backup, Manifest.FILE));
    }
    this.manifest = Manifest.read(disk, backup);
  }

  /**
   * The result of a check.
   *
   * @param sound whether no file is damaged
   * @param lines for a human to read
   */
  public record Report(boolean sound, List<String> lines) {
    /** Copies the lines. */
    public Report {
      lines = List.copyOf(lines);
    }
  }

  /** The result of a restoration. */
  public record Restored(long position, long commands, Instant time) {}

  /**
   * A file of a backup, by its name in the directory; only its first {@code bytes} belong to it.
   */
  public record Stored(String name, long bytes) {}

  /** Returns all files of a backup, without the manifest. */
  public static List<Stored> files(Path backup) throws IOException {
    return filesIn(backup.resolve(Manifest.FILE));
  }

  /** Returns the files that a copy of a manifest names. */
  public static List<Stored> filesIn(Path manifest) throws IOException {
    return Manifest.readFile(new FileDisk(), manifest).files().stream()
        .map(each -> new Stored(each.name(), each.bytes()))
        .toList();
  }

  /** Returns whether a directory is a backup. */
  public static boolean isBackup(Path directory) {
    return isBackup(new FileDisk(), directory);
  }

  /** Returns whether a directory is a backup: one of its two files without which none is. */
  @SuppressWarnings("exports") // called by other packages of this module
  public static boolean isBackup(Disk disk, Path directory) {
    return disk.exists(directory.resolve(Manifest.FILE))
        || disk.exists(directory.resolve(Manifest.FORMAT_FILE));
  }

  /** Verifies all files of a backup. */
  public static Report check(Path backup) {
    return check(new FileDisk(), backup);
  }

  /** Verifies all files of a backup on a disk. */
  @SuppressWarnings("exports") // called by other packages of this module
  public static Report check(Disk disk, Path backup) {
    List<String> lines = new ArrayList<>();
    boolean sound = true;
    try {
      BackupFiles files = new BackupFiles(disk, backup);
      Manifest manifest = files.manifest;
      lines.add(
          "%s: backup up to position %d, %d commands, %s; positions that can be restored: %s"
              .formatted(
                  backup,
                  manifest.position(),
                  manifest.commands(),
                  manifest.time(),
                  files.ranges()));
      for (Path stray : manifest.strays(disk, backup)) {
        lines.add(stray + " is not part of the backup and is ignored: a run was interrupted");
      }
      for (StoredFile file : manifest.files()) {
        Optional<DamageException> damage = files.damage(file);
        damage.ifPresent(each -> lines.add(each.fault()));
        sound &= damage.isEmpty();
      }
      if (sound) {
        files.verifyContent();
      }
    } catch (DamageException e) {
      lines.add(e.fault());
      sound = false;
    } catch (IOException e) {
      throw unreadable(backup, e);
    }
    lines.add(sound ? "sound" : "damaged");
    return new Report(sound, lines);
  }

  private static NotAppliedException unreadable(Path backup, IOException e) {
    return new NotAppliedException(Reason.UNAVAILABLE, "cannot read " + backup + ": " + e, e);
  }

  private String ranges() {
    return manifest.ranges().stream()
        .map(range -> range.from() + " to " + range.to())
        .collect(Collectors.joining(", "));
  }

  private Optional<DamageException> damage(StoredFile file) throws IOException {
    Path path = backup.resolve(file.name());
    if (!disk.exists(path)) {
      return Optional.of(new DamageException(Damage.BACKUP, path, 0, "the file is missing"));
    }
    return Digests.matches(disk, backup, file)
        ? Optional.empty()
        : Optional.of(
            new DamageException(
                Damage.BACKUP, path, 0, "the file does not match its checksum in the manifest"));
  }

  private void require(StoredFile file) throws IOException {
    Optional<DamageException> damage = damage(file);
    if (damage.isPresent()) {
      throw damage.get();
    }
  }

  /** Verifies that the files have what the manifest states. */
  private void verifyContent() throws IOException {
    Frames frames = new Frames();
    for (LogFile file : manifest.log()) {
      long end = frames.endOf(file, file.lastFrame()).end;
      if (end != file.file().bytes() || file.lastFrame() > manifest.position()) {
        throw new DamageException(
            Damage.BACKUP, backup.resolve(file.file().name()), end, "unexpected content");
      }
    }
    for (Base base : manifest.bases()) {
      SnapshotReader.outline(disk, backup.resolve(base.file().name()), frames.identity);
    }
    for (StoredFile each : manifest.shared()) {
      Path path = backup.resolve(each.name());
      if (isCounterFile(path)) {
        SnapshotReader.outline(disk, path, frames.identity);
      } else {
        IdFile.open(disk, path).verify();
      }
    }
  }

  /** Restores the last position of a backup. */
  public static Restored restore(Path backup, Path data) {
    return restore(new FileDisk(), backup, null, null, data);
  }

  /** Restores a position of a backup. */
  public static Restored restore(Path backup, long position, Path data) {
    return restore(new FileDisk(), backup, position, null, data);
  }

  /** Restores the last position of a backup that was acknowledged at a time. */
  public static Restored restore(Path backup, Instant time, Path data) {
    return restore(new FileDisk(), backup, null, time, data);
  }

  static Restored restore(
      Disk disk, Path backup, @Nullable Long position, @Nullable Instant time, Path data) {
    try {
      if (disk.exists(data) && !disk.list(data).isEmpty()) {
        throw new NotAppliedException(
            Reason.INVALID, data + " is not empty; specify a new directory");
      }
      BackupFiles files = new BackupFiles(disk, backup);
      long at =
          position != null
              ? position
              : time != null ? files.positionAt(time) : files.manifest.position();
      return files.restore(at, data);
    } catch (IOException e) {
      throw new NotAppliedException(
          Reason.UNAVAILABLE, "cannot restore %s to %s: %s".formatted(backup, data, e), e);
    }
  }

  private long positionAt(Instant time) throws IOException {
    if (time.isAfter(manifest.time())) {
      throw outside("time " + time);
    }
    long millis = time.toEpochMilli();
    long position = -1;
    Frames frames = new Frames();
    for (LogFile file : manifest.log()) {
      position = Math.max(position, frames.lastUntil(file, millis));
    }
    if (position < 0 || !manifest.covers(position)) {
      throw outside("time " + time);
    }
    return position;
  }

  private NotAppliedException outside(String what) {
    return new NotAppliedException(
        Reason.INVALID,
        "%s is outside the backup %s, which has positions %s, until %s"
            .formatted(what, backup, ranges(), manifest.time()));
  }

  private Restored restore(long position, Path data) throws IOException {
    if (!manifest.covers(position)) {
      throw outside("position " + position);
    }
    Optional<Base> base = manifest.baseFor(position);
    requireAll(base, position);
    Frames frames = new Frames();
    disk.createDirectories(data.resolve("log"));
    disk.createDirectories(data.resolve("ids"));
    long commands = 0;
    long ageMillis = manifest.clock().isEmpty() ? 0 : manifest.clock().getFirst().ageMillis();
    if (base.isPresent()) {
      StoredFile file = base.get().file();
      Path snapshot = backup.resolve(file.name());
      Snapshot.Contents contents = SnapshotReader.outline(disk, snapshot, frames.identity);
      commands = contents.start().commands();
      ageMillis = contents.start().timeMillis();
      copy(file.name(), data.resolve(snapshot.getFileName()), file.bytes());
      for (StoredFile each : manifest.sharedOf(base.get())) {
        Path name = backup.resolve(each.name()).getFileName();
        copy(each.name(), data.resolve(Manifest.inData(String.valueOf(name))), each.bytes());
      }
    }
    for (LogFile file : logFor(base, position)) {
      End end = frames.endOf(file, position);
      if (end.end > Log.HEAD_BYTES) {
        commands = end.commands;
        ageMillis = end.ageMillis;
      }
      copy(file.file().name(), data.resolve(file.file().name()), end.end);
    }
    HighWater.Mark mark =
        new HighWater.Mark(position, commands, ageMillis, manifest.wallMillis(ageMillis));
    HighWater.create(disk, data, frames.identity, mark);
    for (Path each : List.of(data.resolve("log"), data.resolve("ids"), data)) {
      disk.syncDirectory(each);
    }
    // Last: until then, no engine opens the directory.
    FormatFile.restore(disk, data, frames.identity, Randomness.secure().nextLong());
    return new Restored(position, commands, Instant.ofEpochMilli(mark.wallMillis()));
  }

  /** Verifies all files that a restoration needs, before it creates any. */
  private void requireAll(Optional<Base> base, long position) throws IOException {
    require(manifest.format());
    if (base.isPresent()) {
      require(base.get().file());
      for (StoredFile each : manifest.sharedOf(base.get())) {
        require(each);
      }
    }
    for (LogFile each : logFor(base, position)) {
      require(each.file());
    }
  }

  private static boolean isCounterFile(Path path) {
    return Snapshot.isCounterFile(String.valueOf(path.getFileName()));
  }

  private List<LogFile> logFor(Optional<Base> base, long position) {
    return manifest.logFor(base.map(Base::startFrame).orElse(1L), position);
  }

  private void copy(String name, Path to, long bytes) throws IOException {
    Path from = backup.resolve(name);
    ByteBuffer chunk = ByteBuffer.allocate(Math.clamp(bytes, 1, Digests.CHUNK_BYTES));
    try (DiskFile out = disk.create(to)) {
      for (long at = 0; at < bytes; at += chunk.limit()) {
        chunk.clear().limit((int) Math.min(chunk.capacity(), bytes - at));
        disk.read(from, at, chunk);
        out.write(chunk.flip(), at);
      }
      out.sync();
    }
  }

  /** Where a frame ends, the commands up to it, and its age time. */
  private record End(long end, long commands, long ageMillis) {}

  /** Reads the frames of log files. */
  private final class Frames {
    final long identity = FormatFile.identityIn(disk, backup, backup.resolve(Manifest.FORMAT_FILE));
    private final Frame frame = new Frame(identity);

    Frames() throws IOException {}

    /** Returns the end of the last frame whose number is at most {@code last}. */
    End endOf(LogFile file, long last) throws IOException {
      End end = new End(Log.HEAD_BYTES, 0, 0);
      ByteBuffer bytes = disk.map(backup.resolve(file.file().name()));
      long next = file.firstFrame();
      for (Frame.Head head = frame.read(bytes, (int) end.end);
          head != null && head.number() == next && next <= last;
          head = frame.read(bytes, (int) end.end)) {
        end =
            new End(
                end.end + head.frameBytes(),
                head.commandsBefore() + head.commands(),
                head.timeMillis());
        next++;
      }
      if (next <= Math.min(last, file.lastFrame())) {
        throw new DamageException(
            Damage.BACKUP,
            backup.resolve(file.file().name()),
            end.end,
            "frame %d is damaged".formatted(next));
      }
      return end;
    }

    /** Returns the last frame that was written until a time; -1 if there is none. */
    long lastUntil(LogFile file, long wallMillis) throws IOException {
      ByteBuffer bytes = disk.map(backup.resolve(file.file().name()));
      long found = -1;
      int at = Log.HEAD_BYTES;
      for (long next = file.firstFrame(); next <= file.lastFrame(); next++) {
        Frame.Head head = frame.read(bytes, at);
        if (head == null || manifest.wallMillis(head.timeMillis()) > wallMillis) {
          break;
        }
        found = next;
        at += head.frameBytes();
      }
      return found;
    }
  }
}
