package dev.quipu.server.archive;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.engine.backup.Backup;
import dev.quipu.engine.backup.BackupFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where a data directory is backed up: another directory, or a bucket, {@code s3://BUCKET/PREFIX}.
 * For a bucket, the backup is also kept beside the data directory, in {@code DIRECTORY.backup}: the
 * bucket is a copy of it.
 *
 * <p>Not thread-safe.
 */
public final class BackupTarget implements AutoCloseable {
  private static final String FORMAT_FILE = "engine-format";

  private final String name;
  private final Path directory;
  private final @Nullable Bucket bucket;
  private final @Nullable BucketBackup copy;
  private final Backup backup;

  /** Whether the bucket was compared with the backup beside the data since this was opened. */
  private boolean isCompared;

  private BackupTarget(
      String name,
      Path directory,
      @Nullable Bucket bucket,
      @Nullable BucketBackup copy,
      Backup backup,
      boolean isCompared) {
    this.name = name;
    this.directory = directory;
    this.bucket = bucket;
    this.copy = copy;
    this.backup = backup;
    this.isCompared = isCompared;
  }

  /**
   * Opens the backup of a data directory.
   *
   * @param to a directory, or the URI of a bucket
   * @throws NotAppliedException if it is the backup of another directory
   */
  public static BackupTarget open(Path data, String to) throws IOException {
    if (!isBucket(to)) {
      Path directory = Path.of(to);
      return new BackupTarget(to, directory, null, null, Backup.open(data, directory), true);
    }
    Path own = beside(data);
    Bucket bucket = Bucket.of(to);
    try {
      BucketBackup copy = new BucketBackup(bucket);
      boolean isContinued = BackupFiles.isBackup(own); // then the bucket may be unreachable now
      if (!isContinued) {
        BucketBackup.remove(own); // of an interrupted download
        copy.download(own);
      }
      return new BackupTarget(
          bucket.toString(), own, bucket, copy, Backup.open(data, own), !isContinued);
    } catch (IOException | RuntimeException e) {
      bucket.close();
      throw e;
    }
  }

  private static Path beside(Path data) {
    Path absolute = data.toAbsolutePath().normalize();
    return absolute.resolveSibling(absolute.getFileName() + ".backup");
  }

  private void requireSame(BucketBackup copy) throws IOException {
    Optional<byte[]> format = copy.file(FORMAT_FILE);
    if (format.isPresent()
        && !Arrays.equals(format.get(), Files.readAllBytes(directory.resolve(FORMAT_FILE)))) {
      throw new NotAppliedException(
          Reason.INVALID,
          "%s is the backup of another data directory than that of %s; use another prefix"
              .formatted(name, directory));
    }
    isCompared = true;
  }

  /**
   * Returns whether the target continues an earlier backup beside the data and has not reached the
   * bucket yet.
   */
  public boolean isUnreached() {
    return !isCompared;
  }

  /** Returns whether a target is the URI of a bucket. */
  public static boolean isBucket(String target) {
    return target.startsWith(Bucket.SCHEME);
  }

  /**
   * Runs an action on the files of a backup, which for a bucket are copied to a directory for the
   * time of the action.
   *
   * @param beside the new directory is created beside this path
   */
  public static <T> T withFiles(String backup, Path beside, Action<T> action) {
    if (!isBucket(backup)) {
      return action.on(Path.of(backup));
    }
    Path absolute = beside.toAbsolutePath().normalize();
    Path directory = absolute.resolveSibling(absolute.getFileName() + ".download");
    try (Bucket bucket = Bucket.of(backup)) {
      BucketBackup.remove(directory);
      try {
        if (!new BucketBackup(bucket).download(directory)) {
          throw new NotAppliedException(Reason.INVALID, bucket + " is not a backup");
        }
        return action.on(directory);
      } finally {
        BucketBackup.remove(directory);
      }
    } catch (IOException e) {
      throw new NotAppliedException(Reason.UNAVAILABLE, "cannot read " + e.getMessage(), e);
    }
  }

  /** An action on the directory of a backup. */
  public interface Action<T> {
    /** Runs it. */
    T on(Path backup);
  }

  /** Copies what is new. If it fails, the backup is as it was before. */
  public Backup.Status run() throws IOException {
    Backup.Status status = backup.run();
    BucketBackup to = copy;
    if (to != null) {
      if (!isCompared) {
        requireSame(to);
      }
      to.upload(directory);
    }
    return status;
  }

  @Override
  public void close() throws IOException {
    try {
      backup.close();
    } finally {
      if (bucket != null) {
        bucket.close();
      }
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
