package dev.quipu.engine;

import dev.quipu.store.Outcome;
import dev.quipu.store.Reason;
import dev.quipu.store.StoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/** Keeps a data directory to one process. Freed by the system when the process ends. */
final class DirectoryLock implements AutoCloseable {
  private final FileChannel file;

  private DirectoryLock(FileChannel file) {
    this.file = file;
  }

  /**
   * Locks a directory.
   *
   * @throws StoreException if somebody else has
   */
  static DirectoryLock lock(Path directory) throws IOException {
    Path path = directory.resolve("lock");
    FileChannel file =
        FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    FileLock lock = tryLock(file);
    if (lock == null) {
      String owner = Files.readString(path).strip();
      file.close();
      throw new StoreException(
          Outcome.NOT_APPLIED,
          Reason.DENIED,
          "the data directory %s is in use by process %s".formatted(directory, owner),
          null);
    }
    file.truncate(0);
    String process = ProcessHandle.current().pid() + "\n";
    file.write(ByteBuffer.wrap(process.getBytes(StandardCharsets.UTF_8)), 0);
    return new DirectoryLock(file);
  }

  private static @Nullable FileLock tryLock(FileChannel file) throws IOException {
    try {
      return file.tryLock();
    } catch (OverlappingFileLockException e) { // locked by this very process
      return null;
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
