package dev.quipu.engine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Objects;

/** Every change that the engine makes to a disk. Tests put one in its place that fails. */
class Disk {
  private static final int ZEROS = 1 << 20;

  /** Writes all of {@code bytes} at {@code offset}. */
  void write(FileChannel file, ByteBuffer bytes, long offset) throws IOException {
    long at = offset;
    while (bytes.hasRemaining()) {
      at += file.write(bytes, at);
    }
  }

  /** Returns when the content of the file has reached the disk. */
  void sync(FileChannel file) throws IOException {
    file.force(false);
  }

  /** Returns when the names in the directory have reached the disk. */
  void syncDirectory(Path directory) throws IOException {
    boolean interrupted = false;
    boolean synced = false;
    while (!synced) { // an interrupt of the caller is no error of the disk: see SteadyFile
      try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
        channel.force(true);
        synced = true;
      } catch (ClosedByInterruptException e) {
        interrupted |= Thread.interrupted();
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Renames, replacing what has the new name, and returns when that has reached the disk. */
  void rename(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    syncDirectory(Objects.requireNonNull(to.toAbsolutePath().getParent()));
  }

  /** Removes a file that may not be there. */
  void delete(Path file) throws IOException {
    Files.deleteIfExists(file);
  }

  /** Writes a file of {@code size} zeros: later writes into it need no new room. */
  void allocate(Path path, long size) throws IOException {
    try (FileChannel file =
        FileChannel.open(
            path,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      ByteBuffer zeros = ByteBuffer.allocateDirect(ZEROS);
      for (long at = 0; at < size; at += zeros.capacity()) {
        zeros.clear().limit((int) Math.min(zeros.capacity(), size - at));
        write(file, zeros, at);
      }
      file.force(true);
    }
  }
}
