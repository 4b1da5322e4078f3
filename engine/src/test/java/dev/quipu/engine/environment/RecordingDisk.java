package dev.quipu.engine.environment;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The disk of this machine, recording the order in which files are written, synced, closed, renamed
 * and deleted. Files of zeros take no space and no time.
 */
public class RecordingDisk extends ForwardingDisk {
  /** The recorded operations, each with the name of the file. */
  public final List<String> done = new CopyOnWriteArrayList<>();

  public RecordingDisk() {
    super(new FileDisk());
  }

  /** Returns the operations recorded since the last call. */
  public List<String> takeDone() {
    List<String> taken = List.copyOf(done);
    done.clear();
    return taken;
  }

  @Override
  public DiskFile create(Path file) throws IOException {
    return new Recorded(file, super.create(file));
  }

  @Override
  public DiskFile open(Path file) throws IOException {
    return new Recorded(file, super.open(file));
  }

  @Override
  public void allocate(Path path, long size) throws IOException {
    super.create(path).close();
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.setLength(size);
    }
    done.add("allocate " + path.getFileName() + " " + size);
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    super.rename(from, to);
    done.add("rename " + from.getFileName() + " " + to.getFileName());
  }

  @Override
  public void delete(Path file) throws IOException {
    super.delete(file);
    done.add("delete " + file.getFileName());
  }

  @Override
  public void syncDirectory(Path directory) throws IOException {
    super.syncDirectory(directory);
    done.add("sync directory " + directory.getFileName());
  }

  private final class Recorded implements DiskFile {
    private final Path path;
    private final DiskFile file;

    Recorded(Path path, DiskFile file) {
      this.path = path;
      this.file = file;
    }

    @Override
    public void write(ByteBuffer bytes, long offset) throws IOException {
      int length = bytes.remaining();
      file.write(bytes, offset);
      done.add("write " + path.getFileName() + " " + offset + " " + length);
    }

    @Override
    public void sync() throws IOException {
      file.sync();
      done.add("sync " + path.getFileName());
    }

    @Override
    public void close() throws IOException {
      file.close();
      done.add("close " + path.getFileName());
    }
  }
}
