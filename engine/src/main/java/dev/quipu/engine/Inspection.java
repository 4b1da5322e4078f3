package dev.quipu.engine;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.backup.BackupFiles;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.HeldLock;
import dev.quipu.engine.environment.Settings;
import dev.quipu.engine.ids.IdFile;
import dev.quipu.engine.ids.IdFiles;
import dev.quipu.engine.ids.IdTable;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.recovery.DirectoryWriter;
import dev.quipu.engine.recovery.FormatFile;
import dev.quipu.engine.recovery.Recovered;
import dev.quipu.engine.recovery.Recovery;
import dev.quipu.engine.recovery.Snapshot;
import dev.quipu.engine.state.State;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Checks a backup, or a data directory that no engine has open; salvages a damaged directory. */
public final class Inspection {
  private static final String DAMAGED = "damaged";

  private Inspection() {}

  /**
   * The result of an inspection.
   *
   * @param sound whether the directory can be opened without loss
   * @param lines for a human to read
   */
  public record Report(boolean sound, List<String> lines) {
    /** Copies the lines. */
    public Report {
      lines = List.copyOf(lines);
    }
  }

  /**
   * Verifies all files of a data directory, or of a backup, without changing anything.
   *
   * @throws QuipuException if the directory is in use or cannot be read
   */
  public static Report check(Path directory) {
    return check(new FileDisk(), directory);
  }

  static Report check(Disk disk, Path directory) {
    if (BackupFiles.isBackup(disk, directory)) {
      BackupFiles.Report report = BackupFiles.check(disk, directory);
      return new Report(report.sound(), report.lines());
    }
    return locked(disk, directory, () -> report(directory, read(disk, directory)));
  }

  /**
   * Makes a damaged directory openable: writes everything readable, up to the first damage of the
   * log, to a new snapshot, and moves the old files to the subdirectory {@code damaged}. Leaves a
   * sound directory unchanged.
   *
   * <p>Writes acknowledged after the damage are lost; where request ids are lost, a repeat of an
   * old request may count twice. The report states how much.
   *
   * @throws QuipuException if the directory is in use or the disk fails
   */
  public static Report salvage(Path directory) {
    return salvage(new FileDisk(), directory);
  }

  static Report salvage(Disk disk, Path directory) {
    return locked(
        disk,
        directory,
        () -> {
          Recovered found = read(disk, directory);
          Report before = report(directory, found);
          if (before.sound()) {
            return before;
          }
          List<String> lines = new ArrayList<>(before.lines());
          lines.add("salvaged: " + rewrite(disk, directory, found));
          return new Report(true, lines);
        });
  }

  private interface Look {
    Report look() throws IOException;
  }

  private static Report locked(Disk disk, Path directory, Look look) {
    if (!disk.exists(directory)) {
      throw new NotAppliedException(Reason.INVALID, directory + " does not exist");
    }
    try {
      FormatFile.requireOwn(disk, directory);
      if (disk.list(directory).isEmpty()) {
        throw new NotAppliedException(
            Reason.INVALID, directory + " is empty; it is not a data directory");
      }
      HeldLock lock = disk.lock(directory);
      try {
        return look.look();
      } finally {
        lock.close();
      }
    } catch (IOException e) {
      throw OpenFailure.unreadable(directory, e);
    }
  }

  private static Recovered read(Disk disk, Path directory) throws IOException {
    Settings settings = Settings.forReading(EngineOptions.defaults().idsInMemoryMax());
    return Recovery.read(disk, directory, settings, true);
  }

  private static Report report(Path directory, Recovered found) {
    List<String> lines = new ArrayList<>();
    State state = found.state();
    lines.add(
        "%s: %d counters, %d items, %d request ids; log up to frame %d, %d commands; synced up to frame %d"
            .formatted(
                directory,
                state.counters.writtenSize(),
                state.items.size(),
                state.ids.size(),
                state.frame,
                state.commands,
                found.highWater().frame()));
    if (state.holds.size() > 0) {
      lines.add(state.holds.size() + " open holds");
    }
    lines.addAll(found.notes());
    List<DamageException> damages = new ArrayList<>(found.damages());
    for (IdFile file : state.ids.files()) {
      try {
        file.verify();
      } catch (DamageException e) {
        damages.add(e);
      }
    }
    damages.forEach(damage -> lines.add(damage.fault()));
    if (found.highWater().frame() > state.frame) {
      lines.add(
          "%d acknowledged commands cannot be read; %d of them are intact after the damage"
              .formatted(
                  Math.max(0, found.highWater().commands() - state.commands),
                  found.validAfterDamage()));
    }
    lines.add(damages.isEmpty() ? "sound" : "damaged");
    return new Report(damages.isEmpty(), lines);
  }

  private static String rewrite(Disk disk, Path directory, Recovered found) throws IOException {
    Path aside = directory.resolve(DAMAGED);
    for (int i = 1; disk.exists(aside); i++) {
      aside = directory.resolve(DAMAGED + "-" + i);
    }
    State state = found.state();
    // Ids that are only in memory must be in a file before the log that holds them is removed.
    state.ids.rotate();
    List<Path> keep = new ArrayList<>();
    for (IdTable table = state.ids.nextWaiting(); table != null; table = state.ids.nextWaiting()) {
      state.ids.sealed(table, IdFiles.write(disk, directory, table));
    }
    List<IdFile> files = new ArrayList<>();
    long kept = 0;
    for (IdFile file : state.ids.files()) {
      try {
        file.verify();
      } catch (DamageException e) {
        continue; // it is moved aside with the others
      }
      files.add(file);
      keep.add(file.path());
      kept += file.entries();
    }
    disk.createDirectories(aside);
    List<Path> old = new ArrayList<>(Snapshot.all(disk, directory));
    old.addAll(Snapshot.counterFiles(disk, directory));
    old.addAll(IdFiles.all(disk, directory).stream().filter(file -> !keep.contains(file)).toList());
    old.add(directory.resolve(HighWater.FILE));
    List<Path> moved = new ArrayList<>();
    for (Path file : old) {
      if (disk.exists(file)) {
        disk.move(file, aside.resolve(file.getFileName()));
        moved.add(file);
      }
    }
    disk.move(Log.directory(directory), aside.resolve("log"));
    new DirectoryWriter(disk, directory, found.identity())
        .write(
            state,
            files,
            true,
            found.highWater().wallMillis(),
            EngineOptions.defaults().segmentBytes());
    return "%d counters, %d items and %d request ids kept, %d old files moved to %s"
        .formatted(state.counters.writtenSize(), state.items.size(), kept, moved.size() + 1, aside);
  }
}
