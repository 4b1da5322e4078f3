package dev.quipu.engine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeSet;

/**
 * What the simulated disk holds, from one process to the next. Names reach the disk in the order in
 * which they were changed, as by a journal; the content of files in any.
 */
final class SimStorage {
  /** Stands for a directory. */
  static final SimFile DIRECTORY = new SimFile();

  private final Map<Path, SimFile> names = new HashMap<>();
  private final Map<Path, SimFile> durableNames = new HashMap<>();
  private final List<Change> journal = new ArrayList<>();
  private final ByteBuffer large = ByteBuffer.allocate(1 << 20);
  boolean isLocked;

  /** A change of names. */
  interface Change {
    void on(Map<Path, SimFile> names);
  }

  Map<Path, SimFile> names() {
    return names;
  }

  /** Returns the buffer that one thread at a time needs: making it costs more than a short run. */
  ByteBuffer large() {
    return large.clear();
  }

  void change(Change change) {
    change.on(names);
    journal.add(change);
  }

  /** Returns when all names are durable. */
  void commit() {
    journal.forEach(change -> change.on(durableNames));
    journal.clear();
  }

  List<Path> list(Path directory) throws IOException {
    if (names.get(directory) != DIRECTORY) {
      throw new java.nio.file.NoSuchFileException(directory.toString());
    }
    TreeSet<Path> found = new TreeSet<>();
    for (Path path : names.keySet()) {
      if (directory.equals(path.getParent())) {
        found.add(path);
      }
    }
    return List.copyOf(found);
  }

  /** The process has ended: what it wrote is in the page cache. */
  void killProcess() {
    isLocked = false;
  }

  /** The power has failed: some of what was not synced is there. */
  void cutPower(SplittableRandom random) {
    isLocked = false;
    int kept = random.nextInt(journal.size() + 1);
    for (Change change : journal.subList(0, kept)) {
      change.on(durableNames);
    }
    journal.clear();
    names.clear();
    names.putAll(durableNames);
    for (Path path : new TreeSet<>(names.keySet())) { // in an order that is always the same
      SimFile file = java.util.Objects.requireNonNull(names.get(path));
      if (file != DIRECTORY) {
        file.cutPower(random);
      }
    }
  }

  /** Renames a file or directory. */
  static Change renaming(Path from, Path to) {
    return names -> {
      SimFile moved = names.remove(from);
      if (moved == null) {
        return;
      }
      names.put(to, moved);
      if (moved == DIRECTORY) {
        for (Path path : List.copyOf(names.keySet())) {
          if (path.startsWith(from)) {
            SimFile child = java.util.Objects.requireNonNull(names.remove(path));
            names.put(to.resolve(from.relativize(path)), child);
          }
        }
      }
    };
  }
}
