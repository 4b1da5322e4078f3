package dev.quipu.engine.ids;

import dev.quipu.engine.environment.Disk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Where files of request ids lie, and how they are called: ids/FIRSTFRAME.ids. */
public final class IdFiles {
  private IdFiles() {}

  /** The directory of the files, within a data directory. */
  public static Path directory(Path data) {
    return data.resolve("ids");
  }

  /** All files, in order of their first frame. */
  public static List<Path> all(Disk disk, Path data) throws IOException {
    return disk.list(directory(data)).stream()
        .filter(file -> file.getFileName().toString().matches("[0-9]{16}\\.ids"))
        .toList();
  }

  /** Seals a table: writes it to a file and opens that. */
  public static IdFile write(Disk disk, Path data, IdTable table) throws IOException {
    Path path = directory(data).resolve("%016d.ids".formatted(table.firstFrame()));
    IdFile.write(disk, path, table);
    return IdFile.open(disk, path);
  }
}
