package dev.quipu.engine;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/*
 * HIGH-WATER MARK: how far the log was acknowledged, in a file of its own, so that a log which
 * ends earlier is noticed even if it was cut exactly between two frames.
 *
 * Written after every group, before its callers hear of it; brought to the disk once a second, and
 * when a segment of the log is full, and at the end. So after a kill it is exact; after a power cut
 * it may lag by a second, and never runs ahead of the log.
 *
 * Two slots of 512 bytes, written in turn, so that one is whole whatever happens to the other:
 *   long last frame, long commands up to it, int CRC32C of the directory's identity and these
 */

/** The durable high-water mark. Not thread-safe, but for {@link #sync}. */
final class HighWater implements Closeable {
  static final String FILE = "highwater";
  private static final int SLOT = 512;

  private final DiskFile file;
  private final long identity;
  private final ByteBuffer out = ByteBuffer.allocateDirect(SLOT);
  private volatile boolean dirty;

  private HighWater(DiskFile file, long identity) {
    this.file = file;
    this.identity = identity;
  }

  /** What was acknowledged. */
  record Mark(long frame, long commands) {}

  /**
   * Reads the mark.
   *
   * @throws DamageException if it is not there or neither slot can be read
   */
  static Mark read(Disk disk, Path directory, long identity) throws IOException {
    Path path = directory.resolve(FILE);
    if (!disk.exists(path)) {
      throw new DamageException(Damage.HIGH_WATER, path, 0, "the file is not there");
    }
    ByteBuffer in = disk.read(path);
    Mark newest = null;
    for (int at = 0; at + 20 <= in.limit(); at += SLOT) {
      Mark mark = new Mark(in.getLong(at), in.getLong(at + 8));
      if (in.getInt(at + 16) == crc(identity, mark)
          && (newest == null || mark.frame > newest.frame)) {
        newest = mark;
      }
    }
    if (newest == null) {
      throw new DamageException(Damage.HIGH_WATER, path, 0, "neither slot matches its checksum");
    }
    return newest;
  }

  /** Makes the file anew, wholly or not at all. */
  static void create(Disk disk, Path directory, long identity, Mark mark) throws IOException {
    Path draft = directory.resolve(FILE + ".tmp");
    try (HighWater highWater = new HighWater(disk.create(draft), identity)) {
      highWater.write(mark.frame, mark.commands);
    }
    disk.rename(draft, directory.resolve(FILE));
  }

  /** Opens the file and moves the mark to where the log was found to end. */
  static HighWater open(Disk disk, Path directory, long identity, Mark mark) throws IOException {
    HighWater highWater = new HighWater(disk.open(directory.resolve(FILE)), identity);
    highWater.write(mark.frame, mark.commands);
    highWater.sync();
    return highWater;
  }

  /** Moves the mark: all up to this was acknowledged. */
  void write(long frame, long commands) throws IOException {
    out.clear().putLong(frame).putLong(commands).putInt(crc(identity, new Mark(frame, commands)));
    file.write(out.flip(), (frame & 1) * SLOT);
    dirty = true;
  }

  /** Brings the mark to the disk. */
  void sync() throws IOException {
    if (dirty) {
      dirty = false;
      file.sync();
    }
  }

  @Override
  public void close() throws IOException {
    sync();
    file.close();
  }

  private static int crc(long identity, Mark mark) {
    CRC32C crc = new CRC32C();
    crc.update(
        ByteBuffer.allocate(24)
            .putLong(identity)
            .putLong(mark.frame)
            .putLong(mark.commands)
            .flip());
    return (int) crc.getValue();
  }
}
