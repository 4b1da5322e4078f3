package dev.quipu.engine.past;

import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.log.Records;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;

/** Writes a {@link Block}, whose entries are added in order of their names. Not thread-safe. */
final class BlockWriter implements Closeable {
  private static final int BUFFER_BYTES = 256 << 10;

  private final Disk disk;
  private final Path path;
  private final Path draft;
  private final DiskFile file;
  private final ByteBuffer out;
  private final CRC32C crc = new CRC32C();
  private ByteBuffer restarts = ByteBuffer.allocate(1 << 10);
  private byte[] last = {};
  private long offset = Block.HEAD_BYTES;
  private int entries;
  private boolean isClosed;

  BlockWriter(Disk disk, Path path) throws IOException {
    this.disk = disk;
    this.path = path;
    this.draft = path.resolveSibling(path.getFileName() + ".tmp");
    this.out = disk.buffer(BUFFER_BYTES);
    this.file = disk.create(draft);
  }

  void add(Before entry) throws IOException {
    if (out.remaining() < Entries.ENTRY_BYTES_MAX + 8) {
      flush();
    }
    byte[] name = entry.name();
    int shared = 0;
    if (entries % Block.RESTART_EVERY == 0) {
      if (restarts.remaining() < Integer.BYTES) {
        restarts = ByteBuffer.allocate(2 * restarts.capacity()).put(restarts.flip());
      }
      restarts.putInt(Math.toIntExact(offset + out.position()));
    } else {
      int mismatch = Arrays.mismatch(last, name);
      shared = mismatch < 0 ? name.length : mismatch;
    }
    Records.unsigned(out, shared);
    Records.unsigned(out, name.length - shared);
    out.put(name, shared, name.length - shared).put((byte) entry.scale());
    Records.signed(out, entry.value());
    last = name;
    entries++;
  }

  private void flush() throws IOException {
    out.flip();
    crc.update(out.duplicate());
    int length = out.remaining();
    file.write(out, offset);
    offset += length;
    out.clear();
  }

  /** Completes the file. Returns when it is durable under its name. */
  void end(long start, long end, long lastFrame) throws IOException {
    flush();
    restarts.flip();
    crc.update(restarts.duplicate());
    file.write(restarts, offset);
    ByteBuffer head = ByteBuffer.allocate(Block.HEAD_BYTES);
    head.putLong(Block.MAGIC).putLong(start).putLong(end).putLong(lastFrame);
    head.putInt(entries).putInt(Math.toIntExact(offset)).putInt((int) crc.getValue());
    head.putInt(Block.crc(head.duplicate().flip()));
    file.write(head.clear(), 0);
    file.sync();
    close();
    disk.rename(draft, path);
  }

  @Override
  public void close() throws IOException {
    if (!isClosed) {
      isClosed = true;
      file.close();
    }
  }
}
