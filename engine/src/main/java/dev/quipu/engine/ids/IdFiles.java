package dev.quipu.engine.ids;

import dev.quipu.engine.environment.Disk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Locations and names of request id files: ids/FIRSTFRAME.ids, and ids/FIRSTFRAME-LASTFRAME.ids if
 * it was merged from others.
 */
public final class IdFiles {
  private IdFiles() {}

  /** Returns the directory of the files within a data directory. */
  public static Path directory(Path data) {
    return data.resolve("ids");
  }

  /** Returns whether this is the name of a file of request ids. */
  public static boolean isName(String name) {
    return name.matches("[0-9]{16}(-[0-9]{16})?\\.ids");
  }

  static Path merged(Path data, long firstFrame, long lastFrame) {
    return directory(data).resolve("%016d-%016d.ids".formatted(firstFrame, lastFrame));
  }

  /** Returns all files, in order of their first frame. */
  public static List<Path> all(Disk disk, Path data) throws IOException {
    return disk.list(directory(data)).stream()
        .filter(file -> isName(file.getFileName().toString()))
        .toList();
  }

  /** Seals a table: writes it to a file and opens the file. */
  public static IdFile write(Disk disk, Path data, IdTable table) throws IOException {
    Path path = directory(data).resolve("%016d.ids".formatted(table.firstFrame()));
    IdFile.write(disk, path, table);
    return IdFile.open(disk, path);
  }
}
