package dev.quipu.engine.environment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Objects;

/** The file system of this machine. */
public final class FileDisk implements Disk {
  private static final OpenOption[] ANEW = {
    StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE
  };

  @Override
  public DiskFile create(Path file) throws IOException {
    return new SteadyFile(file, FileChannel.open(file, ANEW));
  }

  @Override
  public DiskFile open(Path file) throws IOException {
    return new SteadyFile(file, FileChannel.open(file, StandardOpenOption.WRITE));
  }

  @Override
  public ByteBuffer read(Path file) throws IOException {
    ByteBuffer all = ByteBuffer.allocateDirect(Math.toIntExact(size(file)));
    read(file, 0, all);
    return all.flip();
  }

  @Override
  public void read(Path file, long offset, ByteBuffer into) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long at = offset;
      while (into.hasRemaining()) {
        int read = channel.read(into, at);
        if (read < 0) {
          return;
        }
        at += read;
      }
    }
  }

  @Override
  public ByteBuffer map(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
    }
  }

  @Override
  public long size(Path file) throws IOException {
    return Files.size(file);
  }

  @Override
  public boolean exists(Path file) {
    return Files.exists(file);
  }

  @Override
  public List<Path> list(Path directory) throws IOException {
    try (var files = Files.list(directory)) {
      return files.sorted().toList();
    }
  }

  @Override
  public void createDirectories(Path directory) throws IOException {
    Files.createDirectories(directory);
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    syncDirectory(Objects.requireNonNull(to.toAbsolutePath().getParent()));
  }

  @Override
  public void move(Path from, Path to) throws IOException {
    Files.move(from, to);
  }

  @Override
  public void delete(Path file) throws IOException {
    Files.deleteIfExists(file);
  }

  @Override
  public void syncDirectory(Path directory) throws IOException {
    boolean interrupted = false;
    boolean synced = false;
    while (!synced) { // an interrupt of the caller is not a disk error: see SteadyFile
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

  @Override
  public long usableBytes(Path directory) throws IOException {
    return Files.getFileStore(directory).getUsableSpace();
  }

  @Override
  public HeldLock lock(Path directory) throws IOException {
    return DirectoryLock.lock(directory);
  }

  @Override
  public ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocateDirect(bytes);
  }
}
