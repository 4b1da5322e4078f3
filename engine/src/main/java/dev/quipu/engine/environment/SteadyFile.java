package dev.quipu.engine.environment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A file that survives interrupts. Callers act as commit leaders (see {@code Committer}), and a
 * caller may be interrupted; the JDK then closes the channel for all threads. An interrupt is not a
 * disk error: this class reopens the file and repeats the write, which is idempotent: the same
 * bytes at the same offset.
 */
final class SteadyFile implements DiskFile {
  private final Path path;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile FileChannel channel;
  private volatile boolean closed;

  SteadyFile(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  /** An action on the file, which may be repeated. */
  private interface Work {
    void on(FileChannel channel) throws IOException;
  }

  @Override
  public void write(ByteBuffer bytes, long offset) throws IOException {
    steadily(open -> {
      ByteBuffer left = bytes.duplicate();
      while (left.hasRemaining()) {
        open.write(left, offset + left.position() - bytes.position());
      }
    });
  }

  @Override
  public void sync() throws IOException {
    steadily(open -> open.force(false));
  }

  private void steadily(Work work) throws IOException {
    boolean interrupted = false;
    try {
      while (true) {
        FileChannel open = channel;
        try {
          work.on(open);
          return;
        } catch (ClosedChannelException e) {
          interrupted |= Thread.interrupted();
          reopen(e);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void reopen(ClosedChannelException why) throws IOException {
    lock.lock();
    try {
      if (closed) {
        throw why;
      }
      if (!channel.isOpen()) { // otherwise another caller has already reopened it
        channel = FileChannel.open(path, StandardOpenOption.WRITE);
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() throws IOException {
    lock.lock();
    try {
      closed = true;
      channel.close();
    } finally {
      lock.unlock();
    }
  }
}
