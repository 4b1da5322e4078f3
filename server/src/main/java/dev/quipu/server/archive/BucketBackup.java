package dev.quipu.server.archive;

import dev.quipu.engine.backup.BackupFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A copy of a backup in a bucket.
 *
 * <pre>{@code
 * OBJECTS of a backup, below the prefix:
 *
 *   manifest           the manifest of the backup; replaced last, and so all or nothing
 *   NAME/START         bytes of the file NAME from START on, 16 digits: never changed
 *
 * A log grows by a part in each run. When the next log has begun, its parts are replaced by one
 * with all bytes. A reader continues at each position with the part that begins there, or before.
 * }</pre>
 *
 * <p>Not thread-safe.
 */
final class BucketBackup {
  private static final String MANIFEST = "manifest";

  /** Maximum number of bytes in an object. */
  private static final long PART_BYTES = 64L << 20;

  private static final int ATTEMPTS_MAX = 5;

  private final Bucket bucket;

  /** Sizes of the parts of each file, by start. */
  private final Map<String, TreeMap<Long, Long>> parts = new HashMap<>();

  private boolean isListed;

  BucketBackup(Bucket bucket) {
    this.bucket = bucket;
  }

  /** Returns whether the bucket has a backup. */
  boolean exists() throws IOException {
    return bucket.get(MANIFEST).isPresent();
  }

  /** Returns the content of a small file; empty if it is missing. */
  Optional<byte[]> file(String name) throws IOException {
    return bucket.get(part(name, 0));
  }

  private static String part(String name, long start) {
    return "%s/%016d".formatted(name, start);
  }

  private void list() throws IOException {
    parts.clear();
    bucket
        .sizes()
        .forEach((object, size) -> {
          int slash = object.lastIndexOf('/');
          if (slash > 0 && object.substring(slash + 1).matches("[0-9]{16}")) {
            parts
                .computeIfAbsent(object.substring(0, slash), name -> new TreeMap<>())
                .put(Long.parseLong(object.substring(slash + 1)), size);
          }
        });
    isListed = true;
  }

  /** Copies what the bucket does not have of a backup, which must not change meanwhile. */
  void upload(Path backup) throws IOException {
    if (!isListed) {
      list();
    }
    try {
      List<BackupFiles.Stored> files = BackupFiles.files(backup);
      String last =
          files.stream()
              .map(BackupFiles.Stored::name)
              .filter(name -> name.startsWith("log/"))
              .max(Comparator.naturalOrder())
              .orElse("");
      for (BackupFiles.Stored each : files) {
        upload(backup, each, each.name().startsWith("log/") && each.name().compareTo(last) < 0);
      }
      Path manifest = backup.resolve(MANIFEST);
      bucket.put(MANIFEST, manifest, 0, Files.size(manifest));
    } catch (IOException | RuntimeException e) {
      isListed = false; // the outcome of the last request may be unknown
      throw e;
    }
  }

  private void upload(Path backup, BackupFiles.Stored file, boolean isComplete) throws IOException {
    Path path = backup.resolve(file.name());
    TreeMap<Long, Long> stored = parts.computeIfAbsent(file.name(), name -> new TreeMap<>());
    for (long start = end(stored); start < file.bytes(); start = end(stored)) {
      long bytes = Math.min(PART_BYTES, file.bytes() - start);
      bucket.put(part(file.name(), start), path, start, bytes);
      stored.put(start, bytes);
    }
    if (isComplete && stored.size() > 1 && file.bytes() <= PART_BYTES) {
      bucket.put(part(file.name(), 0), path, 0, file.bytes());
      for (Long start : List.copyOf(stored.tailMap(1L).keySet())) {
        bucket.delete(part(file.name(), start));
        stored.remove(start);
      }
      stored.put(0L, file.bytes());
    }
  }

  /** Returns the end of the bytes from 0 on that parts have without a gap. */
  private static long end(NavigableMap<Long, Long> parts) {
    long end = 0;
    for (Map.Entry<Long, Long> each : parts.entrySet()) {
      if (each.getKey() <= end) {
        end = Math.max(end, each.getKey() + each.getValue());
      }
    }
    return end;
  }

  /**
   * Copies the backup of the bucket to a new directory. It may be continued meanwhile.
   *
   * @return false if the bucket has no backup
   */
  boolean download(Path backup) throws IOException {
    Optional<byte[]> manifest = bucket.get(MANIFEST);
    if (manifest.isEmpty()) {
      return false;
    }
    Files.createDirectories(backup);
    Path draft = backup.resolve(MANIFEST + ".tmp");
    Files.write(draft, manifest.get());
    list();
    for (BackupFiles.Stored each : BackupFiles.filesIn(draft)) {
      Path path = backup.resolve(each.name());
      Files.createDirectories(path.toAbsolutePath().getParent());
      download(each, path);
    }
    Files.move(draft, backup.resolve(MANIFEST)); // last: without it, this is no backup
    return true;
  }

  private void download(BackupFiles.Stored file, Path to) throws IOException {
    for (int i = 0; i < ATTEMPTS_MAX; i++) {
      if (i > 0) {
        list(); // parts were replaced by one with all bytes
      }
      if (tryDownload(file, to)) {
        return;
      }
    }
    throw new IOException(
        "%s: %s is incomplete; the backup is damaged".formatted(bucket, file.name()));
  }

  private boolean tryDownload(BackupFiles.Stored file, Path to) throws IOException {
    TreeMap<Long, Long> stored = parts.getOrDefault(file.name(), new TreeMap<>());
    try (OutputStream out = Files.newOutputStream(to)) {
      long at = 0;
      while (at < file.bytes()) {
        Map.Entry<Long, Long> part = stored.floorEntry(at);
        Optional<byte[]> content =
            part == null ? Optional.empty() : bucket.get(part(file.name(), part.getKey()));
        int skipped = part == null ? 0 : (int) (at - part.getKey());
        if (content.isEmpty() || content.get().length <= skipped) {
          return false;
        }
        int count = (int) Math.min(content.get().length - skipped, file.bytes() - at);
        out.write(content.get(), skipped, count);
        at += count;
      }
      return true;
    }
  }

  /** Removes a directory that {@link #download} has written. */
  static void remove(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(each);
        }
      }
    }
  }
}
