package dev.quipu.engine.log;

import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/**
 * The durable high-water mark. Not thread-safe, except for {@link #sync}.
 *
 * <pre>{@code
 * HIGH-WATER MARK: the last acknowledged frame, in a separate file, so that a log which ends
 * earlier is detected even if it was truncated exactly between two frames.
 *
 * Written after every group, before its callers are acknowledged; synced once a second, when a
 * segment of the log is full, and on close. So it is exact after a kill; after a power failure it
 * may lag by a second, and it is never ahead of the log.
 *
 * Two slots of 512 bytes, written alternately, so that one is always intact:
 *   long last frame, long commands up to it, long age time, long wall time, int CRC32C of the
 *   directory's identity and these
 *
 * The age time of request ids (see EngineClock) advances while nothing is written to the log; so it
 * is stored here too, with the wall time at that moment.
 *
 * On close, the slot also gets:
 *   int end of the last frame in its segment, int CRC32C of the directory's identity, the above
 *   and this
 * so that the next start reads only the used part of that segment. The end is erased, and the file
 * synced, before anything is appended again.
 * }</pre>
 */
public final class HighWater implements Closeable {
  public static final String FILE = "highwater";
  private static final int SLOT = 512;
  private static final int MARK_BYTES = 36;
  private static final int END_BYTES = 8;

  private final DiskFile file;
  private final long identity;
  private final ByteBuffer out = ByteBuffer.allocateDirect(SLOT);
  private volatile boolean dirty;
  private int slot; // the slot written last

  private HighWater(DiskFile file, long identity) {
    this.file = file;
    this.identity = identity;
  }

  /**
   * What was acknowledged, and how far the age time had advanced.
   *
   * @param end offset after the last frame in its segment, if the log was closed there; otherwise 0
   */
  public record Mark(long frame, long commands, long ageMillis, long wallMillis, int end) {
    /** Creates a mark of a log that may continue. */
    public Mark(long frame, long commands, long ageMillis, long wallMillis) {
      this(frame, commands, ageMillis, wallMillis, 0);
    }

    private Mark closedAt(int offset) {
      return new Mark(frame, commands, ageMillis, wallMillis, offset);
    }

    private boolean isAfter(Mark other) {
      if (frame != other.frame) {
        return frame > other.frame;
      }
      return ageMillis > other.ageMillis || (ageMillis == other.ageMillis && end > other.end);
    }
  }

  /**
   * Reads the mark.
   *
   * @throws DamageException if it is missing or neither slot can be read
   */
  public static Mark read(Disk disk, Path directory, long identity) throws IOException {
    Path path = directory.resolve(FILE);
    if (!disk.exists(path)) {
      throw new DamageException(Damage.HIGH_WATER, path, 0, "the file is missing");
    }
    ByteBuffer in = disk.read(path);
    int slot = newestSlot(in, identity);
    if (slot < 0) {
      throw new DamageException(Damage.HIGH_WATER, path, 0, "neither slot matches its checksum");
    }
    return mark(in, slot, identity);
  }

  private static Mark mark(ByteBuffer in, int slot, long identity) {
    int at = slot * SLOT;
    Mark mark =
        new Mark(in.getLong(at), in.getLong(at + 8), in.getLong(at + 16), in.getLong(at + 24));
    if (at + MARK_BYTES + END_BYTES > in.limit()) {
      return mark;
    }
    Mark closed = mark.closedAt(in.getInt(at + MARK_BYTES));
    return in.getInt(at + MARK_BYTES + 4) == crc(identity, closed) ? closed : mark;
  }

  /** Returns the slot of the newest mark; -1 if neither can be read. */
  private static int newestSlot(ByteBuffer in, long identity) {
    int newest = -1;
    for (int slot = 0; slot * SLOT + MARK_BYTES <= in.limit(); slot++) {
      Mark mark = mark(in, slot, identity);
      boolean isWhole = in.getInt(slot * SLOT + MARK_BYTES - 4) == crc(identity, mark.closedAt(0));
      if (isWhole && (newest < 0 || mark.isAfter(mark(in, newest, identity)))) {
        newest = slot;
      }
    }
    return newest;
  }

  /** Creates the file atomically. */
  public static void create(Disk disk, Path directory, long identity, Mark mark)
      throws IOException {
    Path draft = directory.resolve(FILE + ".tmp");
    try (HighWater highWater = new HighWater(disk.create(draft), identity)) {
      highWater.write(mark);
    }
    disk.rename(draft, directory.resolve(FILE));
  }

  /** Opens the file and sets the mark to the end of the log found by recovery. */
  public static HighWater open(Disk disk, Path directory, long identity, Mark mark)
      throws IOException {
    Path path = directory.resolve(FILE);
    int newest = Math.max(0, newestSlot(disk.read(path), identity));
    HighWater highWater = new HighWater(disk.open(path), identity);
    highWater.slot = newest; // the other one is written first
    highWater.write(mark);
    highWater.eraseEnd(newest);
    highWater.sync();
    return highWater;
  }

  /** Sets the mark: everything up to it was acknowledged. */
  public void write(Mark mark) throws IOException {
    slot = 1 - slot;
    out.clear().putLong(mark.frame).putLong(mark.commands);
    out.putLong(mark.ageMillis).putLong(mark.wallMillis);
    out.putInt(crc(identity, mark.closedAt(0)));
    if (mark.end > 0) {
      out.putInt(mark.end).putInt(crc(identity, mark));
    }
    file.write(out.flip(), (long) slot * SLOT);
    dirty = true;
  }

  /** Erases the end of the log from a slot, since the log continues. */
  private void eraseEnd(int closedSlot) throws IOException {
    out.clear().putLong(0).flip();
    file.write(out, (long) closedSlot * SLOT + MARK_BYTES);
    dirty = true;
  }

  /** Syncs the mark to disk. */
  public void sync() throws IOException {
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
    ByteBuffer in = ByteBuffer.allocate(44);
    in.putLong(identity).putLong(mark.frame).putLong(mark.commands);
    in.putLong(mark.ageMillis).putLong(mark.wallMillis);
    if (mark.end > 0) {
      in.putInt(mark.end);
    }
    CRC32C crc = new CRC32C();
    crc.update(in.flip());
    return (int) crc.getValue();
  }
}
