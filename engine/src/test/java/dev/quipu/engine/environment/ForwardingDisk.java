package dev.quipu.engine.environment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/** A disk wrapper for tests that change a part of its behavior. */
public class ForwardingDisk implements Disk {
  private final Disk disk;

  public ForwardingDisk(Disk disk) {
    this.disk = disk;
  }

  /** Wraps an opened file. */
  public DiskFile opened(DiskFile file) {
    return file;
  }

  @Override
  public DiskFile create(Path file) throws IOException {
    return opened(disk.create(file));
  }

  @Override
  public DiskFile open(Path file) throws IOException {
    return opened(disk.open(file));
  }

  @Override
  public ByteBuffer read(Path file) throws IOException {
    return disk.read(file);
  }

  @Override
  public void read(Path file, long offset, ByteBuffer into) throws IOException {
    disk.read(file, offset, into);
  }

  @Override
  public ByteBuffer map(Path file) throws IOException {
    return disk.map(file);
  }

  @Override
  public long size(Path file) throws IOException {
    return disk.size(file);
  }

  @Override
  public boolean exists(Path file) {
    return disk.exists(file);
  }

  @Override
  public List<Path> list(Path directory) throws IOException {
    return disk.list(directory);
  }

  @Override
  public void createDirectories(Path directory) throws IOException {
    disk.createDirectories(directory);
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    disk.rename(from, to);
  }

  @Override
  public void move(Path from, Path to) throws IOException {
    disk.move(from, to);
  }

  @Override
  public void delete(Path file) throws IOException {
    disk.delete(file);
  }

  @Override
  public void syncDirectory(Path directory) throws IOException {
    disk.syncDirectory(directory);
  }

  @Override
  public long usableBytes(Path directory) throws IOException {
    return disk.usableBytes(directory);
  }

  @Override
  public HeldLock lock(Path directory) throws IOException {
    return disk.lock(directory);
  }

  @Override
  public ByteBuffer buffer(int bytes) {
    return disk.buffer(bytes);
  }
}
