package dev.quipu.engine.environment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/** A disk that records writes and their order. */
public final class WatchedDisk extends ForwardingDisk {
  private final List<String> calls;

  public WatchedDisk(Disk disk, List<String> calls) {
    super(disk);
    this.calls = calls;
  }

  @Override
  public DiskFile create(Path file) throws IOException {
    calls.add("create " + file.getFileName());
    return super.create(file);
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    calls.add("rename " + to.getFileName());
    super.rename(from, to);
  }

  @Override
  public void delete(Path file) throws IOException {
    calls.add("delete " + file.getFileName());
    super.delete(file);
  }

  @Override
  public ByteBuffer buffer(int bytes) {
    calls.add("buffer " + bytes);
    return super.buffer(bytes);
  }

  @Override
  public DiskFile opened(DiskFile file) {
    return new DiskFile() {
      @Override
      public void write(ByteBuffer bytes, long offset) throws IOException {
        calls.add("write " + bytes.remaining() + " at " + offset);
        file.write(bytes, offset);
      }

      @Override
      public void sync() throws IOException {
        calls.add("sync");
        file.sync();
      }

      @Override
      public void close() throws IOException {
        calls.add("close");
        file.close();
      }
    };
  }
}
