package dev.quipu.engine.environment;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Locks a data directory for one engine. Released by the operating system when the process ends.
 *
 * <p>A POSIX lock belongs to the process, and closing any descriptor of the file releases it. So
 * this process never reopens the lock file of a lock that it holds; it keeps track of these itself.
 */
public final class DirectoryLock implements HeldLock {
  private static final String FILE = "lock";

  private static final Set<Object> HELD = ConcurrentHashMap.newKeySet();

  /** Channels that must never be closed, because that would release a lock: see above. */
  private static final ConcurrentLinkedQueue<FileChannel> LEFT_OPEN = new ConcurrentLinkedQueue<>();

  private final Object key;
  private final Path path;
  private final Object fileKey;
  private final FileChannel file;

  private DirectoryLock(Object key, Path path, Object fileKey, FileChannel file) {
    this.key = key;
    this.path = path;
    this.fileKey = fileKey;
    this.file = file;
  }

  /**
   * Locks a directory.
   *
   * @throws QuipuException if another engine, in this or another process, holds the lock
   */
  public static DirectoryLock lock(Path directory) throws IOException {
    Object key = key(directory);
    if (!HELD.add(key)) {
      throw inUse(directory, Long.toString(ProcessHandle.current().pid()));
    }
    DirectoryLock lock = null;
    try {
      lock = take(directory, key);
      return lock;
    } finally {
      if (lock == null) {
        HELD.remove(key);
      }
    }
  }

  /** Returns a key that is equal for all paths to the same directory. */
  private static Object key(Path directory) throws IOException {
    Object key = Files.readAttributes(directory, BasicFileAttributes.class).fileKey();
    return key == null ? directory.toRealPath() : key;
  }

  private static DirectoryLock take(Path directory, Object key) throws IOException {
    Path path = directory.resolve(FILE);
    FileChannel file =
        FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    FileLock lock = tryLock(file);
    if (lock == null) {
      String owner = Files.readString(path).strip();
      file.close();
      throw inUse(directory, owner);
    }
    try {
      file.truncate(0);
      String process = ProcessHandle.current().pid() + "\n";
      file.write(ByteBuffer.wrap(process.getBytes(StandardCharsets.UTF_8)), 0);
      return new DirectoryLock(key, path, key(path), file);
    } catch (IOException e) { // for example, a full disk
      file.close();
      throw e;
    }
  }

  private static @Nullable FileLock tryLock(FileChannel file) throws IOException {
    try {
      return file.tryLock();
    } catch (OverlappingFileLockException e) { // held by this class in another class loader
      LEFT_OPEN.add(file);
      throw new NotAppliedException(
          Reason.DENIED,
          "the data directory is in use by another copy of this library in this process",
          e);
    }
  }

  @Override
  public void check() throws IOException {
    boolean isSame;
    try {
      isSame = fileKey.equals(key(path));
    } catch (NoSuchFileException e) {
      isSame = false;
    }
    if (!isSame) {
      throw new IOException(
          path + " was removed or replaced: another process may use the directory now");
    }
  }

  private static QuipuException inUse(Path directory, String process) {
    return new NotAppliedException(
        Reason.DENIED,
        ("the data directory %s is in use by process %s. Stop it, or connect to its server (--server);"
                + " for a copy to check or export, use quipu backup")
            .formatted(directory, process),
        null);
  }

  @Override
  public void close() throws IOException {
    try {
      file.close();
    } finally {
      HELD.remove(key);
    }
  }
}
