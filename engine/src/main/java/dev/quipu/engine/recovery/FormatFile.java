package dev.quipu.engine.recovery;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * The file that states the format of a data directory and its identity, a random number. A restored
 * directory has the identity of the original, and a random number of its own in a third line: its
 * history differs from that of the original.
 */
public final class FormatFile {
  public static final String FILE = "format";
  private static final String DRAFT = FILE + ".tmp";
  private static final String FORMAT = "quipu-engine 9";

  /**
   * Files of request ids of format 8 have a byte of each delta, also of 1; format 7 has no files of
   * counters either, format 6 no thresholds. Files of request ids of format 5 have other filters,
   * those of format 3 also larger entries, see IdFile; snapshots of format 4 have other records,
   * see Snapshot; format 2 also has no transactions, holds and scales. The rest is the same.
   */
  private static final Set<String> READABLE =
      Set.of(
          FORMAT,
          "quipu-engine 8",
          "quipu-engine 7",
          "quipu-engine 6",
          "quipu-engine 5",
          "quipu-engine 4",
          "quipu-engine 3",
          "quipu-engine 2");

  /** What a directory may contain whose engine was not created completely, or is damaged. */
  private static final Set<String> OWN =
      Set.of(
          "lock", "log", "ids", "history", DRAFT, Recovery.UNSYNCED_FILE, "damaged", "lost+found");

  private FormatFile() {}

  /**
   * Throws if the directory has files of others and none of an engine. Creates nothing.
   *
   * @throws NotAppliedException if it has
   */
  public static void requireOwn(Disk disk, Path directory) throws IOException {
    if (disk.exists(directory.resolve(FILE)) || hasMarkOrSnapshot(disk, directory)) {
      return;
    }
    if (disk.exists(directory.resolve("engine-format"))) { // a backup has the format as this file
      throw new NotAppliedException(
          Reason.INVALID,
          directory + " is a backup; restore it to a data directory with quipu restore");
    }
    for (Path entry : disk.list(directory)) {
      if (!OWN.contains(String.valueOf(entry.getFileName()))) {
        throw new NotAppliedException(
            Reason.INVALID,
            "%s is not a data directory and not empty: it contains %s. Specify another directory, or a new one"
                .formatted(directory, entry.getFileName()));
      }
    }
  }

  /** Returns whether the directory has no engine yet. */
  public static boolean isNew(Disk disk, Path directory) throws IOException {
    boolean isUsed =
        hasMarkOrSnapshot(disk, directory) || !Log.segmentFiles(disk, directory).isEmpty();
    if (disk.exists(directory.resolve(FILE))) {
      // The identity is written first: without a mark and a log, the creation was interrupted.
      return !isUsed;
    }
    if (isUsed) {
      throw new DamageException(Damage.FORMAT, directory.resolve(FILE), 0, "the file is missing");
    }
    return true;
  }

  private static boolean hasMarkOrSnapshot(Disk disk, Path directory) throws IOException {
    return disk.exists(directory.resolve(HighWater.FILE))
        || !Snapshot.all(disk, directory).isEmpty();
  }

  /** Writes the format file of a new directory, and a high-water mark of 0. */
  public static void create(Disk disk, Path directory, long identity) throws IOException {
    write(disk, directory, "%s%nidentity %016x%n".formatted(FORMAT, identity));
    HighWater.create(disk, directory, identity, new HighWater.Mark(0, 0, 0, 0));
  }

  /** Writes the format file of a restored directory; from then on an engine can open it. */
  public static void restore(Disk disk, Path directory, long identity, long history)
      throws IOException {
    write(
        disk,
        directory,
        "%s%nidentity %016x%nrestored %016x%n".formatted(FORMAT, identity, history));
  }

  private static void write(Disk disk, Path directory, String text) throws IOException {
    Path draft = directory.resolve(DRAFT);
    try (DiskFile file = disk.create(draft)) {
      file.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), 0);
      file.sync();
    }
    disk.rename(draft, directory.resolve(FILE));
  }

  /** Marks a directory of an earlier format as one of this format, before it is written to. */
  public static void upgrade(Disk disk, Path directory) throws IOException {
    String text = StandardCharsets.UTF_8.decode(disk.read(directory.resolve(FILE))).toString();
    if (!text.startsWith(FORMAT)) {
      write(disk, directory, FORMAT + text.substring(text.indexOf('\n')));
    }
  }

  /** Returns the identity of the directory, which is part of each of its files. */
  public static long identity(Disk disk, Path directory) throws IOException {
    return identityIn(disk, directory, directory.resolve(FILE));
  }

  /** Returns the identity that a format file, or a copy of one, states. */
  public static long identityIn(Disk disk, Path directory, Path path) throws IOException {
    String text =
        disk.exists(path) ? StandardCharsets.UTF_8.decode(disk.read(path)).toString() : "";
    List<String> lines = text.lines().toList();
    boolean isComplete =
        lines.size() == 2 || (lines.size() == 3 && lines.get(2).matches("restored [0-9a-f]{16}"));
    if (isComplete
        && lines.get(0).matches("quipu-engine \\d+")
        && !READABLE.contains(lines.get(0))) {
      throw new NotAppliedException(
          Reason.INVALID,
          "the data directory %s has the format '%s', and this version reads '%s': export it with the version that wrote it (quipu export --all), and import the export to a new directory (quipu import --format directory)"
              .formatted(directory, lines.get(0), FORMAT));
    }
    if (!isComplete
        || !READABLE.contains(lines.get(0))
        || !lines.get(1).matches("identity [0-9a-f]{16}")) {
      // Not even a lenient read can continue: without the identity no checksum matches.
      throw new DamageException(
          Damage.FORMAT, path, 0, "expected '" + FORMAT + "' and the identity");
    }
    return Long.parseUnsignedLong(lines.get(1).substring("identity ".length()), 16);
  }
}
