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
 * The content of the simulated disk, shared by consecutive processes. Changes of names become
 * durable in their order, as with a journal; changes of file content in any order.
 */
final class SimStorage {
  /** Represents a directory. */
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

  /** Returns a buffer for one thread at a time: allocating it costs more than a short run. */
  ByteBuffer large() {
    return large.clear();
  }

  void change(Change change) {
    change.on(names);
    journal.add(change);
  }

  /** Makes all names durable. */
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

  /** Simulates the end of a process: its writes are in the page cache. */
  void killProcess() {
    isLocked = false;
  }

  /** Simulates a power failure: some of the unsynced writes are on disk. */
  void cutPower(SplittableRandom random) {
    isLocked = false;
    int kept = random.nextInt(journal.size() + 1);
    for (Change change : journal.subList(0, kept)) {
      change.on(durableNames);
    }
    journal.clear();
    names.clear();
    names.putAll(durableNames);
    for (Path path : new TreeSet<>(names.keySet())) { // in a deterministic order
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
