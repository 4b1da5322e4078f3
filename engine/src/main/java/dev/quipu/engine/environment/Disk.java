package dev.quipu.engine.environment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/**
 * The file system operations that the engine uses: {@link FileDisk} in production, a simulated one
 * in tests. A change is durable only when the method documents it.
 */
public interface Disk {
  /** Size of the buffer of zeros that {@link #allocate} writes from, in bytes. */
  int ZEROS = 1 << 20;

  /** Creates a file, or truncates it, and opens it for writing. */
  DiskFile create(Path file) throws IOException;

  /** Opens an existing file for writing. */
  DiskFile open(Path file) throws IOException;

  /** Reads a whole file. */
  ByteBuffer read(Path file) throws IOException;

  /** Reads bytes from {@code offset} until {@code into} is full or the file ends. */
  void read(Path file, long offset, ByteBuffer into) throws IOException;

  /** Returns the content of a file that never changes, read on demand. */
  ByteBuffer map(Path file) throws IOException;

  /** Returns the size of a file, in bytes. */
  long size(Path file) throws IOException;

  boolean exists(Path file);

  /** Returns the entries of a directory, ordered by name. */
  List<Path> list(Path directory) throws IOException;

  void createDirectories(Path directory) throws IOException;

  /** Renames, replacing an existing file. Returns when the rename is durable. */
  void rename(Path from, Path to) throws IOException;

  /** Moves a file or directory to another directory of the same disk. */
  void move(Path from, Path to) throws IOException;

  /** Removes a file if it exists. */
  void delete(Path file) throws IOException;

  /** Returns when the names in a directory are durable. */
  void syncDirectory(Path directory) throws IOException;

  /** Returns the number of bytes that can still be written. */
  long usableBytes(Path directory) throws IOException;

  /**
   * Locks a data directory exclusively, within this process and across processes.
   *
   * @throws dev.quipu.QuipuException if it is locked
   */
  HeldLock lock(Path directory) throws IOException;

  /** Returns a buffer for writing to files. */
  ByteBuffer buffer(int bytes);

  /** Creates a file of {@code size} zeros: later writes into it need no more disk space. */
  default void allocate(Path path, long size) throws IOException {
    try (DiskFile file = create(path)) {
      ByteBuffer zeros = buffer((int) Math.min(ZEROS, size));
      for (long at = 0; at < size; at += zeros.capacity()) {
        zeros.clear().limit((int) Math.min(zeros.capacity(), size - at));
        file.write(zeros, at);
      }
      file.sync();
    }
  }
}
